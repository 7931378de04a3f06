printf "'%s'" "$1"
