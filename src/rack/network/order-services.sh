# Moves the network services of some devices to the end of the service order. networksetup requires the names of all
# services, including disabled services and VPNs; otherwise, it changes nothing ("Wrong number of network services"). So
# this script builds the complete list from the current services. networksetup(8): -ordernetworkservices,
# -listnetworkserviceorder.
#
# `last_behind DEVICES` prints the names of all services in `o`, one per line, in their current order but with the
# services of these devices at the end.
#
# Uses ../../node/shell/leave.sh
# Needs last: the devices, each surrounded by spaces
# Prints: @changed or @unchanged; fails with networksetup
last_behind() { printf '%s\n' "$o" | "$R/usr/bin/awk" -v d="$1" '
/^\([*0-9]+\) / { n = $0; sub(/^\([*0-9]+\) /, "", n); next }
/^\(Hardware Port: .*, Device: ?[^ ,]*\)$/ {
  v = $0; sub(/^.*, Device: ?/, "", v); sub(/\)$/, "", v)
  if (v != "" && index(d, " " v " ")) t = t n "\n"; else print n
}
END { printf "%s", t }
'; }
names() {
  r=$(mustnet -listnetworkserviceorder 2>&1 && printf '%s\n' "$o") || return 1
  o=$r
  was=$(last_behind ' ')
  want=$(last_behind "$last")
}
names || {
  leave "$r"
  unchanged
}
[ -n "$want" ] || failed networksetup 'networksetup lists no service'
[ "$was" != "$want" ] || unchanged
set --
while IFS= read -r x; do set -- "$@" "$x"; done <<EOT
$want
EOT
r=$(mustnet -ordernetworkservices "$@" 2>&1) || {
  leave "$r"
  unchanged
}
names || {
  leave "$r"
  changed
}
[ "$was" = "$want" ] || failed networksetup 'networksetup reported success, but the order did not change'
changed
