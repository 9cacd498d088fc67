import { setMaxListeners } from 'node:events';
import { openSession, type Session } from '../../apply/reach/session.ts';
import type { NodeWay } from '../../apply/reach/with-remote.ts';
import { pause } from '../../apply/run-timing.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, prose } from '../../model/text/prose.ts';
import { type RequestPattern, withoutRequests } from '../../node/endpoint/request-lines.ts';
import {
  type LogMark,
  type LogPart,
  mostPartBytes,
  parseLogParts,
  rankLogPartsCommand,
} from '../../rack/placement/observed/rank-log.ts';
import { limiter } from '../../remote/limit-parallel.ts';
import { diagnoseExit } from '../../remote/remote.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { showDiagnostics, waitingBytes } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';

/** Between two looks at a node that answers. */
const pauseMs = 1_000;
/** Before a node that was lost is tried again. */
const retryMs = 3_000;
/** No more is asked for while so much of the answer waits for a slow reader. */
const mostWaitingBytes = 1_048_576;
/** Base64 is a third longer than its bytes, and heads are short. */
const answerBytes = mostPartBytes * 2;

/** A node with the placements whose logs are wanted of it. */
interface FollowedNode {
  readonly way: NodeWay;
  readonly placements: readonly string[];
}

/** How a line of a rank is shown. */
interface FollowView {
  readonly isSimulated: boolean;
  /** How many lines of each log come first. */
  readonly lines: number;
  /** Which lines of a placement are not shown. */
  readonly requestPattern: (placement: string) => RequestPattern;
  /** Writes lines of a rank behind its name. */
  readonly show: (placement: string, node: NodeName, lines: readonly string[]) => void;
}

/**
 * Prints the end of the logs, then what comes to them, until the run is interrupted or nobody reads the answer any
 * more. Every node has one connection, and is asked for all its logs at once, once in a second.
 */
export async function followLogs(run: Run, nodes: readonly FollowedNode[], view: FollowView): Promise<ExitCode> {
  const signal = AbortSignal.any([run.signal, run.console.outClosed]);
  setMaxListeners(0, signal);
  const limit = limiter(run.options.parallel);
  await Promise.all(nodes.map((one) => followNode(one, { run, view, signal, limit })));
  return exitOfSignal(run.signal) ?? exitCode.done;
}

interface Watch {
  readonly run: Run;
  readonly view: FollowView;
  readonly signal: AbortSignal;
  readonly limit: ReturnType<typeof limiter>;
}

/** How far one log was read. */
interface Followed {
  readonly placement: string;
  readonly reader: LineReader;
  mark: LogMark | undefined;
  /** What was said last of why there is nothing to read. */
  told: string;
}

async function followNode({ way, placements }: FollowedNode, watch: Watch): Promise<void> {
  const { run, signal } = watch;
  const session = openSession(way, { ...useLimits(run), retryMs: 0 });
  const close = (): void => session.close();
  signal.addEventListener('abort', close, { once: true });
  const logs = placements.map(
    (placement): Followed => ({ placement, reader: lineReader(), mark: undefined, told: '' }),
  );
  let lostBy = '';
  while (!signal.aborted) {
    const looked = await watch.limit(() => lookAt(session, logs, run.options.deadline));
    if (signal.aborted) break;
    if (looked.kind === 'lost') {
      if (looked.problem.code !== lostBy) tellLost(looked.problem, way.node, watch);
      lostBy = looked.problem.code;
      session.forget();
      await pause(retryMs, signal);
      continue;
    }
    if (lostBy !== '') run.console.err(`${way.node}: answers again\n`);
    lostBy = '';
    for (const part of looked.parts) take(part, logs, way.node, watch);
    do {
      await pause(looked.parts.some(isFull) ? 0 : pauseMs, signal);
    } while (waitingBytes() > mostWaitingBytes && !signal.aborted);
  }
  signal.removeEventListener('abort', close);
  session.close();
  for (const { placement, reader } of logs) show(watch.view, { placement, node: way.node }, reader.end());
}

const isFull = (part: LogPart): boolean => part.kind === 'part' && part.bytes.length === mostPartBytes;

type Looked =
  | { readonly kind: 'seen'; readonly parts: readonly LogPart[] }
  | { readonly kind: 'lost'; readonly problem: Diagnostic };

