# Gives a network service a fixed address that survives a reboot; makes the service first where its port has none, and
# switches it on where it is off. Without a router: nothing is to be reached over a cable but its other end. What the
# service already says and the interface has lost all the same, such as by a hand that typed `ifconfig`, macOS does not
# give again by itself. Where macOS lets no ssh session set the service, the interface gets the address all the same,
# and the keeper keeps it.
#
# networksetup(8): -createnetworkservice, -setmanual, -setnetworkserviceenabled, -getinfo; ifconfig(8): inet, netmask. A
# service that is off stands behind an asterisk in a list. An interface that is up and idle says `status: inactive`, and
# macOS takes its address off by itself.
#
# Uses ../../node/shell/leave.sh
# Needs service: its name
# Needs create: whether it is made for the port where it is missing
# Needs hardware_port: the name of the port
# Needs device: the interface
# Needs address: which it gets
# Needs mask: in dotted form
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
    isset || failed networksetup "networksetup took the address and shows another one: $o"
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
  haslost && failed ifconfig "the interface took the address and does not show it: $a"
  y=1
fi
[ -n "$y" ] || unchanged
changed
