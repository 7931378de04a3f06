# What the agent can see and run.
rm -f tries
printf 'echo x >> tries\n[ "$(wc -l < tries)" -ge 3 ]\n' > flaky.sh
sh retry.sh 3 sh flaky.sh
status=$?
rm -f tries flaky.sh
exit $status
