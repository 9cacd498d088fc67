import { doormenFolder } from '../paths/gateway-paths.ts';
import { below, pathWord, place, tool } from '../paths/node-paths.ts';

/**
 * The status of a request that was not sent, or that a gateway did not pass on, since another one is in flight or a client
 * has just got a token. No runtime answers so. @see RFC 8470: 425 (Too Early)
 */
export const notAskedStatus = 425;

/**
 * A lock so old belongs to nobody: who asks holds it no longer than that before the kernel shows the request. One from the
 * future was left before the clock was set back.
 */
const staleSeconds = 60;

/** Connections to a port of this Mac: of a client that waits, or of one that has left while the runtime works on. */
const inFlight = `$1 ~ /^tcp/ && $4 ~ ("[.:]" p "$") { if ($NF == "ESTABLISHED") f = "busy"; else if ($NF == "CLOSE_WAIT" && !f) f = "gone" }
$1 == "exit" && $2 { f = "unseen" }
END { print f }`;

/** The folder that {@link turnFunctions} makes as the lock of the port `$q`. */
export const turnLock = `${pathWord(below(place.temporary, 'meshwright-ask.'))}"$q"`;

/**
 * Functions of sh for who asks an endpoint on its own node, for the placement `n` at its port `q`; two requests at once can
 * end a mesh (mlx-lm issue 1737). `g` is true where a gateway of this version stands before it, by which our requests take
 * their turn: its address is left in `c`. `w TRIES` takes the turn where there is none: a lock, since two may look at once,
 * and no connection to the port; each further try is half a second later. It is false where the turn did not come, with
 * the reason in `f` (`busy`, `gone` or `unseen`), and leaves the count of its waits in `i`.
 */
export const turnFunctions = `g() {
  for y in ${pathWord(doormenFolder)}/*/keys/"$n"; do
    y=\${y%/keys/*}
    y=\${y##*/}
    case $y in (*[!0-9]*) continue ;; esac
    c=http://127.0.0.1:$y/doorman/ask/$n
    x=$(${pathWord(tool.curl)} -q -s --noproxy '*' -m 1 "$c")
    case $x in ('' | *[!0-9]*) ;; (*) return 0 ;; esac
  done
  return 1
}
w() {
  i=0
  while :; do
    f=busy
    if ${pathWord(tool.mkdir)} ${turnLock} 2>/dev/null || {
      x=$(${pathWord(tool.stat)} -f %m ${turnLock} 2>/dev/null) && y=$(${pathWord(tool.date)} +%s) && x=$((y-x)) && [ "\${x#-}" -gt ${staleSeconds} ]
    }; then
      f=$({
        ${pathWord(tool.netstat)} -n -f inet -p tcp 2>/dev/null
        printf 'exit %s\\n' "$?"
      } | ${pathWord(tool.awk)} -v p="$q" '${inFlight}')
      [ -n "$f" ] || return 0
      ${pathWord(tool.rmdir)} ${turnLock} 2>/dev/null
    fi
    [ "$i" -lt "$1" ] || return 1
    i=$((i + 1))
    ${pathWord(tool.sleep)} 0.5
  done
}`;
