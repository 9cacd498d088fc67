import type { Session } from '../../apply/reach/session.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import { escapeLines } from '../../diagnostics/escape.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { LaunchGroup } from '../../drivers/launch-group.ts';
import { type Exit, exitText, type NodePath } from '../../model/probe.ts';
import { renderPath } from '../../node/paths/node-paths.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { type LaunchAccount, launchRankCommand, launchRankScript } from '../../rack/placement/start/launch-rank.ts';
import { type Console, showDiagnostics } from '../terminal/console.ts';

/** How the ranks of one's own program came out; a bug is kept until what was stopped for them runs again. */
export type RanksEnd =
  | { readonly kind: 'ended'; readonly status: number }
  | { readonly kind: 'bug'; readonly error: unknown };

/** The status where nobody knows, as ssh has it. */
const unknownStatus = 255;

/** Runs ranks and never rejects: a problem is shown, and its status, as that of ranks whose lease was lost, is 255. */
export async function endOfRanks(
  console: Console,
  lost: AbortSignal,
  ranks: (ending: AbortSignal) => Promise<number>,
): Promise<RanksEnd> {
  try {
    const status = await ranks(lost);
    if (!lost.aborted) return { kind: 'ended', status };
    console.err('launch: another run took the lease of a Mac; the ranks are ended\n');
    return { kind: 'ended', status: unknownStatus };
  } catch (error) {
    if (!(error instanceof FleetError)) return { kind: 'bug', error };
    showDiagnostics(console, error.diagnostics);
    return { kind: 'ended', status: unknownStatus };
  }
}

/** Ranks that are to run together. */
interface LaunchRun {
  /** In rank order. */
  readonly sessions: readonly Session[];
  readonly group: LaunchGroup;
  /** The account that runs them; absent is the ssh user. */
  readonly account?: LaunchAccount;
  readonly folder: NodePath;
  /** The words of a rank; `file` gives the path of one of the files of the run. */
  readonly words: (rank: number, file: (name: string) => string) => readonly string[];
  readonly console: Console;
  /** Ends all ranks. */
  readonly signal: AbortSignal;
}

const longestMs = 2 ** 31 - 1;
/** Longer than a rank has to end: whatever then still holds the connection is left behind. */
const giveUpMs = 20_000;
/** What a rank prints is shown as it comes; beyond this it is ended. */
const maxBytes = 67_108_864;
/** A line that does not end is shown in pieces. */
const longestLine = 16_384;

/**
 * Runs all ranks at once, shows what they print behind their numbers, and ends all others when one ends badly or its
 * connection breaks.
 * @returns the worst exit status: of the ranks that ended by themselves, 128 and more for a signal, 255 for one of which
 * nobody knows; 0 when all ended well
 */
export async function launchRanks(run: LaunchRun): Promise<number> {
  const ending = new AbortController();
  let givingUp: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    ending.signal.addEventListener('abort', () => resolve(), { once: true });
  }).then(() => {
    givingUp = setTimeout(() => closeAll(run.sessions), giveUpMs);
  });
  const end = (): void => ending.abort();
  run.signal.addEventListener('abort', end, { once: true });
  if (run.signal.aborted) end();
  const statuses = await Promise.all(
    run.sessions.map(async (session, rank) => {
      const exit = await runRank(run, session, rank, over);
      const isOurs = ending.signal.aborted;
      const status = statusOf(exit);
      if (status !== 0) {
        if (!isOurs) tellEnd(run, prefixOf(run, session, rank), exit);
        end();
      }
      return isOurs ? 0 : status;
    }),
  );
  run.signal.removeEventListener('abort', end);
  clearTimeout(givingUp);
  return Math.max(0, ...statuses);
}

function closeAll(sessions: readonly Session[]): void {
  for (const session of sessions) session.close();
}

async function runRank(run: LaunchRun, session: Session, number: number, over: Promise<void>): Promise<Exit> {
  const { account, group, folder, console } = run;
  const prefix = prefixOf(run, session, number);
  const out = lineWriter(`${prefix} | `, (text) => console.out(text));
  const err = lineWriter(`${prefix} ! `, (text) => console.err(text));
  const asked = await session.ask((rootPrefix) => {
    const file = (name: string): string => `${renderPath(folder, rootPrefix)}/${name}`;
    const words = run.words(number, file);
    const environment = group.environment(number, file);
    const rank = { rootPrefix, folder, files: group.files, environment, words };
    const limits = {
      name: 'launch',
      deadlineMs: longestMs,
      maxBytes,
      onOutput: (stream: 'stdout' | 'stderr', piece: Uint8Array) => (stream === 'stdout' ? out : err).take(piece),
    };
    if (account === undefined || account.name === session.user) {
      return { ...limits, command: launchRankCommand(rank), stdin: openUntil(over) };
    }
    const script = launchRankScript(rank, account);
    return { ...limits, command: mutatingCommand(rootPrefix), script, stdin: openUntil(over, script) };
  });
  out.end();
  err.end();
  if (asked.kind === 'ended') return asked.result.exit;
  console.err(`${prefix} ! ${plainText(asked.diagnostics[0].detail)}\n`);
  return { kind: 'unknown', why: 'no-channel', reason: plainText(asked.diagnostics[0].detail) };
}

const prefixOf = ({ console }: LaunchRun, { node }: Session, rank: number): string =>
  `${console.isSimulated ? 'simulated ' : ''}rank ${rank} ${node}`;

/** The line by which ranks live: behind a script nothing comes over it, and they end with it. */
function openUntil(over: Promise<void>, script = ''): AsyncIterable<Uint8Array> {
  const pieces = script === '' ? [] : [Buffer.from(script)];
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const value = pieces.shift();
    if (value !== undefined) return { done: false, value };
    await over;
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

function statusOf(exit: Exit): number {
  if (exit.kind === 'exited') return exit.code;
  return exit.kind === 'signalled' ? 128 : 255;
}

function tellEnd({ sessions, console }: LaunchRun, prefix: string, exit: Exit): void {
  const others = sessions.length > 1 ? '; the others are ended' : '';
  console.err(`${prefix} ! ${exitText(exit)}${others}\n`);
}

/** Writes whole lines, each behind a prefix. */
function lineWriter(prefix: string, write: (text: string) => void) {
  const decoder = new TextDecoder();
  let open = '';
  const show = (lines: readonly string[]): void =>
    write(lines.map((line) => `${prefix}${escapeLines(line)}\n`).join(''));
  return {
    take: (piece: Uint8Array): void => {
      const lines = `${open}${decoder.decode(piece, { stream: true })}`.split('\n');
      open = lines.pop() ?? '';
      if (open.length > longestLine) lines.push(open.slice(0, longestLine));
      open = open.length > longestLine ? open.slice(longestLine) : open;
      if (lines.length > 0) show(lines);
    },
    end: (): void => {
      if (open !== '') show([open]);
      open = '';
    },
  };
}
