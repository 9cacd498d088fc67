# Prints the I/O registry's lines that show where each Thunderbolt receptacle is, then `end`: first the nodes with a
# `port-location`, then the path from the root to each `AppleThunderboltIPPort`. A Mac without any `port-location` is
# queried only once. Runs in the observation's private folder and writes the file `registry` there.
#
# The root's properties take 100 kB and more, so they stay on the node; `ulimit` leaves room for them. With `-x`, all data
# is hexadecimal; otherwise ioreg prints bytes that happen to be letters as text. ioreg does not clip lines, because its
# output goes to a file. The script is short because all probes together must fit into one SSH packet.
#
# ioreg.c in Apple's IOKitTools: search, show, cfdatashow; dev7a/rdmalink, docs/ARCHITECTURE.md and ChassisProbe.swift: the
# keys, read on a Mac15,14 on 2026-09-19
#
# Prints: lines of ioreg, then end
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
