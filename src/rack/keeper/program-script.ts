/**
 * The keeper's program, which runs one round and exits. It restores what macOS undoes at a boot or when a cable is
 * plugged in, and empties long logs. It uses only sysctl, ifconfig and the network preferences file.
 */
import { daemonPrologue } from '../../node/launchd-service.ts';
import { keeperData, keeperLast, keeperLog, keeperProgram, outdatedMark } from '../../node/paths/keeper-files.ts';
import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { mostLogBytes } from '../../node/paths/own-paths.ts';
import { hashFunction } from './hash-models-script.ts';

/** The size at which the log is cut, and how many of its lines are kept. */
const logLimit = { bytes: 65_536, lines: 200 } as const;

/** For this many seconds after a boot, a Mac may not list its Thunderbolt ports yet. */
const startSeconds = 10;

/** Seconds after which a hung round stops itself, because launchd does not start a second round. */
const roundSeconds = 45;

/** `NUMBER INTERFACE` of each hardware port that is a Thunderbolt receptacle. @see networksetup(8) */
const portLines = `/^Hardware Port: / { n = ""; if (NF == 4 && $3 == "Thunderbolt" && $4 ~ /^[0-9]+$/) n = $4 }
/^Device: en[0-9]+$/ && n != "" { print n, $2 }`;

/**
 * Reads the ports, `ifconfig -a` and the bridges in the preferences, each after a line "@ NAME". Prints macOS's own bridge
 * ("preferences NAME", "interface NAME MEMBER…"), "link NUMBER INTERFACE BRIDGED ADDRESS/MASK…" for each receptacle with
 * a cable, and "held INTERFACE ADDRESS/MASK…" for each receptacle with an address. macOS's own bridge has its mark in the
 * preferences, or is bridge0. If one of the two layers shows a member that is not a receptacle, or an address that macOS
 * did not assign, a person uses the bridge. Bridges from bridge100 on belong to Internet Sharing and virtual machines.
 */
const networkLines = `$1 == "@" { part = $2; name = ""; next }
part == "ports" { port[$2] = $1; next }
part == "interfaces" && /^[a-z]/ { name = $1; sub(/:$/, "", name); next }
part == "interfaces" && $1 == "member:" { live[name] = live[name] " " $2; inside[$2] = 1; if (!($2 in port)) made[name] = 1 }
part == "interfaces" && $1 == "inet" && $3 == "netmask" { held[name] = held[name] " " $2 "/" $4; if ($2 !~ /^169[.]254[.]/) given[name] = 1 }
part == "interfaces" && $1 == "status:" && $2 == "active" { up[name] = 1 }
part == "interfaces" { next }
/^    [a-z]+[0-9]+ = Dict [{]$/ { name = $1; kept[name] = 0; list = 0; next }
$1 == "Interfaces" && name != "" { list = 1; next }
list && $1 == "}" { list = 0; next }
list { kept[name]++; if (!($1 in port)) made[name] = 1; next }
$1 == "__AUTO__" && $3 == "thunderbolt-bridge" { own[name] = 1 }
function named(n) { return n !~ /[0-9][0-9][0-9]$/ && (n == "bridge0" || (n in own)) }
function isown(n) { return named(n) && !(n in made) && !(n in given) }
END {
  for (n in made) if (named(n)) print "left", n, "members"
  for (n in given) if (named(n) && !(n in made) && (n in live)) print "left", n, "address"
  for (n in kept) if (isown(n) && (kept[n] > 0 || (n in own))) print "preferences", n
  for (n in live) if (isown(n)) print "interface", n live[n]
  for (e in port) if (e in held) print "held", e held[e]
  for (e in port) if (e in up) print "link", port[e], e, ((e in inside) ? "bridged" : "free") held[e]
}`;

const bridges = ':VirtualNetworkInterfaces:Bridge';
const preferences = pathWord(place.networkPreferences);
const ifconfig = pathWord(tool.ifconfig);
const pending = pathWord(below(place.transaction, 'pending'));
const rolling = pathWord(below(place.transaction, 'rolling'));
const outdated = pathWord(outdatedMark);

