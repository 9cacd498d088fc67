# Restores, from the baseline, the network settings that `apply` changes: the bridge, the services that were created,
# turned on or off, or given an address, and the order of all services.
#
# networksetup(8): -removenetworkservice, -setnetworkserviceenabled, -setmanual, -ordernetworkservices; PlistBuddy(8):
# Print; plutil(1): -insert keypath -json value; ifconfig(8) of macOS: create, addm, up
#
# Uses ../../node/shell/network-setup.sh
# Needs preferences: the network preferences file
# Needs bridge: the bridge that `apply` removed; empty if it removed none
# Needs bridge_json: the bridge's dictionary in the network preferences
# Needs members: the bridge's interfaces
# Arguments: the changes to the services: `remove SERVICE`, `address SERVICE ADDRESS MASK ROUTER` with an empty ROUTER
#   if there is no router, `switch SERVICE on` or `switch SERVICE off`, and finally `order SERVICE …` with all services
# Prints: @changed or @unchanged; fails with plutil, ifconfig
y=''
buddy() {
  "$R/usr/libexec/PlistBuddy" -c "Print :VirtualNetworkInterfaces:Bridge:$bridge" "$preferences" >/dev/null 2>&1
}
hasmember() {
  case $("$R/sbin/ifconfig" "$bridge")$N in (*"member: $1 "* | *"member: $1$N"*) ;; (*) return 1 ;; esac
}
bring_bridge() {
  if ! buddy; then
    must plutil "$R/usr/bin/plutil" -insert "VirtualNetworkInterfaces.Bridge.$bridge" -json "$bridge_json" "$preferences"
    buddy || failed plutil 'the bridge is not in the network preferences'
    y=1
  fi
  "$R/sbin/ifconfig" "$bridge" >/dev/null 2>&1 || {
    must ifconfig "$R/sbin/ifconfig" "$bridge" create
    "$R/sbin/ifconfig" "$bridge" >/dev/null 2>&1 || failed ifconfig 'the bridge was not created'
    y=1
  }
  for one in $members; do
    hasmember "$one" && continue
    must ifconfig "$R/sbin/ifconfig" "$bridge" addm "$one"
    hasmember "$one" || failed ifconfig "the bridge does not have the member $one"
    y=1
  done
  must ifconfig "$R/sbin/ifconfig" "$bridge" up
  case $("$R/sbin/ifconfig" "$bridge") in (*'<UP,'* | *'<UP>'*) ;; (*) failed ifconfig 'the bridge is not up' ;; esac
}
isthere() {
  mustnet -listallnetworkservices
  case $N$o$N in (*"$N$1$N"* | *"$N*$1$N"*) ;; (*) return 1 ;; esac
}
isset() {
  mustnet -getnetworkserviceenabled "$1"
  case $2:$o in (on:Enabled* | off:Disabled*) ;; (*) return 1 ;; esac
}
readdress() {
  mustnet -setmanual "$@"
  mustnet -getnetworkserviceenabled "$1"
  # No publication shows what -getinfo prints for a disabled service, so disabled services are not checked.
  case $o in (Disabled*) return ;; esac
  mustnet -getinfo "$1"
  case $o$N in ('Manual Configuration'*"$N""IP address: $2$N""Subnet mask: $3$N"*) ;; (*)
    failed networksetup "networksetup reported success, but shows a different address: $o"
  ;; esac
}
[ -z "$bridge" ] || bring_bridge
while [ "$#" -gt 0 ]; do
  case $1 in
    (remove)
      if isthere "$2"; then
        mustnet -removenetworkservice "$2"
        ! isthere "$2" || failed networksetup "the network service is still there: $2"
        y=1
      fi
      shift 2
    ;;
    (switch)
      isset "$2" "$3" || {
        mustnet -setnetworkserviceenabled "$2" "$3"
        isset "$2" "$3" || failed networksetup "networksetup did not switch the service $3: $2"
        y=1
      }
      shift 3
    ;;
    (address)
      readdress "$2" "$3" "$4" ${5:+"$5"}
      y=1
      shift 5
    ;;
    (order)
      shift
      mustnet -ordernetworkservices "$@"
      mustnet -listnetworkserviceorder
      o=$(printf '%s\n' "$o" | "$R/usr/bin/awk" 'sub(/^\([*0-9]+\) /, "")')
      [ "$o" = "$(printf '%s\n' "$@")" ] || failed networksetup 'networksetup reported success, but the order did not change'
      y=1
      shift "$#"
    ;;
  esac
done
[ -n "$y" ] || unchanged
changed
