# Restores a foreign network daemon: moves its property list back, unless a new property list exists at the original
# path. The daemon stays disabled unless `load` is set. launchctl(1): enable, bootstrap.
#
# Uses ../../node/shell/load-service.sh
# Needs plist: the original path of the daemon's property list
# Needs kept: the path to which the property list was moved
# Needs load: whether to load the daemon, because it was loaded before and its previous state is being restored
# Prints: @changed or @unchanged; fails with launchctl
y=''
if [ -e "$kept" ] && [ ! -e "$plist" ]; then
  must mv "$R/bin/mv" -f "$kept" "$plist"
  y=1
fi
if [ -n "$load" ] && [ -e "$plist" ] && ! look; then
  must launchctl "$R/bin/launchctl" enable "$L"
  load_service "$plist"
  look || failed launchctl 'launchd does not have the daemon'
  y=1
fi
[ -n "$y" ] || unchanged
changed
