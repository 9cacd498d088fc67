import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CommandOutcome } from '../../apply/reach/session.ts';
import { everyNode } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeLines } from '../../diagnostics/escape.ts';
import { type FailingRank, firstFailingRank, type RankSaid } from '../../drivers/classify-log.ts';
import { driverOf, requestPatternOf } from '../../drivers/registry.ts';
import { unreachedOf } from '../../engine/plan/view.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { parseRankReport, rankLogCommand, rankReportCommand } from '../../rack/placement/observed/rank-log.ts';
import { failingRankFinding } from '../../rack/placement/start/failing-rank-finding.ts';
import { gatherAlike } from '../../report/findings.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { placementNamed } from '../cluster/targets.ts';
import { openWays, type Ways } from '../cluster/ways.ts';
import { codeForNodes, type ExitCode, type NodeVerdict } from '../exit-codes.ts';
import { answerText, askNodes, isAnswered, observeNodes, outcomeDiagnostics } from '../look/observe-fleet.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../terminal/console.ts';
import { type Run, readCountOption, usageError, type VerbBody } from '../verb.ts';
import { followLogs } from './follow-logs.ts';
import { fleetAsItRuns, type Observed, rankFacts, runsOn } from './where-they-run.ts';

const usualLines = 40;
/** What the command ends with where there is no log. */
const noLogExit = 66;

/** What one rank has printed last. */
interface RankTail {
  readonly placement: string;
  readonly outcome: CommandOutcome;
}

/**
 * `logs PLACEMENT|NODE…`: the end of what ranks have printed, each line behind the name of its node, and what comes. The
 * rank that failed first is named behind them, and the line in which it says why has a sign of its own.
 */
export const logs: VerbBody = async (run) => {
  const lines = readCountOption(run, 'lines') ?? usualLines;
  refuseShortFollow(run);
  const cluster = openCluster(run);
  wantedRanks(run.words, mayRunAnywhere(cluster.fleet));
  const ways = openWays(run, cluster);
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
  show(run, { tails, found, elsewhere }, ways);
  return codeOf(tails);
};

/** `-f` follows in other tools; here it names the cluster file. */
function refuseShortFollow({ options: { file }, folder, words }: Run): void {
  if (file === undefined || existsSync(resolve(folder, file))) return;
  const hint = prose`To follow what is printed: ${meshwright('logs', '--follow', ...[file, ...words])}`;
  throw usageError(`-f names the cluster file, and there is no file ${file}.`, hint);
}

interface Following {
  readonly ways: Ways;
  readonly lines: number;
  readonly elsewhere: readonly ElsewhereRank[];
  readonly fleet: DesiredFleet;
}

/** Every node is asked for all its logs at once. */
async function follow(
  run: Run,
  wanted: readonly WantedRanks[],
  { ways, lines, elsewhere, fleet }: Following,
): Promise<ExitCode> {
  if (run.options.json) {
    throw usageError('--follow has no end, and --json is one document.', 'Leave one of the two out.');
  }
  const { isSimulated } = ways;
  const notices = elsewhere.map(earlierRank);
  showDiagnostics(run.console, notices);
  const pairs = wanted.flatMap(({ placement, nodes }) => nodes.map((node) => ({ placement, node })));
  const nodes = [...new Set(pairs.map(({ node }) => node))];
  const followed = (await ways.toAll(nodes)).map((way) => ({
    way,
    placements: pairs.filter(({ node }) => node.name === way.node).map(({ placement }) => placement),
  }));
  const prefix = prefixer(
    pairs.map(({ placement, node }) => ({ placement, node: node.name })),
    isSimulated,
  );
  return followLogs(run, followed, {
    isSimulated,
    lines,
    requestPattern: (placement) => requestPatternOf(fleet, placement),
    show: (placement, node, texts) => {
      for (const text of texts) run.console.out(`${prefix(placement, node)} | ${escapeLines(text)}\n`);
    },
  });
}

interface RankName {
  readonly placement: string;
  readonly node: string;
}

