# Assigns a network service a static address that survives a reboot. Creates the service if the port has none, and
# enables the service if it is disabled. Sets no router, because a cable leads only to the Mac at its other end. If the
# service has the address but the interface has lost it, for example after a manual `ifconfig`, macOS does not restore
# the address, so this script does. If macOS does not allow an ssh session to change the service, the script sets the
# address on the interface, and the keeper restores it there.
#
# networksetup(8): -createnetworkservice, -setmanual, -setnetworkserviceenabled, -getinfo; ifconfig(8): inet, netmask.
# In networksetup's list of services, an asterisk marks a disabled service. If an interface is up but has no link,
# ifconfig prints `status: inactive`, and macOS removes the interface's address.
#
# Uses ../../node/shell/leave.sh
# Needs service: the service's name
# Needs create: whether to create the service if the port has none
# Needs hardware_port: the hardware port's name
# Needs device: the interface
# Needs address: the new address
# Needs mask: the netmask in dotted-decimal notation
# Prints: @changed or @unchanged; fails with no-service, networksetup, ifconfig
isthere() {
  mustnet -listallnetworkservices
  case $N$o$N in (*"$N$service$N"* | *"$N*$service$N"*) ;; (*) return 1 ;; esac
}
haslost() {
  a=$("$R/sbin/ifconfig" "$device" 2>/dev/null) || return 1
  case $a in (*'status: inactive'* | *"inet $address "*) return 1 ;; esac
}
isset() {
  mustnet -getinfo "$service"
  case $o in ('Manual Configuration'*"${N}IP address: $address${N}Subnet mask: $mask"*) ;; (*) return 1 ;; esac
}
byservice() {
  y=''
  isthere || {
    [ -n "$create" ] || failed no-service "there is no network service $service"
    mustnet -createnetworkservice "$service" "$hardware_port"
    isthere || failed networksetup 'the network service was not created'
    y=1
  }
  mustnet -getnetworkserviceenabled "$service"
  case $o in (Disabled*)
    mustnet -setnetworkserviceenabled "$service" on
    mustnet -getnetworkserviceenabled "$service"
    case $o in (Disabled*) failed networksetup 'the network service stayed off' ;; esac
    y=1
  ;; esac
  if ! isset; then
    mustnet -setmanual "$service" "$address" "$mask"
    isset || failed networksetup "networksetup reported success, but shows a different address: $o"
    y=1
  fi
  printf %s "$y"
}
if r=$(byservice 2>&1); then
  y=$r
else
  leave "$r"
  y=''
fi
if [ -z "$y" ] && haslost; then
  must ifconfig "$R/sbin/ifconfig" "$device" inet "$address" netmask "$mask"
  haslost && failed ifconfig "ifconfig reported success, but the interface lacks the address: $a"
  y=1
fi
[ -n "$y" ] || unchanged
changed
