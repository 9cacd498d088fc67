import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type CommandOutcome, type NodeTarget, openSession, type Session } from '../../apply/reach/session.ts';
import { pause } from '../../apply/run-timing.ts';
import { everyNode } from '../../desired/layouts.ts';
import { placementsFor } from '../../desired/replicas.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeLines } from '../../diagnostics/escape.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { type FailingRank, firstFailingRank, type RankSaid } from '../../drivers/classify-log.ts';
import { driverOf, requestPatternOf } from '../../drivers/registry.ts';
import { unreachedOf } from '../../engine/plan/view.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { labelled, type Prose, prose } from '../../model/text/prose.ts';
import { requestRemover } from '../../node/endpoint/request-lines.ts';
import { failingRankFinding } from '../../rack/placement/mesh/failing-rank-finding.ts';
import {
  type LogMark,
  type LogPart,
  mostPartBytes,
  parseLogParts,
  parseRankReport,
  rankLogCommand,
  rankLogPartsCommand,
  rankReportCommand,
} from '../../rack/placement/observed/rank-log-script.ts';
import { limiter } from '../../remote/limit-parallel.ts';
import { forMany } from '../../remote/on-abort.ts';
import { diagnoseExit } from '../../remote/remote.ts';
import { gatherAlike } from '../../report/findings.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { placementsNamed } from '../cluster/targets.ts';
import { codeForNodes, type ExitCode, exitCode } from '../exit-codes.ts';
import { answerText, askNodes, isAnswered, outcomeDiagnostics } from '../look/observe-fleet.ts';
import { diagnosticsJson, type Ended, showDiagnostics, waitingBytes } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { useLimits } from '../use-limits.ts';
import { type Run, readCountOption, usageError, type VerbBody } from '../verb.ts';
import { type ElsewhereRank, findElsewhere, fleetAsItRuns } from './where-they-run.ts';

const usualLines = 40;
/** The exit code that the node's command uses if there is no log. */
const noLogExit = 66;

interface RankTail {
  readonly placement: string;
  readonly outcome: CommandOutcome;
}

/** `logs PLACEMENT|NODE…`: the last log lines of ranks, or new ones with `--follow`, and which rank failed first. */
export const logs: VerbBody = async (run) => {
  const lines = readCountOption(run, 'lines') ?? usualLines;
  refuseShortFollow(run);
  const cluster = openCluster(run);
  wantedRanks(run.words, mayRunAnywhere(cluster.fleet));
  const ways = openTargets(run, cluster);
  const fleet = await fleetAsItRuns(run, cluster, ways);
  const wanted = wantedRanks(run.words, fleet);
  const elsewhere = await findElsewhere(run, { fleet, ways }, wanted);
  if (run.own['follow'] === true) return follow(run, wanted, { ways, lines, elsewhere, fleet });
  const tails: RankTail[] = [];
  const found: FoundRank[] = [];
  for (const { placement, nodes, elsewhere: others } of wanted) {
    const outcomes = await askNodes(run, { nodes, ways }, (_node, rootPrefix) => ({
      name: 'rank-log',
      command: rankLogCommand({ placement, lines, requestPattern: requestPatternOf(fleet, placement), rootPrefix }),
    }));
    tails.push(...outcomes.map((outcome) => ({ placement, outcome })));
    if (others.length === nodes.length) continue;
    const failing = await findFailingRank(run, { desired: fleet, ways }, placement);
    if (failing !== undefined) found.push(failing);
  }
  return logsEnded(run, tails, found, elsewhere);
};

/** Other tools use `-f` for follow; here it names the cluster file. */
function refuseShortFollow({ options: { file }, folder, words }: Run): void {
  if (file === undefined || existsSync(resolve(folder, file))) return;
  const hint = prose`To follow the logs: ${meshwright('logs', '--follow', ...[file, ...words])}`;
  throw usageError(`-f names the cluster file, but there is no file ${file}.`, hint);
}

interface Following {
  readonly ways: SshTargets;
  readonly lines: number;
  readonly elsewhere: readonly ElsewhereRank[];
  readonly fleet: DesiredFleet;
}

