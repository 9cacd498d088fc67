# Loads the installed keeper into launchd, and waits until the keeper's first round has succeeded. launchctl(1):
# `enable` undoes a `disable`, which otherwise persists across bootstraps.
#
# Uses ../../node/shell/load-service.sh
# Needs plist: the keeper's property list
# Needs reload: whether to unload the keeper first, because launchd never rereads a loaded property list
# Prints: @changed or @unchanged; fails with no-keeper, launchctl, keeper
[ -e "$plist" ] || failed no-keeper "there is no $plist"
if look; then
  [ -n "$reload" ] || unchanged
  bootout
fi
must launchctl "$R/bin/launchctl" enable "$L"
load_service "$plist"
hasrun() {
  look || failed launchctl 'launchctl reported success, but does not show the keeper'
  [ -z "$pid" ] || return 1
  case $o in (*'runs = 0'*) return 1 ;; (*'last exit code = 0'*) ;; (*) return 1 ;; esac
}
# Checks ten times a second.
n=0
until hasrun; do
  n=$((n + 1))
  [ "$n" -lt 200 ] || failed keeper 'the first round of the keeper failed'
  "$R/bin/sleep" 0.1
done
changed