/** `may`: succeeds if the keeper has something to keep and no network change is under way. `say`: logs a change. */
const sayFunctions = `may() {
  [ -e ${pathWord(keeperData)} ] && [ ! -e ${pending} ] && [ ! -e ${rolling} ] && [ ! -e ${outdated} ]
}
say() {
  x="at=$(${pathWord(tool.date)} -u +%s) $*"
  ${pathWord(tool.mkdir)} -p ${pathWord(place.log)}
  printf '%s\\n' "$x" >>"$l"
  printf '%s\\n' "$x" >"$t.new" && ${pathWord(tool.mv)} -f "$t.new" "$t"
  x=$(${pathWord(tool.stat)} -f %z "$l")
  [ "$x" -le ${logLimit.bytes} ] || {
    ${pathWord(tool.tail)} -n ${logLimit.lines} "$l" >"$l.new" && ${pathWord(tool.mv)} -f "$l.new" "$l"
  }
}`;

/** `watch` kills a round that hangs, and launchd its processes. `watched` is called when a round ends in time. */
const watchFunctions = `watch() {
  (
    trap 'kill "$s" 2>/dev/null; exit 0' TERM
    ${pathWord(tool.sleep)} ${roundSeconds} &
    s=$!
    wait "$s"
    case $(${pathWord(tool.ps)} -ww -o command= -p "$$" 2>/dev/null) in (*'keeper/keep'*) kill -s KILL "$$" ;; esac
  ) &
  g=$!
}
watched() {
  kill "$g" 2>/dev/null
}`;

/**
 * `bound` keeps the logs of running ranks and gateways small. launchd appends to them, so an emptied log continues at
 * its beginning. The old content is kept next to the log, under the name that a start gives to a log that is too long.
 * The folder belongs to root, so no account can create a link there.
 */
const boundFunction = `bound() {
  for f in ${pathWord(place.log)}/*.log; do
    if [ ! -f "$f" ] || [ -h "$f" ]; then continue; fi
    x=$(${pathWord(tool.stat)} -f %z "$f") || continue
    [ "$x" -gt ${mostLogBytes} ] || continue
    ${pathWord(tool.cp)} -cp "$f" "$f.1.new" && ${pathWord(tool.mv)} -f "$f.1.new" "$f.1" && true >"$f"
  done
}`;

/** `wired MEGABYTES`. @see sysctl `iogpu.wired_limit_mb`: lost at every boot */
const wiredFunction = `wired() {
  w=$(${pathWord(tool.sysctl)} -n iogpu.wired_limit_mb 2>/dev/null)
  case $w in ("$1" | '' | *[!0-9]*) return ;; esac
  may || exit 0
  ${pathWord(tool.sysctl)} iogpu.wired_limit_mb="$1" >/dev/null 2>&1
  [ "$(${pathWord(tool.sysctl)} -n iogpu.wired_limit_mb)" != "$1" ] || say "wired-limit from=$w to=$1"
}`;

/**
 * `ports` finds the interface of each receptacle, `look` the state of all interfaces. The keeper's data names
 * receptacles, because macOS may rename their interfaces at any boot. Unreadable does not count as empty: `look` fails
 * without the interfaces, and sets `u` if the preferences are unknown.
 *
 * @see PlistBuddy: `Print: Entry, "…", Does Not Exist` if there is no such entry
 */
const observeFunctions = `ports() {
  h=$(${pathWord(tool.networksetup)} -listallhardwareports 2>/dev/null) || h=
  p=$(printf '%s\\n' "$h" | ${pathWord(tool.awk)} '${portLines}')
  [ -n "$p" ]
}
look() {
  s='' u=''
  i=$(${ifconfig} -a 2>/dev/null) && [ -n "$i" ] || return 1
  if q=$(${pathWord(tool.plistBuddy)} -c 'Print ${bridges}' ${preferences} 2>&1); then
    case $q in ('Dict {'*) ;; (*) u=1 ;; esac
  else
    case $q in (*'Will Create'*) u=1 ;; (*'Does Not Exist'*) ;; (*) u=1 ;; esac
    q=
  fi
  s=$(printf '@ ports\\n%s\\n@ interfaces\\n%s\\n@ preferences\\n%s\\n' "$p" "$i" "$q" | ${pathWord(tool.awk)} '${networkLines}')
}`;

/**
 * `unbridge` removes the parts of macOS's own bridge that `look` found: first from the preferences, because otherwise
 * configd creates the bridge again. If a person uses a bridge with that name, this is logged once.
 *
 * @see ifconfig(8) of macOS: deletem, destroy
 */