/** Prints last and new lines until interrupted or stdout is closed. Each node gets one request per second for all. */
async function follow(
  run: Run,
  wanted: readonly WantedRanks[],
  { ways, lines, elsewhere, fleet }: Following,
): Promise<ExitCode> {
  if (run.options.json) {
    throw usageError('--follow runs until Ctrl-C, so it cannot print one JSON document.', 'Leave out --json.');
  }
  showDiagnostics(run.console, elsewhere.map(earlierRank));
  const pairs = wanted.flatMap(({ placement, nodes }) => nodes.map((node) => ({ placement, node })));
  const names = pairs.map(({ placement, node }) => ({ placement, node: node.name }));
  const signal = forMany(AbortSignal.any([run.signal, run.console.outClosed]));
  const prefix = prefixer(run, names);
  const watch = { run, lines, fleet, prefix, signal, limit: limiter(run.options.parallel) };
  const nodeWays = await ways.toAll([...new Set(pairs.map(({ node }) => node))]);
  const placementsOn = (name: string) => names.filter(({ node }) => node === name).map(({ placement }) => placement);
  await Promise.all(nodeWays.map((way) => followNode(way, placementsOn(way.node), watch)));
  return exitOfSignal(run.signal) ?? exitCode.done;
}

interface RankName {
  readonly placement: string;
  readonly node: string;
}

/** Returns the prefix of a rank's lines: its node, and its placement if there are several; all have the same width. */
function prefixer({ console }: Run, all: readonly RankName[]): (placement: string, node: string) => string {
  const hasSeveral = new Set(all.map(({ placement }) => placement)).size > 1;
  const nameOf = ({ placement, node }: RankName): string =>
    `${console.isSimulated ? 'simulated ' : ''}${hasSeveral ? `${placement} ` : ''}${node}`;
  const width = Math.max(0, ...all.map((one) => nameOf(one).length));
  return (placement, node) => nameOf({ placement, node }).padEnd(width);
}

/** Reports that a placement now runs on other nodes, so that this node's log is from an earlier start. */
const earlierRank = ({ placement, node, words }: ElsewhereRank): Diagnostic =>
  diagnose('logs/elsewhere', { subject: nodeSubject(node), detail: words, hint: otherLogs(placement) });

const otherLogs = (placement: string): Prose => prose`To see the logs of its ranks: ${meshwright('logs', placement)}`;

function logsEnded(
  run: Run,
  tails: readonly RankTail[],
  found: readonly FoundRank[],
  elsewhere: readonly ElsewhereRank[],
): Ended {
  const diagnostics = [
    ...tails.flatMap((tail) => diagnosticsOf(tail, elsewhere)),
    ...found.map(({ finding }) => finding),
  ];
  const ranks = tails.flatMap(({ placement, outcome }) =>
    isAnswered(outcome) ? [{ placement, node: outcome.node, lines: linesOf(answerText(outcome)) }] : [],
  );
  const lost = tails.flatMap(({ outcome }) => (outcome.kind === 'unreached' ? [outcome.node] : []));
  const failures = Object.fromEntries(tails.map(({ outcome }) => [outcome.node, outcomeDiagnostics(outcome)]));
  const prefix = prefixer(
    run,
    tails.map(({ placement, outcome }) => ({ placement, node: outcome.node })),
  );
  const text = (rank: (typeof ranks)[number], line: string): string =>
    `${prefix(rank.placement, rank.node)} ${found.some((one) => isTelling(one, rank, line)) ? '!' : '|'} ${escapeLines(line)}\n`;
  return {
    exit: codeForNodes(tails.map(({ outcome }) => (isAnswered(outcome) ? 'fine' : 'unjudged'))),
    document: {
      ...documentHead(run.console),
      ranks: ranks.length === 0 && lost.length > 0 ? null : ranks,
      ...unreachedField(unreachedOf(lost, { failures })),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    },
    text: ranks.flatMap((rank) => rank.lines.map((line) => text(rank, line))).join(''),
    findings: gatherAlike(diagnostics),
  };
}

