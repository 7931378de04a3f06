printf '%s' "$1" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '-'
