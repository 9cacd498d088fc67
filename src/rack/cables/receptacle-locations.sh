# Prints the lines of the I/O registry from which the place of each Thunderbolt receptacle follows, then `end`: the
# nodes that have a `port-location`, then the path from the root to each `AppleThunderboltIPPort`. A Mac without any
# `port-location` is asked once only. Runs in the private folder of the observation, in which the file `registry` is
# its own.
#
# The properties of the root alone take 100 kB and more, so they stay on the node; `ulimit` leaves room for them. With
# `-x` all data is hexadecimal: otherwise ioreg prints bytes that happen to be letters as text. Lines are not clipped,
# since the output goes to a file. Short, because all probes together must fit into one packet of SSH.
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
