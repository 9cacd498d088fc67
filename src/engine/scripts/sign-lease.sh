# `shown` prints the lines of the lease's owner file and the heartbeat, and exits. `take LINE …` first calls
# `record_baseline`, which the caller defines, to record the node's baseline. Unless a script is still running under an
# earlier lease, `take` then takes the lease and increments the number in `fence`. The owner file is written under a
# temporary name and then linked to its final name; the link fails if another run was faster.
#
# Uses lease-owner.sh
# Uses lease-busy.sh
# Needs hasty: 1 to ignore scripts that are still running under a lease
# Needs run: the run that takes the lease
# Prints: `@taken TOKEN BOOT-SESSION`, or `@held` and the lease's lines, each prefixed with `|`; fails with no-folder,
# odd-fence
shown() {
  printf '@held\n'
  while IFS= read -r x || [ -n "$x" ]; do printf '|%s\n' "$x"; done <"$b/lease/owner"
  IFS= read -r x <"$b/lease/heartbeat" && printf '|heartbeat=%s\n' "$x"
  exit 0
} 2>/dev/null
# mkdir fails if the lease exists. The lease may disappear a moment later, so the script tries twice.
make_lease() {
  "$R/bin/mkdir" "$b/lease" 2>/dev/null && return
  [ ! -d "$b/lease" ] || shown
  "$R/bin/mkdir" "$b/lease" 2>/dev/null && return
  [ ! -d "$b/lease" ] || shown
  failed no-folder 'the lease could not be created'
}
take() {
  "$R/bin/mkdir" -p "$b" || failed no-folder 'the folder of meshwright could not be created'
  record_baseline
  make_lease
  if [ -z "$hasty" ] && isbusy "$b"/lease.*; then
    "$R/bin/rmdir" "$b/lease" 2>/dev/null
    shown
  fi
  "$R/bin/rm" -rf "$b/lease.stolen".* "$b/lease.released".*
  cd "$b/lease" || shown
  n=0
  [ ! -e "$b/fence" ] || IFS= read -r n <"$b/fence"
  case $n in ('' | *[!0-9]*) failed odd-fence "the fence is not a number: $n" ;; esac
  n=$((n + 1))
  write "$b/fence" "$n$N"
  write heartbeat "0$N"
  printf '%s\n' "run=$run" "token=$n" "$@" >"owner.$$" || failed no-folder 'the lease could not be signed'
  "$R/bin/ln" "owner.$$" owner 2>/dev/null || shown
  "$R/bin/rm" -f "owner.$$"
  owned "$b/lease" "$run" "$n" || shown
  printf '@taken %s %s\n' "$n" "$("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)"
}
