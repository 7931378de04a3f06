# What the agent can see and run.
is() { [ "$2" = "$3" ] || { echo "$1: expected $3, got $2"; failed=1; }; }
failed=0
is "three" "$(sh median.sh 3 1 2)" "2"
is "two digits" "$(sh median.sh 10 9 8)" "9"
exit $failed
