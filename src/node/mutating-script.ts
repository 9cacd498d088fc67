import { historyWords, type ScriptNote } from './history.ts';
import { below, pathWord, place, tool } from './paths/node-paths.ts';
import { quote } from './quote.ts';
import { busyMark, type Fence, isScript, leaseLostExit, rootScript } from './root-script.ts';

/** One sending of a script that is sent again when its connection drops. */
export interface Sending {
  /** The same for all sendings of the script, and for no other one: hexadecimal digits. */
  readonly key: string;
  /** From 1 on. */
  readonly attempt: number;
}

/** One change of one node. */
export interface MutatingRequest {
  /** Empty on a Mac, the node's folder in the portable simulator. */
  readonly rootPrefix: string;
  readonly fence: Fence;
  readonly note: ScriptNote;
  /** Left out where the script is sent once at most. */
  readonly sending?: Sending;
  /** Whether it settles a change of the network that another run has left unconfirmed: no other script goes past one. */
  readonly isSettling?: boolean;
  /** Whether nothing of us is on the node behind it: then nothing is written there any more. */
  readonly isLast?: boolean;
  /** Lines of sh that end in `changed`, `unchanged` or `failed SLUG TEXT`; see registry.ts and its like. */
  readonly body: string;
}

/** The exit of a script that was turned away because a network change of another run is to be settled first. */
export const rollbackPendingExit = 74;

/** `unsettled FOLDER`: whether a change of the network of another run lies there. */
const unsettled = ({ run, token }: Fence): string => `unsettled() {
  [ -d "$1" ] || return 1
  u='' q=''
  [ ! -e "$1/about" ] || while IFS= read -r x; do
    case $x in (run=*) u=\${x#*=} ;; (token=*) q=\${x#*=} ;; esac
  done <"$1/about"
  [ "$u" != ${quote(run)} ] || [ "$q" != ${token} ]
}`;

const settledFirst = `if unsettled ${pathWord(below(place.rollback, 'pending'))} || unsettled ${pathWord(below(place.rollback, 'rolling'))}; then
  ${pathWord(tool.rm)} -f "$k"
  printf '@failed rollback-pending run %s changed the network and has not confirmed it\\n' "$u" >&2
  exit ${rollbackPendingExit}
fi
`;

/**
 * Lets the attempts of a script run one after another: the end of a connection ends no script. An attempt waits for
 * earlier ones that still run, and does nothing when a later one has begun. Its own mark comes first, so that of two
 * attempts that begin together at least one sees the other.
 */
function oneAtATime({ key, attempt }: Sending): string {
  const numbers = Array.from({ length: attempt - 1 }, (_, at) => at + 1);
  const own = numbers.map((at) => `{ true >"$b/lease/again.${key}.${at + 1}"; } 2>/dev/null\n`);
  const earlier = numbers.map((at) => `"$b/${busyMark}${key}.${at}."*`);
  const wait = `${isScript}
for e in ${earlier.join(' ')}; do
  while [ -e "$e" ] && isscript "$e"; do ${pathWord(tool.sleep)} 0.1; done
done
`;
  return `${own.join('')}[ ! -e "$b/lease/again.${key}.${attempt + 1}" ] || {
  ${pathWord(tool.rm)} -f "$k"
  exit ${leaseLostExit}
}
${earlier.length > 0 ? wait : ''}`;
}

const historyLines = (words: string): string => `${pathWord(tool.mkdir)} -p "$b/log"
printf 'at=%s %s result=%s\\n' "$(${pathWord(tool.date)} -u +%s)" ${quote(words)} "$v" >>"$b/log/history"
`;

/**
 * The text for the standard input of `mutatingCommand`: it checks that the lease is held by exactly this run and
 * token (else exit 75), runs the body without input, appends one line to the history of the node, and prints what the
 * body printed, whose last line is the verdict. A verdict of failure is a line on stderr, with exit 1. Before it looks
 * at the lease it leaves a mark in it, which keeps the lease from others until the script has ended: a controller that
 * dies does not end it.
 */
export function mutatingScript({
  rootPrefix,
  fence,
  note,
  sending,
  body,
  isSettling = false,
  isLast = false,
}: MutatingRequest): string {
  const words = historyWords(note, fence);
  return rootScript(
    rootPrefix,
    `fence() {
  [ -r "$b/lease/owner" ] || return 1
  r='' t=''
  while IFS= read -r x; do
    case $x in (run=*) r=\${x#*=} ;; (token=*) t=\${x#*=} ;; esac
  done <"$b/lease/owner"
  [ "$r" = ${quote(fence.run)} ] && [ "$t" = ${fence.token} ]
}
${isSettling ? '' : `${unsettled(fence)}\n`}body() {
${body}
}
k="$b/${busyMark}${sending ? `${sending.key}.${sending.attempt}.` : ''}$$"
{ true >"$k"; } 2>/dev/null
${sending ? oneAtATime(sending) : ''}fence || {
  ${pathWord(tool.rm)} -f "$k"
  exit ${leaseLostExit}
}
${isSettling ? '' : settledFirst}o=$(body)
s=$?
case $s:$o in (0:*@changed) v=changed ;; (0:*@unchanged) v=unchanged ;; (*) v=failed ;; esac
${isLast ? '' : historyLines(words)}${pathWord(tool.rm)} -f "$k"
printf '%s\\n' "$o"
[ "$s" -eq 0 ] || exit 1`,
  );
}
