# Exit codes: 0 all is well, 1 error, 3 nothing to do.
