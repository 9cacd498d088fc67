# Resets a network service to DHCP, the macOS default, and removes the remaining addresses from its interface. If macOS
# did not allow an ssh session to create the service, only the interface has the address. networksetup(8): -setdhcp,
# -getinfo; ifconfig(8): -alias removes the network address.
#
# Uses ../../node/shell/network-setup.sh
# Needs service: the service's name; empty if the interface has no service
# Needs device: the interface
# Arguments: the addresses to remove
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
  isdhcp || failed networksetup "networksetup reported success, but shows something other than DHCP: $o"
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
