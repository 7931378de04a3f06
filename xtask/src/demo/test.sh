#!/bin/sh
# The project's tests: runs leap.sh for six years, prints TAP and a last line that sums up.
total=0 failed=0 years=
check() {
    total=$((total + 1))
    got=$(sh leap.sh "$1")
    if [ "$got" = "$2" ]; then
        echo "ok $total - $1 is $2"
    else
        echo "not ok $total - $1 should be $2, is $got"
        failed=$((failed + 1)) years="$years $1"
    fi
}
echo 1..6
check 1996 yes
check 2024 yes
check 2023 no
check 1900 no
check 2100 no
check 2000 yes
if [ "$failed" -gt 0 ]; then
    echo "# $failed of $total failed:$years"
    exit 1
fi
echo "# $total of $total passed"
