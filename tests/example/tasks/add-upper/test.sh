# What the agent can see and run.
is() { [ "$2" = "$3" ] || { echo "$1: expected $3, got $2"; failed=1; }; }
failed=0
is "as before" "$(sh echo.sh a b)" "a b"
is "--upper" "$(sh echo.sh --upper a b)" "A B"
exit $failed
