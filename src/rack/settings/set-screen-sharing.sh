# Turns Screen Sharing on or off, now and at every later boot. After an unload, launchd may need a moment, during which
# bootstrap exits with 5. launchctl(1): enable, disable, bootstrap, bootout, print-disabled.
#
# Uses ../../node/shell/service.sh
# Needs on: whether to turn Screen Sharing on
# Needs plist: Screen Sharing's property list
# Prints: @changed or @unchanged; fails with launchctl
verb=disable other=true
[ -z "$on" ] || verb=enable other=false
y=''
isset() {
  o=$("$R/bin/launchctl" print-disabled system 2>&1) || failed launchctl "$o"
  case $o in (*"\"$label\" => ${verb}d"* | *"\"$label\" => $other"*) ;; (*) return 1 ;; esac
}
isset || {
  must launchctl "$R/bin/launchctl" "$verb" "$L"
  isset || failed launchctl "launchd does not show Screen Sharing as ${verb}d"
  y=1
}
if look; then
  [ -n "$on" ] || { bootout; y=1; }
elif [ -n "$on" ]; then
  n=0
  until o=$("$R/bin/launchctl" bootstrap system "$plist" 2>&1); do
    n=$((n + 1))
    [ "$n" -lt 4 ] || failed launchctl "$o"
    "$R/bin/sleep" 1
  done
  look || failed launchctl 'launchd does not show Screen Sharing'
  y=1
fi
[ -n "$y" ] || unchanged
changed