/** True if this line is the failure reason of the rank that failed first. */
const isTelling = ({ placement, failing }: FoundRank, rank: RankName, line: string): boolean =>
  placement === rank.placement && failing.said.node === rank.node && reasonLine(failing) === line;

const reasonLine = ({ said, failure }: FailingRank): string | undefined => failure && said.lines[failure.index];

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const hasNoLog = ({ outcome }: RankTail): boolean =>
  outcome.kind === 'ended' && outcome.result.exit.kind === 'exited' && outcome.result.exit.code === noLogExit;

function diagnosticsOf(tail: RankTail, elsewhere: readonly ElsewhereRank[]): readonly Diagnostic[] {
  const { placement, outcome } = tail;
  const other = elsewhere.find((one) => one.placement === placement && one.node === outcome.node);
  const subject = nodeSubject(outcome.node);
  if (!hasNoLog(tail)) return [...(other === undefined ? [] : [earlierRank(other)]), ...outcomeDiagnostics(outcome)];
  const detail = `${placement} has no log on ${outcome.node}.`;
  if (other === undefined) return [diagnose('logs/none', { detail, subject })];
  return [diagnose('logs/none', { detail: `${detail} ${other.words}`, subject, hint: otherLogs(placement) })];
}

/** The number of lines at the end of a log that are searched for a failure. */
const readLines = 200;

/** The placement's rank that failed first, and its diagnostic. */
interface FoundRank {
  readonly placement: string;
  readonly failing: FailingRank;
  readonly finding: Diagnostic;
}

/** Exit status and log of every rank since the last start. Undefined if none failed, or a silent one may be first. */
async function findFailingRank(
  run: Run,
  { desired, ways }: { readonly desired: DesiredFleet; readonly ways: SshTargets },
  name: string,
): Promise<FoundRank | undefined> {
  const placement = desired.placements.find((one) => one.name === name);
  const runtime = desired.runtimes.find((one) => one.name === placement?.runtime);
  if (placement === undefined || runtime === undefined) return undefined;
  const nodes = placement.nodes.flatMap((node) => desired.nodes.filter((one) => one.name === node));
  const { signatures, requestPattern } = driverOf(runtime);
  const outcomes = await askNodes(run, { nodes, ways }, (_node, rootPrefix) => ({
    name: 'rank-report',
    command: rankReportCommand({ placement: name, lines: readLines, requestPattern, rootPrefix }),
  }));
  const answered = outcomes.filter(isAnswered);
  if (answered.length < placement.nodes.length) return undefined;
  const ranks = answered.map(
    (outcome): RankSaid => ({
      node: outcome.node,
      rank: placement.nodes.indexOf(outcome.node),
      ...parseRankReport(answerText(outcome)),
    }),
  );
  const failing = firstFailingRank(signatures, ranks);
  return failing === undefined
    ? undefined
    : { placement: name, failing, finding: failingRankFinding(placement, failing, ranks, desired) };
}

/** The fleet before any observation, when a rank can be on any node of either layout. */
export const mayRunAnywhere = (fleet: DesiredFleet): DesiredFleet => ({
  ...fleet,
  placements: fleet.placements.map((one) => ({ ...one, nodes: everyNode(one) })),
});

interface WantedRanks {
  readonly placement: string;
  readonly nodes: readonly DesiredNode[];
  /** The nodes that are only in the other layout; their logs are from an earlier start. */
  readonly elsewhere: readonly NodeName[];
}

/**
 * The ranks named by the arguments, by placement in file order. A placement means all its ranks. A node means its ranks
 * in the running layouts or, if it has none, in other layouts. Without arguments, all placements are meant.
 * @throws FleetError `cli/usage` if the file or the node has no placements, `select/unknown-placement`
 */