/** What stands before the lines of a rank: its node, and its placement where there are several; all of one width. */
function prefixer(all: readonly RankName[], isSimulated: boolean): (placement: string, node: string) => string {
  const hasSeveral = new Set(all.map(({ placement }) => placement)).size > 1;
  const nameOf = ({ placement, node }: RankName): string =>
    `${isSimulated ? 'simulated ' : ''}${hasSeveral ? `${placement} ` : ''}${node}`;
  const width = Math.max(0, ...all.map((one) => nameOf(one).length));
  return (placement, node) => nameOf({ placement, node }).padEnd(width);
}

interface Shown {
  readonly tails: readonly RankTail[];
  readonly found: readonly FoundRank[];
  readonly elsewhere: readonly ElsewhereRank[];
}

/** A node whose placement is elsewhere now, and which may have something to show of it all the same. */
const earlierRank = ({ placement, node, words }: ElsewhereRank): Diagnostic =>
  diagnose('logs/elsewhere', { subject: nodeSubject(node), detail: words, hint: otherLogs(placement) });

const otherLogs = (placement: string): Prose => prose`See what its ranks print: ${meshwright('logs', placement)}`;

function show(run: Run, { tails, found, elsewhere }: Shown, { isSimulated }: Ways): void {
  const diagnostics = [
    ...tails.flatMap((tail) => diagnosticsOf(tail, elsewhere)),
    ...found.map(({ finding }) => finding),
  ];
  if (run.options.json) {
    const ranks = tails.flatMap(({ placement, outcome }) =>
      isAnswered(outcome) ? [{ placement, node: outcome.node, lines: linesOf(answerText(outcome)) }] : [],
    );
    const mark = isSimulated ? { simulated: true } : {};
    const lost = tails.flatMap(({ outcome }) => (outcome.kind === 'unreached' ? [outcome.node] : []));
    const failures = Object.fromEntries(tails.map(({ outcome }) => [outcome.node, outcomeDiagnostics(outcome)]));
    showJson(run.console, {
      formatVersion: 1,
      ...mark,
      ranks: ranks.length === 0 && lost.length > 0 ? null : ranks,
      ...unreachedField(unreachedOf(lost, { failures })),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    });
    return;
  }
  const prefix = prefixer(
    tails.map(({ placement, outcome }) => ({ placement, node: outcome.node })),
    isSimulated,
  );
  for (const { placement, outcome } of tails) {
    if (!isAnswered(outcome)) continue;
    for (const line of linesOf(answerText(outcome))) {
      const sign = found.some((one) => isTelling(one, { placement, node: outcome.node }, line)) ? '!' : '|';
      run.console.out(`${prefix(placement, outcome.node)} ${sign} ${escapeLines(line)}\n`);
    }
  }
  showDiagnostics(run.console, gatherAlike(diagnostics));
}

/** Whether this is the line in which the rank that failed first says why. */
const isTelling = ({ placement, failing }: FoundRank, rank: RankName, line: string): boolean =>
  placement === rank.placement && failing.said.node === rank.node && failing.failure?.line === line;

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

function codeOf(tails: readonly RankTail[]): ExitCode {
  return codeForNodes(tails.map(({ outcome }): NodeVerdict => (isAnswered(outcome) ? 'fine' : 'unjudged')));
}

/** Lines of a log in which a failure is looked for. */
const readLines = 200;

/** The rank of one placement that failed first, and how that is told. */
interface FoundRank {
  readonly placement: string;
  readonly failing: FailingRank;
  readonly finding: Diagnostic;
}

/**
 * Asks all nodes of a placement how their ranks ended and what they said since the last start; nothing where no rank
 * failed, or where not every node answers: then another one may have failed first.
 */
