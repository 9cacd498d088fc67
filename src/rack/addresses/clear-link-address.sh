# Puts a network service back to DHCP, as macOS has it by itself, and takes what the interface still holds off it. A
# Mac that let no ssh session make a service has the address on the interface alone. networksetup(8): -setdhcp, -getinfo;
# ifconfig(8): -alias removes the network address.
#
# Uses ../../node/shell/network-setup.sh
# Needs service: its name, empty where the interface has none
# Needs device: the interface
# Words: the addresses
# Prints: @changed or @unchanged; fails with networksetup, ifconfig
isdhcp() {
  mustnet -getinfo "$service"
  case $o in ('DHCP Configuration'*) ;; (*) return 1 ;; esac
}
holds() {
  case $("$R/sbin/ifconfig" "$device" 2>/dev/null) in (*"inet $1 "*) ;; (*) return 1 ;; esac
}
y=''
[ -z "$service" ] || isdhcp || {
  mustnet -setdhcp "$service"
  isdhcp || failed networksetup "networksetup took DHCP and shows something else: $o"
  y=1
}
for address in "$@"; do
  holds "$address" || continue
  "$R/sbin/ifconfig" "$device" inet "$address" -alias 2>/dev/null
  ! holds "$address" || failed ifconfig "the interface keeps $address"
  y=1
done
[ -n "$y" ] || unchanged
changed