export function wantedRanks(words: readonly string[], fleet: DesiredFleet): readonly WantedRanks[] {
  const all = fleet.placements.map(({ name }) => name);
  if (words.length === 0 && all.length === 0) {
    throw usageError(
      'The file has no placements.',
      'Add a placement to the file and apply it. See docs/cluster-yaml.md.',
    );
  }
  const pairs = (words.length === 0 ? all : words).flatMap((word) => ranksOf(word, fleet));
  return fleet.placements.flatMap(({ name, nodes: layout }): readonly WantedRanks[] => {
    const members = pairs.filter(({ placement }) => placement === name);
    const nodes = fleet.nodes.filter((node) => members.some((one) => one.node === node.name));
    const elsewhere = nodes.map((node) => node.name).filter((node) => !layout.includes(node));
    return nodes.length === 0 ? [] : [{ placement: name, nodes, elsewhere }];
  });
}

function ranksOf(word: string, fleet: DesiredFleet): readonly { readonly placement: string; readonly node: string }[] {
  const on = (one: Pick<DesiredPlacement, 'name' | 'nodes'>, isIncluded: (node: string) => boolean) =>
    one.nodes.filter(isIncluded).map((node) => ({ placement: one.name, node }));
  const isPlacement = placementsFor(word, fleet).length > 0;
  const isNode = fleet.nodes.some(({ name }) => name === word);
  if (isPlacement || !isNode) {
    return placementsNamed({ fleet }, word).flatMap((one) => on(one, () => true));
  }
  const ranksIn = ({ placements }: Pick<DesiredFleet, 'placements'>) =>
    placements.flatMap((one) => on(one, (node) => node === word));
  const here = ranksIn(fleet);
  const ranks = here.length > 0 ? here : ranksIn(mayRunAnywhere(fleet));
  if (ranks.length === 0) throw usageError(`No placement uses ${word}.`, 'Name a placement or a different node.');
  return ranks;
}

/** The poll interval for a node that answers. */
const pauseMs = 1_000;
/** The pause before a lost node is tried again. */
const retryMs = 3_000;
/** While a slow reader has this many bytes waiting, nothing more is read from the nodes. */
const mostWaitingBytes = 1_048_576;
/** Base64 is a third longer than the bytes it encodes, and headers are short. */
const answerBytes = mostPartBytes * 2;

interface Watch {
  readonly run: Run;
  /** The number of old lines shown first from each log. */
  readonly lines: number;
  readonly fleet: DesiredFleet;
  readonly prefix: (placement: string, node: string) => string;
  readonly signal: AbortSignal;
  readonly limit: ReturnType<typeof limiter>;
}

interface Followed {
  readonly placement: string;
  readonly reader: ReturnType<typeof lineReader>;
  readonly withoutRequests: ReturnType<typeof requestRemover>;
  mark: LogMark | undefined;
  /** The last reported reason why nothing could be read. */
  reported: string;
}

async function followNode(way: NodeTarget, placements: readonly string[], watch: Watch): Promise<void> {
  const { run, signal } = watch;
  const session = openSession(way, { ...useLimits(run), retryMs: 0 });
  const close = (): void => session.close();
  signal.addEventListener('abort', close, { once: true });
  const logs = placements.map(
    (placement): Followed => ({
      placement,
      reader: lineReader(),
      withoutRequests: requestRemover(requestPatternOf(watch.fleet, placement)),
      mark: undefined,
      reported: '',
    }),
  );
  let lostBy = '';
  while (!signal.aborted) {
    const read = await watch.limit(() => readParts(session, logs, run.options.deadline));
    if (signal.aborted) break;
    if (read.kind === 'lost') {
      if (read.problem.code !== lostBy) {
        showDiagnostics(run.console, [read.problem]);
        run.console.err(`${way.node}: trying again every ${retryMs / 1_000} s\n`);
      }
      lostBy = read.problem.code;
      session.forget();
      await pause(retryMs, signal);
      continue;
    }
    if (lostBy !== '') run.console.err(`${way.node}: answers again\n`);
    lostBy = '';
    for (const part of read.parts) take(part, logs, way.node, watch);
    do {
      await pause(read.parts.some(isFull) ? 0 : pauseMs, signal);
    } while (waitingBytes() > mostWaitingBytes && !signal.aborted);
  }
  signal.removeEventListener('abort', close);
  session.close();
  for (const log of logs) showLines(watch, log, way.node, log.reader.end());
}

