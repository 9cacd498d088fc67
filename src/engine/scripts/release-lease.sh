# Gives the lease back. While a script still runs under it, it stays as it is (exit 73), to be taken over by the run that
# finds that the script has ended.
#
# Uses lease-away.sh
# Needs run: that holds it
# Needs token: under which
# Needs lost: the exit when the lease is not this run's any more
# Prints: @released
owned "$b/lease" "$run" "$token" || exit "$lost"
isbusy "$b/lease" && exit 73
away released "$run" "$token"
case $? in (0) ;; (2) exit 73 ;; (*) exit "$lost" ;; esac
printf '@released\n'
