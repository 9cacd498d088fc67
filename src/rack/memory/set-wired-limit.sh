# Sets the GPU's limit for wired memory until the next boot. A limit of 0 is the macOS default. Deletes the keeper's
# data file if the file contains a different limit.
#
# Needs megabytes: the limit in megabytes
# Needs keeper_data: the keeper's data file
# Prints: @changed or @unchanged; fails with sysctl
islimit() {
  [ "$("$R/usr/sbin/sysctl" -n iogpu.wired_limit_mb)" = "$megabytes" ]
}
[ ! -e "$keeper_data" ] || while IFS= read -r x; do
  case $x in ("wired $megabytes") ;; ('wired '*) "$R/bin/rm" -f "$keeper_data" ;; esac
done <"$keeper_data"
islimit && unchanged
must sysctl "$R/usr/sbin/sysctl" iogpu.wired_limit_mb="$megabytes"
islimit || failed sysctl 'sysctl reported success, but the limit did not change'
changed