const isFull = (part: LogPart): boolean => part.kind === 'part' && part.bytes.length === mostPartBytes;

type ReadParts =
  | { readonly kind: 'seen'; readonly parts: readonly LogPart[] }
  | { readonly kind: 'lost'; readonly problem: Diagnostic };

async function readParts(session: Session, logs: readonly Followed[], deadlineMs: number): Promise<ReadParts> {
  const requests = logs.map(({ placement, mark }) => ({ placement, ...given({ mark }) }));
  const answer = await session.ask((rootPrefix) => ({
    name: 'rank-log',
    command: rankLogPartsCommand(requests, rootPrefix),
    deadlineMs,
    maxBytes: answerBytes * logs.length,
  }));
  if (answer.kind === 'unreached') return { kind: 'lost', problem: answer.diagnostics[0] };
  const { exit, stdout } = answer.result;
  const broken = diagnoseExit(session.node, exit);
  if (broken !== undefined) return { kind: 'lost', problem: broken };
  const parts = isSuccess(exit) ? parseLogParts(new TextDecoder().decode(stdout)) : undefined;
  return parts === undefined
    ? { kind: 'lost', problem: cannotRead(session.node, `reading the logs failed: ${exitText(exit)}`) }
    : { kind: 'seen', parts };
}

const cannotRead = (node: NodeName, why: string): Diagnostic =>
  diagnose('logs/cannot-read', { detail: prose`${labelled(node)}${why}.`, subject: nodeSubject(node) });

/** Shows the new part of one log and stores the reading position. */
function take(part: LogPart, logs: readonly Followed[], node: NodeName, watch: Watch): void {
  const log = logs.find(({ placement }) => placement === part.placement);
  if (log === undefined) return;
  const { run } = watch;
  if (part.kind !== 'part') {
    if (log.reported !== part.kind) showMissing(part, node, run);
    log.reported = part.kind;
    return;
  }
  log.reported = '';
  const isFirst = log.mark === undefined;
  if (log.mark !== undefined && part.from < log.mark.bytes) {
    showLines(watch, log, node, log.reader.end());
    run.console.err(`${node}: the log of ${log.placement} starts over from the beginning\n`);
  }
  const lines = log.reader.add(part.bytes);
  log.mark = part.mark;
  // The first piece of a long log starts in the middle of a line.
  const whole = isFirst && part.from > 0 ? lines.slice(1) : lines;
  showLines(watch, log, node, whole, isFirst ? watch.lines : whole.length);
}

/** Shows the last lines, at most `most`, excluding those about requests. */
function showLines(
  watch: Watch,
  { placement, withoutRequests }: Followed,
  node: NodeName,
  lines: readonly string[],
  most = lines.length,
): void {
  const shown = withoutRequests(lines);
  for (const text of shown.slice(Math.max(0, shown.length - most))) {
    watch.run.console.out(`${watch.prefix(placement, node)} | ${escapeLines(text)}\n`);
  }
}

function showMissing({ kind, placement }: LogPart, node: NodeName, { console }: Run): void {
  if (kind === 'none') console.err(`${node}: ${placement} has no log yet; waiting for it\n`);
  else showDiagnostics(console, [cannotRead(node, `the log of ${placement} is not a file that this user can read`)]);
}
/** Longer lines are truncated, because a rank may print without line breaks. */
const longestLine = 65_536;

/** Splits UTF-8 into lines. The text arrives in pieces, which can end within a character. */
export function lineReader() {
  let decoder = new TextDecoder();
  let rest = '';
  return {
    /** Adds bytes and returns the lines that these complete. */
    add: (bytes: Uint8Array): readonly string[] => {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      const last = lines.pop() ?? '';
      const whole = Math.floor(last.length / longestLine) * longestLine;
      rest = last.slice(whole);
      const long = whole === 0 ? [] : cut(last.slice(0, whole));
      return [...lines.flatMap(cut), ...long].map((line) => line.replace(/\r$/, ''));
    },
    /** Returns the text after the last line break. The next bytes start a new text. */
    end: (): readonly string[] => {
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
