import { type Exit, exitText } from '../model/probe.ts';
import { below, pathWord, place, renderPath, rootLine, shellCommand, tool } from './paths/node-paths.ts';
import { quote } from './quote.ts';
import { sh } from './shell/scripts.generated.ts';
import { classifySudo } from './sudo-answer.ts';

/** What a mutating script is for, kept in the history of the node. */
export interface ScriptNote {
  readonly step: string;
  readonly verb: string;
  /** `user@host` of the controller. */
  readonly by: string;
  /** Hash of the settled file. */
  readonly config: string;
}

const results = ['changed', 'unchanged', 'failed', 'rolled-back', 'partly-rolled-back'] as const;

/** How a script ended, or what became of a change that was taken back. */
type HistoryResult = (typeof results)[number];

/** One line of the history of a node. */
export interface HistoryEntry extends ScriptNote {
  /** By the node's own clock. */
  readonly atEpochSeconds: number;
  readonly run: string;
  readonly token: number;
  /** The last two are of the node itself, for a change of its network that nobody confirmed. */
  readonly result: HistoryResult;
}

/** One word: what is no plain character is written as `%XX`. */
const word = (text: string): string => encodeURIComponent(text).replaceAll(/[!'()*]/g, percent);
const percent = (one: string): string => `%${one.charCodeAt(0).toString(16).toUpperCase()}`;

/** The words of a line of the history that are known before the script runs. */
export const historyWords = ({ step, verb, by, config }: ScriptNote, { run, token }: Fence): string =>
  Object.entries({ run, token, step, verb, by, config })
    .map(([name, value]) => `${name}=${word(String(value))}`)
    .join(' ');

/** The command that prints the last lines of the history of a node, as the ssh user; nothing where there is none. */
export const historyCommand = (rootPrefix: string, maxLines: number): string =>
  shellCommand(`${rootLine(rootPrefix)}
f=${pathWord(below(place.log, 'history'))}
[ ! -e "$f" ] || exec ${pathWord(tool.tail)} -n ${maxLines} "$f"`);

/** The entries of a history, oldest first. Lines that cannot be read are left out: a full disk may have cut one. */
export const parseHistory = (text: string): readonly HistoryEntry[] =>
  text.split('\n').flatMap((line) => entryOf(line) ?? []);

function entryOf(line: string): HistoryEntry | undefined {
  const form =
    /^at=(\d{1,12}) run=(\S+) token=(\d{1,15}) step=(\S*) verb=(\S*) by=(\S*) config=(\S*) result=([a-z-]+)$/;
  const [, at = '', run = '', token = '', step = '', verb = '', by = '', config = '', said] = form.exec(line) ?? [];
  const result = results.find((one) => one === said);
  if (result === undefined) return undefined;
  try {
    const texts = { run: plain(run), step: plain(step), verb: plain(verb), by: plain(by), config: plain(config) };
    return { atEpochSeconds: Number(at), token: Number(token), result, ...texts };
  } catch {
    return undefined;
  }
}

const plain = (text: string): string => decodeURIComponent(text);

/** What is left of a command on a node: how it ended and what it printed, as text. */
export interface ScriptEnd {
  readonly exit: Exit;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a mutating script ended. */
export type ScriptResult =
  /** `said` are the lines before the verdict, such as `ended=clean`. */
  | { readonly kind: 'done'; readonly isChanged: boolean; readonly said: readonly string[] }
  /** The lease is not held by this run and token; nothing was changed. */
  | { readonly kind: 'lease-lost' }
  /** `slug` is one of a closed list of words by script, `text` the words of the tool that failed. */
  | { readonly kind: 'failed'; readonly slug: string; readonly text: string }
  /** Neither success nor failure: only a fresh observation tells. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Reads the end of a mutating script. An exit of 0 without a verdict is believed as little as a lost connection. */
export function readScriptResult({ exit, stdout, stderr }: ScriptEnd): ScriptResult {
  if (exit.kind !== 'exited') return { kind: 'unknown', reason: exitText(exit) };
  if (exit.code === leaseLostExit) return { kind: 'lease-lost' };
  const failure = lastFailure(stderr);
  if (exit.code === 0) {
    const said = stdout.split('\n').filter((line) => line !== '');
    const verdict = said.at(-1);
    if (verdict !== '@changed' && verdict !== '@unchanged') {
      return { kind: 'unknown', reason: 'it ended with 0 and without a verdict' };
    }
    return { kind: 'done', isChanged: verdict === '@changed', said: said.slice(0, -1) };
  }
  if (failure !== undefined) return { kind: 'failed', ...failure };
  const sudo = classifySudo(exit, stderr);
  if (sudo !== 'other' && sudo !== 'allowed') return { kind: 'failed', slug: `sudo-${sudo}`, text: firstLine(stderr) };
  return { kind: 'failed', slug: 'unexpected-exit', text: `${exitText(exit)}: ${firstLine(stderr)}` };
}

function lastFailure(stderr: string): { readonly slug: string; readonly text: string } | undefined {
  const last = [...stderr.matchAll(/^@failed ([a-z][a-z0-9-]{0,63}) (.*)$/gm)].at(-1);
  return last === undefined ? undefined : { slug: last[1] ?? '', text: last[2] ?? '' };
}

const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? 'without a word';

/** Whether a tool on a node failed because its disk is full: the words of ENOSPC in the C locale. */
export const saysDiskFull = (stderr: string): boolean => stderr.includes('No space left on device');

/** The right of one run to change a node: the run and the token under which it holds the lease there. */
export interface Fence {
  readonly run: string;
  readonly token: number;
}

/** The mark of a script that runs under the lease, below the folder of meshwright; its process number comes last. */
const busyMark = 'lease/busy.';

/** The exit of a script whose run does not hold the lease (any more). Nothing was changed. */
export const leaseLostExit = 75;

/**
 * The command line for an exec request that becomes root and reads a script from standard input: the one form in
 * which root is asked for, so that sudoers can allow exactly this.
 */
export function mutatingCommand(rootPrefix: string): string {
  const [sudo, sh] = [tool.sudo, tool.sh].map((path) => quote(renderPath(path, rootPrefix)));
  return `export LC_ALL=C; exec ${sudo} -n ${sh} -s`;
}

const rootPrologue = (rootPrefix: string): string => `${rootLine(rootPrefix)}
export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 022
b=${pathWord(place.ours)}
${sh.write({})}
trap '' HUP PIPE`;

/**
 * A whole script that runs as root. All of it stands in one pair of braces, so that a script of which only a part
 * arrives does nothing; the tools in it do not read its text; the end of the connection does not stop it half way.
 */
export const rootScript = (rootPrefix: string, body: string): string => `{
${rootPrologue(rootPrefix)}
${body}
} </dev/null
`;

/** One sending of a script that is sent again when its connection drops. */
export interface Sending {
  /** The same for all sendings of the script, and for no other one: hexadecimal digits. */
  readonly key: string;
  /** From 1 on. */
  readonly attempt: number;
}

/** One change of one node. */
interface MutatingRequest {
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
  /** Lines of sh that end in `changed`, `unchanged` or `failed SLUG TEXT`; src/engine/scripts/registry.ts has all. */
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
  const wait = `${sh.isScript({})}
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
