# Releases the lease. If a script is still running under the lease, exits with 73 and changes nothing; a later run takes
# over the lease once that script has exited.
#
# Uses lease-away.sh
# Needs run: the run that has the lease
# Needs token: the lease's token
# Needs lost: the exit code if this run no longer has the lease
# Prints: @released
owned "$b/lease" "$run" "$token" || exit "$lost"
isbusy "$b/lease" && exit 73
away released "$run" "$token"
case $? in (0) ;; (2) exit 73 ;; (*) exit "$lost" ;; esac
printf '@released\n'