async function lookAt(session: Session, logs: readonly Followed[], deadlineMs: number): Promise<Looked> {
  const wishes = logs.map(({ placement, mark }) => ({ placement, ...given({ mark }) }));
  const answer = await session.ask((rootPrefix) => ({
    name: 'rank-log',
    command: rankLogPartsCommand(wishes, rootPrefix),
    deadlineMs,
    maxBytes: answerBytes * logs.length,
  }));
  if (answer.kind === 'unreached') return { kind: 'lost', problem: answer.diagnostics[0] };
  const { exit, stdout } = answer.result;
  const broken = diagnoseExit(session.node, exit);
  if (broken !== undefined) return { kind: 'lost', problem: broken };
  const parts = isSuccess(exit) ? parseLogParts(new TextDecoder().decode(stdout)) : undefined;
  return parts === undefined
    ? { kind: 'lost', problem: cannotRead(session.node, `the command that reads logs ended with ${exitText(exit)}`) }
    : { kind: 'seen', parts };
}

const cannotRead = (node: NodeName, why: string): Diagnostic =>
  diagnose('logs/cannot-read', { detail: prose`${labelled(node)}${why}.`, subject: nodeSubject(node) });

function tellLost(problem: Diagnostic, node: NodeName, { run }: Watch): void {
  showDiagnostics(run.console, [problem]);
  run.console.err(`${node}: is tried again every ${retryMs / 1_000} s\n`);
}

/** Where lines come from. */
interface From {
  readonly placement: string;
  readonly node: NodeName;
}

/** Shows what came of one log, and notes how far it was read. */
function take(part: LogPart, logs: readonly Followed[], node: NodeName, watch: Watch): void {
  const log = logs.find(({ placement }) => placement === part.placement);
  if (log === undefined) return;
  const { run, view } = watch;
  if (part.kind !== 'part') {
    if (log.told !== part.kind) tellMissing(part, node, run);
    log.told = part.kind;
    return;
  }
  log.told = '';
  const isFirst = log.mark === undefined;
  if (log.mark !== undefined && part.from < log.mark.bytes) {
    show(view, { placement: log.placement, node }, log.reader.end());
    run.console.err(`${node}: the log of ${log.placement} began anew\n`);
  }
  const lines = log.reader.add(part.bytes);
  log.mark = part.mark;
  // The last piece of a long log begins in the middle of a line.
  const whole = isFirst && part.from > 0 ? lines.slice(1) : lines;
  show(view, { placement: log.placement, node }, whole, isFirst ? view.lines : whole.length);
}

/** Shows lines without requests; at most so many of them, the last ones. */
function show(view: FollowView, { placement, node }: From, lines: readonly string[], most = lines.length): void {
  const shown = withoutRequests(lines, view.requestPattern(placement));
  view.show(placement, node, shown.slice(Math.max(0, shown.length - most)));
}

function tellMissing({ kind, placement }: LogPart, node: NodeName, { console }: Run): void {
  if (kind === 'none') console.err(`${node}: ${placement} has no log; it is waited for\n`);
  else showDiagnostics(console, [cannotRead(node, `the log of ${placement} is no file that this user may read`)]);
}
/** Longer lines than this are cut in two: a rank may print without end. */
const longestLine = 65_536;

/** Makes lines of bytes that come in pieces. */
interface LineReader {
  /** The lines that these bytes end. */
  readonly add: (bytes: Uint8Array) => readonly string[];
  /** What stands behind the last line break, when no more will come. The next bytes begin anew. */
  readonly end: () => readonly string[];
}

/** A reader of UTF-8, whose characters may be torn between two pieces. */
export function lineReader(): LineReader {
  let decoder = new TextDecoder();
  let rest = '';
  return {
    add: (bytes) => {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      const last = lines.pop() ?? '';
      const whole = Math.floor(last.length / longestLine) * longestLine;
      rest = last.slice(whole);
      const long = whole === 0 ? [] : cut(last.slice(0, whole));
      return [...lines.flatMap(cut), ...long].map((line) => line.replace(/\r$/, ''));
    },
    end: () => {
      const left = rest + decoder.decode();
      decoder = new TextDecoder();
      rest = '';
      return left === '' ? [] : [left];
    },
  };
}

function cut(line: string): readonly string[] {
  const count = Math.max(1, Math.ceil(line.length / longestLine));
  return Array.from({ length: count }, (_, at) => line.slice(at * longestLine, (at + 1) * longestLine));
}
