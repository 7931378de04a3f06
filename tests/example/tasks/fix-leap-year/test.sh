# What the agent can see and run.
is() { [ "$2" = "$3" ] || { echo "$1: expected $3, got $2"; failed=1; }; }
failed=0
is "2024" "$(sh leap.sh 2024)" "yes"
is "1900" "$(sh leap.sh 1900)" "no"
is "2000" "$(sh leap.sh 2000)" "yes"
exit $failed