const bridgeFunction = `leftalone() {
  case $(${pathWord(tool.cat)} "$l" 2>/dev/null) in (*" bridge $1 left because=$2"*) ;; (*) say "bridge $1 left because=$2" ;; esac
}
unbridge() {
  [ -z "$u" ] || return 0
  y=
  while read -r a n m; do
    case $a in (preferences | interface) may || exit 0 ;; (left) leftalone "$n" "$m"; continue ;; (*) continue ;; esac
    if [ "$a" = preferences ]; then
      ${pathWord(tool.plistBuddy)} -c "Delete ${bridges}:$n" ${preferences} >/dev/null 2>&1
      case $(${pathWord(tool.plistBuddy)} -c "Print ${bridges}:$n" ${preferences} 2>&1) in (*'Does Not Exist'*) ;; (*) continue ;; esac
      say "bridge $n removed from=preferences"
    else
      for i in $m; do ${ifconfig} "$n" deletem "$i" >/dev/null 2>&1; done
      ${ifconfig} "$n" destroy >/dev/null 2>&1
      ! ${ifconfig} "$n" >/dev/null 2>&1 || continue
      say "bridge $n removed from=interfaces members=$m"
    fi
    y=1
  done <<EOT
$s
EOT
  [ -z "$y" ] || look || exit 1
}`;

/**
 * `address RECEPTACLE ADDRESS MASK` sets the address of a receptacle that has a cable and is in no bridge. If another
 * receptacle has the address, because macOS renamed its interface or a cable was moved, that receptacle loses it first.
 *
 * @see ifconfig(8): inet, netmask, -alias
 */
const addressFunction = `takefrom() {
  while read -r a e h; do
    case $a:$e in ("held:$1") continue ;; (held:*) ;; (*) continue ;; esac
    case " $h" in (*" $2/"*) ;; (*) continue ;; esac
    may || exit 0
    ${ifconfig} "$e" inet "$2" -alias >/dev/null 2>&1
    case $(${ifconfig} "$e" 2>/dev/null) in ('' | *"inet $2 "*) ;; (*) say "address taken interface=$e from=$2" ;; esac
  done <<EOT
$s
EOT
}
address() {
  while read -r a n e f h; do
    [ "$a $n $f" = "link $1 free" ] || continue
    case " $h " in (*" $2/$3 "*) continue ;; esac
    c=$e k=$h
    takefrom "$c" "$2"
    e=$c h=$k
    may || exit 0
    ${ifconfig} "$e" inet "$2" netmask "$3" >/dev/null 2>&1
    case $(${ifconfig} "$e" 2>/dev/null) in
      (*"inet $2 netmask $3"*) say "address receptacle=$1 interface=$e from=\${h:-none} to=$2/$3" ;;
    esac
  done <<EOT
$s
EOT
}`;

/**
 * Restores once a minute what macOS undoes: cable addresses, the bridge's removal, and the wired limit. Also empties
 * long logs, and hashes a part of the published models at the end of a round. It does nothing without its data, and
 * nothing while a network change waits for confirmation or is rolled back, because that change decides what the keeper
 * may keep. A round that could not observe exits with 1.
 */
export const keepText = `{
${daemonPrologue(keeperProgram)}
l=${pathWord(keeperLog)} t=${pathWord(keeperLast)}
${sayFunctions}
${watchFunctions}
${boundFunction}
${wiredFunction}
${observeFunctions}
${bridgeFunction}
${addressFunction}
${hashFunction}
[ ! -e ${outdated} ] || ${pathWord(tool.rm)} -f ${pathWord(keeperData)} ${outdated}
may || exit 0
watch
trap 'rehash; watched' EXIT
bound
d=$(${pathWord(tool.cat)} ${pathWord(keeperData)})
while read -r a v; do
  case $a in (wired) wired "$v" ;; esac
done <<EOT
$d
EOT
case $d in (*bridge* | *address*) ;; (*) exit 0 ;; esac
n=0
until ports; do
  n=$((n + 1))
  may || exit 0
  if [ "$n" -ge ${startSeconds} ]; then
    [ -z "$h" ] || exit 0
    exit 1
  fi
  ${pathWord(tool.sleep)} 1
done
look || exit 1
case $d in (*'bridge remove'*) unbridge ;; esac
while read -r a v w x; do
  case $a in (address) address "$v" "$w" "$x" ;; esac
done <<EOT
$d
EOT
exit 0
} </dev/null >/dev/null 2>&1
`;
