# Whether a year is a leap year.
if [ $(($1 % 4)) -eq 0 ]; then echo yes; else echo no; fi
