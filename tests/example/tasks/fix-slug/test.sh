# What the agent can see and run.
is() { [ "$2" = "$3" ] || { echo "$1: expected $3, got $2"; failed=1; }; }
failed=0
is "words" "$(sh slug.sh 'Hello World')" "hello-world"
is "the end" "$(sh slug.sh 'Hello, World!')" "hello-world"
exit $failed
