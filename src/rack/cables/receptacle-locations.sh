# Prints the lines of the I/O registry that show the location of each Thunderbolt receptacle: first the registry entries
# with a `port-location`, then the path from the root to each `AppleThunderboltIPPort`. The last line is `end`. A Mac
# without `port-location` is queried only once. The script runs in the observation's private folder and writes the
# `registry` file there.
#
# The properties of the registry's root take up 100 kB or more, so they are not sent to the controller; `ulimit` allows
# a file of this size. With `-x`, ioreg prints all data in hexadecimal; otherwise, it prints bytes that happen to be
# letters as text. ioreg does not truncate lines, because its output goes to a file. The script is short because all
# probes together must fit into one SSH packet.
#
# Sources: ioreg.c in Apple's IOKitTools (search, show, cfdatashow); dev7a/rdmalink, docs/ARCHITECTURE.md and
# ChassisProbe.swift (the keys, as read on a Mac15,14 on 2026-09-19)
#
# Prints: lines from ioreg, then end
trap "kill -9 \$!; wait; exit 142" ALRM HUP TERM
ulimit -S -f 16384
l() {
"$R/usr/sbin/ioreg" -x -r -d1 "$@" >registry &
wait "$!" || exit
"$R/usr/bin/awk" "/[+]-o |(port-location|acio-parent|,phandle|IOLocation)\" =/" registry || exit
}
l -k port-location
[ ! -s registry ] || l -t -l -c AppleThunderboltIPPort
printf "end\n"
