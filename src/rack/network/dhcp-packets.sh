# For each Thunderbolt interface with an IPv4 address that is not self-assigned: what `ipconfig getpacket` prints, then
# `en3 exit 0`, its name and the exit code; behind the last one `end`. Other interfaces are not asked. The file `dhcp` of
# the private folder is its own. Its tools run in the background: a shell hears no signal before one in front ends.
#
# `getpacket` instead of `getsummary`: it prints the packet that the DHCP client accepted, in flat lines that Apple's
# manual page shows and that were published whole. Of `getsummary` only single lines were published, and its start and
# end of the lease have no time zone. ipconfig(8): nothing is printed where DHCP is not active or got no address
#
# Prints: lines of ipconfig, then end
trap "kill -9 \$!; wait; exit 142" ALRM HUP TERM
r() { "$@" & wait $!; }
{ r "$R/usr/sbin/networksetup" -listallhardwareports && r "$R/sbin/ifconfig" -a; } >dhcp || exit
while read -r a b c d; do
case $a,$b,$c$d,$t in
(*:,Thunderbolt[0-9]*) p=" " ;;
(Device:,*) t="$t$p$b " p=- ;;
(*:,flags=*) i=${a%:} ;;
(inet,169.254.*) ;;
(inet,*" $i "*) r "$R/usr/sbin/ipconfig" getpacket "$i" 2>&1
printf "%s\n" "$i exit $?"
i=- ;;
esac
done <dhcp
printf "end\n"
