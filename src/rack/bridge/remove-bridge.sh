# Removes the three layers of the Thunderbolt Bridge: disables its service, deletes the bridge from the network
# preferences (otherwise, configd would create the bridge again at the next boot or when a cable is plugged in), and
# destroys its interface. Each layer is checked before and after the change. If macOS refuses to disable the service,
# the script reports this only after it has removed the other two layers, which stay removed. Published instructions
# report that disabling only the service left the bridge up with all of its members.
#
# Uses ../../node/shell/leave.sh
# Needs bridge: the bridge's interface
# Needs members: the bridge's members
# Needs preferences: the network preferences file
# Arguments: the bridge's services
# Prints: @changed or @unchanged; fails with networksetup, plistbuddy, ifconfig; exits with 3, which keeps the other
# changes, if macOS refused to disable a service
key=:VirtualNetworkInterfaces:Bridge:$bridge
y='' refused=''
off() {
  if r=$(
    exec 2>&1
    net -getnetworkserviceenabled "$1" || exit 0
    case $o in (Disabled*) exit 0 ;; esac
    mustnet -setnetworkserviceenabled "$1" off
    net -getnetworkserviceenabled "$1"
    case $o in (Disabled*) printf off ;; (*) failed networksetup "$1 stayed on" ;; esac
  ); then
    [ "$r" != off ] || y=1
  elif (leave "$r") 2>/dev/null; then
    :
  else
    y=1 refused=$r
  fi
}
for service in "$@"; do off "$service"; done
if "$R/usr/libexec/PlistBuddy" -c "Print $key" "$preferences" >/dev/null 2>&1; then
  must plistbuddy "$R/usr/libexec/PlistBuddy" -c "Delete $key" "$preferences"
  "$R/usr/libexec/PlistBuddy" -c "Print $key" "$preferences" >/dev/null 2>&1 && failed plistbuddy 'the bridge is still in the network preferences'
  y=1
fi
if "$R/sbin/ifconfig" "$bridge" >/dev/null 2>&1; then
  for member in $members; do "$R/sbin/ifconfig" "$bridge" deletem "$member" >/dev/null 2>&1; done
  must ifconfig "$R/sbin/ifconfig" "$bridge" destroy
  "$R/sbin/ifconfig" "$bridge" >/dev/null 2>&1 && failed ifconfig 'the bridge is still there'
  y=1
fi
[ -z "$refused" ] || {
  printf '%s\n' "$refused" >&2
  exit 3
}
[ -n "$y" ] || unchanged
changed
