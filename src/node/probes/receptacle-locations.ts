import { pathWord, tool } from '../paths/node-paths.ts';

/**
 * Prints the lines of the I/O registry from which the place of each Thunderbolt receptacle follows, then `end`: the
 * nodes that have a `port-location`, then the path from the root to each `AppleThunderboltIPPort`. A Mac without any
 * `port-location` is asked once only. Runs in the private folder of the observation, in which the file `registry` is
 * its own.
 *
 * The properties of the root alone take 100 kB and more, so they stay on the node; `ulimit` leaves room for them. With
 * `-x` all data is hexadecimal: otherwise ioreg prints bytes that happen to be letters as text. Lines are not clipped,
 * since the output goes to a file. Short, because all probes together must fit into one packet of SSH.
 *
 * @see ioreg.c in Apple's IOKitTools: search, show, cfdatashow
 * @see dev7a/rdmalink, docs/ARCHITECTURE.md and ChassisProbe.swift: the keys, read on a Mac15,14 on 2026-09-19
 */
export const receptacleLocationsScript = `trap "kill -9 \\$!; wait; exit 142" ALRM HUP TERM
ulimit -S -f 16384
l() {
${pathWord(tool.ioreg)} -x -r -d1 "$@" >registry &
wait "$!" || exit
${pathWord(tool.awk)} "/[+]-o |(port-location|acio-parent|,phandle|IOLocation)\\" =/" registry || exit
}
l -k port-location
[ ! -s registry ] || l -t -l -c AppleThunderboltIPPort
printf "end\\n"`;
