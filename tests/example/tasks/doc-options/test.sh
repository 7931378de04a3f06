# What the agent can see and run.
has() { grep -q -- "$1" README.md || { echo "README.md does not mention $1"; failed=1; }; }
failed=0
has '--port'
has '--root'
has '--quiet'
exit $failed
