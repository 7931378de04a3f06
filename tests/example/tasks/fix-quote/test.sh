# What the agent can see and run.
is() { [ "$2" = "$3" ] || { echo "$1: expected $3, got $2"; failed=1; }; }
failed=0
is "plain" "$(sh quote.sh plain)" "'plain'"
eval "got=$(sh quote.sh "it's")"
is "with a quote" "$got" "it's"
exit $failed
