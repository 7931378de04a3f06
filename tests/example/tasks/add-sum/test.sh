# What the agent can see and run.
is() { [ "$2" = "$3" ] || { echo "$1: expected $3, got $2"; failed=1; }; }
failed=0
is "two numbers" "$(printf '1\n2\n' | sh sum.sh)" "3"
is "an empty line" "$(printf '1\n\n2\n' | sh sum.sh)" "3"
exit $failed
