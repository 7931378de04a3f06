# What the agent can see and run.
is() { [ "$2" = "$3" ] || { echo "$1: expected $3, got $2"; failed=1; }; }
failed=0
is "--version" "$(sh tool.sh --version)" "1.4.0"
is "as before" "$(sh tool.sh)" "usage: tool.sh"
exit $failed
