# The median of its arguments; of an even number, the lower one of the two in the middle.
printf '%s\n' "$@" | cat | sed -n "$((($# + 1) / 2))p"
