#!/bin/sh
# Plays the model: edits leap.sh, commits, and says that it is done. $1 is the iteration.
# The prompt, or what the gate said about the last iteration, comes on standard input.
set -eu
cat >/dev/null

write_leap() {
    cat >leap.sh <<END
#!/bin/sh
# Prints yes when the year \$1 is a leap year, else no.
year=\$1
if $1; then echo yes; else echo no; fi
END
    git commit --quiet --all --message "$2"
}

case $1 in
1)
    # Most people's first try. Wrong for 1900 and 2100.
    write_leap '[ $((year % 4)) -eq 0 ]' 'Every fourth year'
    printf '%s\n' 'All done.' '<promise>COMPLETE</promise>'
    ;;
2)
    # Now 2000 is wrong.
    write_leap '[ $((year % 4)) -eq 0 ] && [ $((year % 100)) -ne 0 ]' 'No leap year in a century year'
    printf '%s\n' 'Century years are handled now, so I am finished:' \
        '```' '<promise>COMPLETE</promise>' '```'
    ;;
*)
    write_leap '[ $((year % 4)) -eq 0 ] && { [ $((year % 100)) -ne 0 ] || [ $((year % 400)) -eq 0 ]; }' \
        'Every fourth century is a leap year'
    printf '%s\n' 'Every 400th year is a leap year after all; all tests pass.' \
        '<promise>COMPLETE</promise>'
    ;;
esac
