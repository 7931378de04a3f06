shift
"$@"
