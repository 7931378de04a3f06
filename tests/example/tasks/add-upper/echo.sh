echo "$@"
