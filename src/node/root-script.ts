import { type Answer, exitText } from '../model/probe.ts';
import { below, pathWord, place, renderPath, rootLine, shellCommand, tool } from './paths/node-paths.ts';
import { quote } from './quote.ts';
import { sh } from './shell/scripts.generated.ts';
import { classifySudo } from './sudo-answer.ts';

export interface ScriptNote {
  readonly step: string;
  readonly verb: string;
  /** `user@host` of the controller. */
  readonly by: string;
  /** Digest of the resolved file. */
  readonly config: string;
}

/** Script results. The node itself writes the last two, for a network change that was not confirmed. */
const results = ['changed', 'unchanged', 'failed', 'rolled-back', 'partly-rolled-back'] as const;

export type HistoryEntry = NonNullable<ReturnType<typeof entryOf>>;

/** Escapes special characters as `%XX`, so that the text is one word. */
const word = (text: string): string => encodeURIComponent(text).replaceAll(/[!'()*]/g, percent);
const percent = (one: string): string => `%${one.charCodeAt(0).toString(16).toUpperCase()}`;

/** The words of a history line that are known before the script runs. */
export const historyWords = ({ step, verb, by, config }: ScriptNote, { run, token }: Fence): string =>
  Object.entries({ run, token, step, verb, by, config })
    .map(([name, value]) => `${name}=${word(String(value))}`)
    .join(' ');

/** Prints the last lines of a node's history, as the ssh user; nothing if there is no history. */
export const historyCommand = (rootPrefix: string, maxLines: number): string =>
  shellCommand(`${rootLine(rootPrefix)}
f=${pathWord(below(place.log, 'history'))}
[ ! -e "$f" ] || exec ${pathWord(tool.tail)} -n ${maxLines} "$f"`);

/** The entries of a history, oldest first. Unreadable lines are skipped, because a full disk may have cut one short. */
export const parseHistory = (text: string): readonly HistoryEntry[] =>
  text.split('\n').flatMap((line) => entryOf(line) ?? []);

function entryOf(line: string) {
  const form =
    /^at=(\d{1,12}) run=(\S+) token=(\d{1,15}) step=(\S*) verb=(\S*) by=(\S*) config=(\S*) result=([a-z-]+)$/;
  const [, at = '', run = '', token = '', step = '', verb = '', by = '', config = '', said] = form.exec(line) ?? [];
  const result = results.find((one) => one === said);
  if (result === undefined) return undefined;
  try {
    const plain = decodeURIComponent;
    const texts = { run: plain(run), step: plain(step), verb: plain(verb), by: plain(by), config: plain(config) };
    return { atEpochSeconds: Number(at), token: Number(token), result, ...texts };
  } catch {
    return undefined;
  }
}

/** The exit status of a command on a node, and its output as text. */
export type ScriptEnd = Pick<Answer, 'exit' | 'stdout' | 'stderr'>;

export type ScriptResult =
  /** `said` are the lines before the verdict, such as `ended=clean`. */
  | { readonly kind: 'done'; readonly isChanged: boolean; readonly said: readonly string[] }
  /** This run and token do not have the lease; nothing was changed. */
  | { readonly kind: 'lease-lost' }
  /** `slug` is from the script's closed list, `text` is the output of the failed tool. */
  | { readonly kind: 'failed'; readonly slug: string; readonly text: string }
  /** Neither success nor failure is certain; only a new observation can tell. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Parses the result of a mutating script. Exit 0 without a verdict is as inconclusive as a lost connection. */
export function readScriptResult({ exit, stdout, stderr }: ScriptEnd): ScriptResult {
  if (exit.kind !== 'exited') return { kind: 'unknown', reason: exitText(exit) };
  if (exit.code === leaseLostExit) return { kind: 'lease-lost' };
  const failure = lastFailure(stderr);
  if (exit.code === 0) {
    const said = stdout.split('\n').filter((line) => line !== '');
    const verdict = said.at(-1);
    if (verdict !== '@changed' && verdict !== '@unchanged') {
      return { kind: 'unknown', reason: 'the script exited with 0, but without a verdict' };
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

/** Whether a tool on a node failed because its disk is full: the message of ENOSPC in the C locale. */
export const saysDiskFull = (stderr: string): boolean => stderr.includes('No space left on device');

const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? 'no output';

/** A run's right to change a node: the run and the token of its lease there. */
export interface Fence {
  readonly run: string;
  readonly token: number;
}

/** The mark of a script that runs under the lease, below meshwright's folder; its PID follows. */
const busyMark = 'lease/busy.';

/** Exit code of a script whose run does not have the lease and that changed nothing. */
export const leaseLostExit = 75;

/**
 * The command line for exec that becomes root and reads a script from standard input. It is the only form in which
 * meshwright asks for root, so that sudoers can allow exactly this.
 */
export function mutatingCommand(rootPrefix: string): string {
  const [sudo, sh] = [tool.sudo, tool.sh].map((path) => quote(renderPath(path, rootPrefix)));
  return `export LC_ALL=C; exec ${sudo} -n ${sh} -s`;
}

export const environmentLines = `export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 022`;

const rootPrologue = (rootPrefix: string): string => `${rootLine(rootPrefix)}
${environmentLines}
b=${pathWord(place.ours)}
${sh.write({})}
trap '' HUP PIPE`;

/**
 * A whole script for root. A pair of braces encloses the whole script, so that a partially transmitted script does
 * nothing. Its tools cannot read its text, and a lost connection does not stop it halfway.
 */
export const rootScript = (rootPrefix: string, body: string): string => `{
${rootPrologue(rootPrefix)}
${body}
} </dev/null
`;

/** One attempt to send a script that is sent again if its connection drops. */
export interface Sending {
  /** Hexadecimal digits that are unique to the script and the same for all its attempts. */
  readonly key: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

interface MutatingRequest {
  /** Empty on a Mac, the node's folder in the portable simulator. */
  readonly rootPrefix: string;
  readonly fence: Fence;
  readonly note: ScriptNote;
  /** Absent if the script is sent at most once. */
  readonly sending?: Sending;
  /** Whether the script settles another run's unconfirmed network change. Others refuse to run before that. */
  readonly isSettling?: boolean;
  /** Whether nothing of meshwright remains on the node afterwards; then the script writes nothing more. */
  readonly isLast?: boolean;
  /** Lines of sh that end in `changed`, `unchanged` or `failed SLUG TEXT`; src/engine/scripts/registry.ts lists all. */
  readonly body: string;
}

/** Exit code of a script that was refused because another run's network change must be settled first. */
export const transactionPendingExit = 74;

/** `unsettled FOLDER` tests whether the folder contains another run's network change. */
const unsettled = ({ run, token }: Fence): string => `unsettled() {
  [ -d "$1" ] || return 1
  u='' q=''
  [ ! -e "$1/about" ] || while IFS= read -r x; do
    case $x in (run=*) u=\${x#*=} ;; (token=*) q=\${x#*=} ;; esac
  done <"$1/about"
  [ "$u" != ${quote(run)} ] || [ "$q" != ${token} ]
}`;

const settledFirst = `if unsettled ${pathWord(below(place.transaction, 'pending'))} || unsettled ${pathWord(below(place.transaction, 'rolling'))}; then
  ${pathWord(tool.rm)} -f "$k"
  printf '@failed transaction-pending run %s changed the network and has not confirmed it\\n' "$u" >&2
  exit ${transactionPendingExit}
fi
`;

/**
 * Runs the attempts of a script one after another, because a lost connection does not stop a script. An attempt waits
 * for earlier attempts, and does nothing if a later attempt has started. It writes its own mark first, so that of two
 * simultaneous attempts at least one sees the other.
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
 * The standard input for `mutatingCommand`. It checks that exactly this run and token have the lease (otherwise exit
 * 75), runs the body without input, appends one line to the node's history, and prints the body's output, whose last
 * line is the verdict. A failure is a line on stderr with exit 1. Before it checks the lease, it leaves a mark there,
 * which blocks other runs until the script has finished, even if its controller dies.
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
