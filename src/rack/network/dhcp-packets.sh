# For each Thunderbolt interface with an IPv4 address that is not self-assigned, prints the output of `ipconfig
# getpacket` and then the interface's name and the exit code, such as `en3 exit 0`. The last line is `end`. Other
# interfaces are not queried. Writes the `dhcp` file to the observation's private folder. The tools run in the
# background, because a shell does not handle signals while a foreground tool is running.
#
# The script runs `getpacket` instead of `getsummary`, because `getpacket` prints the packet that the DHCP client
# accepted, in flat lines that Apple's manual page shows and that have been published in full. Only individual lines of
# `getsummary` output are publicly documented, and its lease times have no time zone. ipconfig(8): `getpacket` prints
# nothing if DHCP is inactive or got no address.
#
# Prints: lines from ipconfig, then end
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
