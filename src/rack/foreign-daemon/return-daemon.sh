# Gives a foreign network daemon back: its plist to where it lay, unless there is one by now. It stays disabled,
# unless it is to be loaded as it was before. launchctl(1): enable, bootstrap.
#
# Uses ../../node/shell/load-service.sh
# Needs plist: where its property list lay
# Needs kept: where its property list was moved
# Needs load: whether it was loaded
# Prints: @changed or @unchanged; fails with launchctl
y=''
if [ -e "$kept" ] && [ ! -e "$plist" ]; then
  must mv "$R/bin/mv" -f "$kept" "$plist"
  y=1
fi
if [ -n "$load" ] && [ -e "$plist" ] && ! look; then
  must launchctl "$R/bin/launchctl" enable "$L"
  load_service "$plist"
  look || failed launchctl 'launchd does not know the daemon'
  y=1
fi
[ -n "$y" ] || unchanged
changed
