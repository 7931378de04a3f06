echo "not there yet" >&2
exit 1