async function findFailingRank(
  run: Run,
  { desired, ways }: { readonly desired: DesiredFleet; readonly ways: Ways },
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

/** A node that belongs to the other layout of a placement, and where that is instead. */
interface ElsewhereRank {
  readonly placement: string;
  readonly node: NodeName;
  /** A sentence. */
  readonly words: string;
}

function layoutWords({ name, nodes }: Pick<DesiredPlacement, 'name' | 'nodes'>, observed: Observed): string {
  const on = (state: boolean | undefined): string =>
    nodes.filter((node) => runsOn(name, node, observed) === state).join(', ');
  const [running, idle, unseen] = [on(true), on(false), on(undefined)];
  if (unseen !== '') {
    const known = running === '' ? '' : `${name} runs on ${running}; `;
    return `${known}nobody could see whether ${running === '' ? name : 'it'} runs on ${unseen}`;
  }
  if (running === '') return `${name} does not run, and its place is ${idle}`;
  return `${name} runs on ${running}${idle === '' ? '' : `, and not on ${idle}`}`;
}

/** `kimi runs on studio-1, studio-2; no rank of it is on studio-4.` */
export function elsewhereWords(
  placement: Pick<DesiredPlacement, 'name' | 'nodes'>,
  node: NodeName,
  observed: Observed,
): string {
  const here = runsOn(placement.name, node, observed);
  const own = here === undefined ? '' : `; ${here ? 'a rank of it is left' : 'no rank of it is'} on ${node}`;
  return `${layoutWords(placement, observed)}${own}.`;
}

/** Looks where the placements run of which nodes of the other layout are meant. */
async function findElsewhere(
  run: Run,
  { fleet, ways }: { readonly fleet: DesiredFleet; readonly ways: Ways },
  wanted: readonly WantedRanks[],
): Promise<readonly ElsewhereRank[]> {
  const meant = wanted.flatMap(({ placement: name, elsewhere }) => {
    const placement = fleet.placements.find((one) => one.name === name);
    return placement === undefined ? [] : elsewhere.map((node) => ({ placement, node }));
  });
  if (meant.length === 0) return [];
  const names = meant.flatMap(({ placement, node }) => [...placement.nodes, node]);
  const nodes = fleet.nodes.filter(({ name }) => names.includes(name));
  const observed = (await observeNodes(run, nodes, ways, { facts: rankFacts })).nodes;
  return meant.map(({ placement, node }) => ({
    placement: placement.name,
    node,
    words: elsewhereWords(placement, node, observed),
  }));
}

/** The fleet as it may run: before anybody has looked, a rank may be on any node of either layout. */
export const mayRunAnywhere = (fleet: DesiredFleet): DesiredFleet => ({
  ...fleet,
  placements: fleet.placements.map((one) => ({ ...one, nodes: everyNode(one) })),
});

/** The ranks of one placement that are meant. */
interface WantedRanks {
  readonly placement: string;
  readonly nodes: readonly DesiredNode[];
  /** Those of the nodes that belong to its other layout alone: what they keep of it is of an earlier start. */
  readonly elsewhere: readonly NodeName[];
}

/**
 * The ranks that words name, by placement in the order of the file: a placement with all its members, or a node with all
 * that runs there; with nothing there, all that may run there in its other layout. Without words every placement.
 * @throws FleetError `cli/usage` when nothing is placed at all, or there, `select/unknown-placement`
 */
export function wantedRanks(words: readonly string[], fleet: DesiredFleet): readonly WantedRanks[] {
  const all = fleet.placements.map(({ name }) => name);
  if (words.length === 0 && all.length === 0) {
    throw usageError('The file has no placements.', 'Write one down, and apply it: docs/cluster-yaml.md');
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
  const on = (one: Pick<DesiredPlacement, 'name' | 'nodes'>, isMeant: (node: string) => boolean) =>
    one.nodes.filter(isMeant).map((node) => ({ placement: one.name, node }));
  const isPlacement = fleet.placements.some(({ name }) => name === word);
  const isNode = fleet.nodes.some(({ name }) => name === word);
  if (isPlacement || !isNode) return on(placementNamed({ fleet }, word), () => true);
  const ranksIn = ({ placements }: Pick<DesiredFleet, 'placements'>) =>
    placements.flatMap((one) => on(one, (node) => node === word));
  const here = ranksIn(fleet);
  const ranks = here.length > 0 ? here : ranksIn(mayRunAnywhere(fleet));
  if (ranks.length === 0) throw usageError(`Nothing is placed on ${word}.`, 'Name a placement, or another node.');
  return ranks;
}
