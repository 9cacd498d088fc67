# Unloads a foreign network daemon and disables it, so the daemon does not start again after a restart. Records the
# daemon's previous state: `was=loaded`, or `was=` if the daemon was not loaded. launchctl(1): bootout, disable,
# print-disabled.
#
# Uses ../../node/shell/service.sh
# Needs plist: the daemon's property list
# Needs kept: the path to which the property list is moved, so that it can be restored later
# Needs remove: whether to move the property list
# Needs was: the file that records the daemon's previous state
# Prints: @changed or @unchanged; fails with launchctl
isdisabled() {
  o=$("$R/bin/launchctl" print-disabled system 2>&1) || failed launchctl "$o"
  case $o in (*"\"$label\" => disabled"* | *"\"$label\" => true"*) ;; (*) return 1 ;; esac
}
y='' w=''
if look; then
  w=loaded
  bootout
  y=1
fi
isdisabled || {
  must launchctl "$R/bin/launchctl" disable "$L"
  isdisabled || failed launchctl 'launchd does not show the daemon as disabled'
  y=1
}
[ -e "$was" ] || {
  must mkdir "$R/bin/mkdir" -p "${was%/*}"
  printf 'was=%s\n' "$w" >"$was" || failed write 'cannot store the previous state of the daemon'
}
if [ -n "$remove" ] && [ -e "$plist" ]; then
  must mv "$R/bin/mv" -f "$plist" "$kept"
  y=1
fi
[ -n "$y" ] || unchanged
changed
