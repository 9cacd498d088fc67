# For each Thunderbolt interface with an IPv4 address that is not self-assigned, prints the output of `ipconfig
# getpacket` and then the interface's name and the exit code, such as `en3 exit 0`. The last line is `end`. Other
# interfaces are not queried. Writes the file `dhcp` in the private folder. The tools run in the background, because a
# shell handles no signal while a foreground tool runs.
#
# Why `getpacket` and not `getsummary`: `getpacket` prints the packet that the DHCP client accepted, in flat lines that
# are shown in Apple's manual page and have been published in full. For `getsummary`, only single lines have been
# published, and its lease times have no time zone. ipconfig(8): nothing is printed if DHCP is not active or got no
# address
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
