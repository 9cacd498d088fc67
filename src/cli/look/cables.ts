import { readMeasuredCables } from '../../apply/journal/measured-cables.ts';
import { observeSessions } from '../../apply/reach/observe.ts';
import { type NodeTarget, openSession, type Session, type UseLimits } from '../../apply/reach/session.ts';
import { pause } from '../../apply/run-timing.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { plainText, proseText } from '../../diagnostics/prose-text.ts';
import {
  type CableWork,
  cableEvents,
  cableFacts,
  cableWork,
  isHalfSeen,
  linkVerdict,
  plugChanges,
} from '../../engine/cables/cable-work.ts';
import { areaOf } from '../../engine/diagnose/rules.ts';
import { type FactName, factsWithoutAnswer } from '../../engine/observe/facts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts, NodeObservation } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject, subjectNodes, subjectText } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { factNamed } from '../../rack/fact.ts';
import { limiter } from '../../remote/limit-parallel.ts';
import { forMany } from '../../remote/on-abort.ts';
import { cablesJson, cablesText, doneLine, eventLines, identifyLines, watchParagraphs } from '../../report/cables.ts';
import { findingLines, mergeFindings } from '../../report/findings.ts';
import { hang, type Page } from '../../report/page.ts';
import { type OpenedCluster, openCluster } from '../cluster/open-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { codeForNodes, type ExitCode, exitCode, type NodeVerdict, verdictOf } from '../exit-codes.ts';
import { journalsOf } from '../files/places.ts';
import { type Ended, isLive, liveBlock, pageFor, withProgress } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { timingFor } from '../use-limits.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { measureCables, readSeconds } from './measure-cables.ts';
import { observeLimits, observeNodes, shownOnly } from './observe-fleet.ts';

/** `cables`: shows declared and observed cables and the moves that make them match the file; live with its options. */
export const cables: VerbBody = async (run) => {
  const isWatch = run.own['watch'] === true;
  const isIdentify = run.own['identify'] === true;
  const isMeasure = run.own['measure'] === true;
  if ([isWatch, isIdentify, isMeasure].filter(Boolean).length > 1) {
    throw usageError('--watch, --identify and --measure cannot be combined.', 'Use only one of them.');
  }
  const seconds = readSeconds(run, isMeasure);
  if (isIdentify && run.options.json === true) {
    throw usageError('--identify runs until Ctrl-C, so it cannot print one JSON document.', 'Leave out --json.');
  }
  const cluster = openCluster(run);
  const ways = openTargets(run, cluster);
  if (isWatch) return guideHands(run, cluster, ways);
  if (isIdentify) return identifyPlugs(run, cluster, ways);
  if (isMeasure) return measureCables(run, { cluster, ways, seconds });
  const observation = await observeNodes(run, cluster.fleet.nodes, ways, { ...shownOnly(run), facts: cableFacts });
  const measured = readMeasuredCables(journalsOf(run, cluster.fleet.name));
  const work = cableWork(cluster.fleet, observation, measured);
  return {
    exit: codeForCables(cluster.fleet, observation, work),
    document: cablesDocument(run, cluster, work),
    text: cablesText(cluster.fleet, work, pageFor(run.console)),
  };
};

const cablesDocument = ({ console }: Run, { fleet, warnings }: OpenedCluster, work: CableWork) =>
  cablesJson({ desired: fleet, work, diagnostics: [...warnings, ...work.loops, ...work.findings] }, console);

/** Reports each receptacle that is plugged in or unplugged, until the run is interrupted. */
async function identifyPlugs(run: Run, cluster: OpenedCluster, ways: SshTargets): Promise<ExitCode> {
  const page = pageFor(run.console);
  await watchCables(run, cluster, ways, (check, before) => {
    for (const line of lostLines(check, before, page)) run.console.err(`${line}\n`);
    if (before === undefined) {
      run.console.err('Plug or unplug a cable to see its receptacle here. Press Ctrl-C to stop.\n');
      return false;
    }
    const rackOf = ({ work }: CableCheck) => work.examination.cabling.rack;
    const { plugged, unplugged } = plugChanges(rackOf(before), rackOf(check));
    const lines = [
      ...unplugged.flatMap((plug) => identifyLines(plug, false, page)),
      ...plugged.flatMap((plug) => identifyLines(plug, true, page)),
    ];
    for (const line of lines) run.console.out(`${line}\n`);
    return false;
  });
  return exitOfSignal(run.signal) ?? exitCode.done;
}

/**
 * Guides a person at the rack until every link matches the file. A terminal redraws the last lines; other outputs get
 * one line per change. With `--json`, only the final state is printed, as one document.
 */
async function guideHands(run: Run, cluster: OpenedCluster, ways: SshTargets): Promise<ExitCode | Ended> {
  const stageOf = ({ observation, work, isWhole }: CableCheck): Stage => {
    if (codeForCables(cluster.fleet, observation, work) !== exitCode.done) return 'open';
    return isWhole ? 'done' : 'to-confirm';
  };
  const printChanges = run.options.json === true ? () => undefined : changePrinter(run, cluster);
  const last = await watchCables(run, cluster, ways, (check, before) => {
    const stage = stageOf(check);
    printChanges(check, before, stage);
    return stage === 'done';
  });
  if (last === undefined) return exitOfSignal(run.signal) ?? exitCode.failed;
  const { observation, work } = last;
  const exit = exitOfSignal(run.signal) ?? codeForCables(cluster.fleet, observation, work);
  return { exit, document: cablesDocument(run, cluster, work), text: '' };
}

/** `to-confirm`: the receptacles are right, and the next check reads all cable facts. */
type Stage = 'open' | 'to-confirm' | 'done';

type PrintChanges = (check: CableCheck, before: CableCheck | undefined, stage: Stage) => void;

/** Returns a function that prints the changes since the last check and, below them, the next moves. */
function changePrinter({ console }: Run, { fleet }: OpenedCluster): PrintChanges {
  const page = pageFor(console);
  const showBlock = liveBlock(console);
  let shown: readonly (readonly string[])[] = [];
  return (check, before, stage) => {
    const { work, lost } = check;
    const news = [
      ...lostLines(check, before, page),
      ...newFindings(check, before).flatMap((one) => [...findingLines(one, page), '']),
      ...(before === undefined ? [] : cableEvents(before.work, work).flatMap((event) => eventLines(event, page))),
    ];
    const done = [[doneLine(fleet.thunderbolt.links.length, page)]];
    const open = (): typeof shown => watchParagraphs(work, lost, page);
    const paragraphs = { done: () => done, 'to-confirm': () => shown, open }[stage]();
    const isShown = (lines: readonly string[]): boolean => shown.some((one) => one.join('\n') === lines.join('\n'));
    if (isLive(console)) showBlock(news, paragraphs.flat());
    else showBlock([...news, ...paragraphs.filter((lines) => !isShown(lines)).flat()], []);
    shown = paragraphs;
  };
}

/** New findings that no move fixes. Excludes connection failures, which {@link lostLines} reports. */
function newFindings(check: CableCheck, before: CableCheck | undefined) {
  const failures = Object.values(check.observation.failures).flat();
  const keyOf = ({ code, subject, detail }: Diagnostic): string =>
    [code, subjectText(subject), plainText(detail)].join('\n');
  const reported = new Set([...(before?.work.findings ?? []), ...failures].map(keyOf));
  const isNew = (one: Diagnostic): boolean =>
    !reported.has(keyOf(one)) && !failures.some(({ code }) => code === one.code);
  return mergeFindings(check.work.findings.filter(isNew));
}

const gravity: readonly NodeVerdict[] = ['wrong', 'unjudged', 'hands', 'fine'];

function cablingVerdict(
  desired: DesiredFleet,
  observation: FleetObservation,
  work: CableWork,
  name: NodeName,
): NodeVerdict {
  const { cabling } = work.examination;
  const failures = observation.failures[name] ?? [];
  const links = cabling.links.filter(({ link }) => link.ends.some(({ node }) => node === name));
  const isMoved = work.acts.some(({ ends }) => ends.some(({ node }) => node === name));
  const isRing = work.loops.some(({ subject }) => subjectNodes(subject).includes(name));
  const isStranger = work.findings.some(
    (one) => areaOf(one) === 'identity' && subjectNodes(one.subject).includes(name),
  );
  const verdicts: readonly NodeVerdict[] = [
    ...links.map((judged) => linkVerdict(desired, judged)),
    ...(isMoved || isRing ? (['hands'] as const) : []),
    ...(isStranger ? (['wrong'] as const) : []),
    verdictOf(failures),
  ];
  return gravity.find((verdict) => verdicts.includes(verdict)) ?? 'fine';
}

/**
 * 0 if every declared link exists and no move is necessary, 3 if manual steps fix the rest, 4 if something is unknown
 * or cannot be fixed by hand, 1 if no node was observed.
 */
function codeForCables(desired: DesiredFleet, observation: FleetObservation, work: CableWork): ExitCode {
  const names = desired.nodes.map((node) => node.name);
  const verdicts = names.map((name) => cablingVerdict(desired, observation, work, name));
  const isUnseen = names.length > 0 && names.every((name) => (observation.failures[name] ?? []).length > 0);
  const code = codeForNodes(verdicts);
  return code === exitCode.failed && !isUnseen ? exitCode.partial : code;
}

/** Lines for nodes that stopped answering, with the reason, and for nodes that answer again. */
export function lostLines(
  check: Pick<CableCheck, 'observation' | 'lost'>,
  before: Pick<CableCheck, 'lost'> | undefined,
  page: Page,
): readonly string[] {
  const earlier = before?.lost ?? [];
  return [
    ...check.lost
      .filter((name) => !earlier.includes(name))
      .flatMap((name) => {
        const [problem] = check.observation.failures[name] ?? [];
        const why = escapeText(proseText(problem?.detail ?? problem?.summary ?? '', page));
        return hang(`${name} does not answer: `, `${why} Trying again.`, page.columns);
      }),
    ...earlier.filter((name) => !check.lost.includes(name)).map((name) => `${name} answers again`),
  ];
}

interface CableCheck {
  readonly observation: FleetObservation;
  readonly work: CableWork;
  /** True if all cable facts were read again, not only the receptacles. */
  readonly isWhole: boolean;
  /** True if the plugs or the answering nodes differ from the previous check. */
  readonly isChanged: boolean;
  /** Nodes that do not answer. */
  readonly lost: readonly NodeName[];
}

/** Long enough for a busy Mac's answer, which takes seconds; short enough to skip a dead Mac without much delay. */
export const patienceMs = 5_000;

/**
 * Reads the cables repeatedly, over one connection per node and with one exec per node and check, until `onCheck`
 * returns true, the run is interrupted, or stdout is closed. A check covers only the receptacles. After a change, or
 * while a move is waiting for something else, the next check covers all cable facts.
 * @param onCheck called with every trusted check and the previous one; returning true ends the watch
 * @returns the last trusted check; undefined if there was none
 */
async function watchCables(
  run: Run,
  cluster: OpenedCluster,
  ways: SshTargets,
  onCheck: (check: CableCheck, before: CableCheck | undefined) => boolean,
): Promise<CableCheck | undefined> {
  const signal = forMany(AbortSignal.any([run.signal, run.console.outClosed]));
  const { gatePollMs, retryMs } = timingFor(run);
  const fleet = watchFleet(await ways.toAll(cluster.fleet.nodes), {
    ...observeLimits(run),
    signal,
    facts: cableFacts,
    often: ['thunderbolt'],
    retryMs,
    patienceMs,
  });
  let before: CableCheck | undefined;
  let trusted: CableCheck | undefined;
  let isDone = false;
  try {
    while (!isDone && !signal.aborted) {
      const check = await checkOnce(run, cluster, { fleet, before });
      if (signal.aborted) break;
      const isShown = isTrusted(check, before);
      isDone = isShown && onCheck(check, trusted);
      trusted = isShown ? check : trusted;
      before = check;
      if (!isDone) await pause(gatePollMs, signal);
    }
  } finally {
    fleet.close();
  }
  return trusted;
}

async function checkOnce(
  run: Run,
  { fleet: desired }: OpenedCluster,
  { fleet, before }: { readonly fleet: FleetWatch; readonly before: CableCheck | undefined },
): Promise<CableCheck> {
  const names = desired.nodes.map(({ name }) => name);
  const isWhole = before === undefined || before.isChanged || isWaiting(before.work);
  const observe = (): Promise<FleetObservation> => fleet.observe(isWhole ? 'whole' : 'often');
  const isFirst = before === undefined;
  const observation = await (isFirst ? withProgress(run.console, ['observing', desired.nodes], observe) : observe());
  const lost = names.filter((name) => (observation.failures[name] ?? []).length > 0);
  const work = cableWork(desired, observation);
  const isChanged = before === undefined || plugText({ work, lost }) !== plugText(before);
  return { observation, work, isWhole, isChanged, lost };
}

const plugText = ({ work, lost }: Pick<CableCheck, 'work' | 'lost'>): string =>
  JSON.stringify([work.examination.cabling.rack.views, lost]);

/** True if a step that the receptacles do not show must come first: stopping a placement or removing a bridge. */
const isWaiting = ({ acts, loops }: CableWork): boolean => loops.length > 0 || acts.some(({ isFree }) => !isFree);

/** If only one end reports a cable, it may have been plugged in between the two nodes' checks: read again. */
const isTrusted = ({ work }: CableCheck, before: CableCheck | undefined): boolean =>
  !isHalfSeen(work.examination.cabling.rack) ||
  (before !== undefined && isHalfSeen(before.work.examination.cabling.rack));

export interface WatchOptions extends UseLimits {
  readonly parallel: number;
  /** Returns 32 new hexadecimal digits. */
  readonly newBoundary: () => string;
  /** The facts in a whole check, and in each node's first check. */
  readonly facts: readonly FactName[];
  /** The facts in every check. */
  readonly often: readonly FactName[];
  /** The pause before a lost node is tried again. */
  readonly retryMs: number;
  /** The minimum extra time for a node's answer, compared with the slowest other node. */
  readonly patienceMs: number;
}

type FleetWatch = ReturnType<typeof watchFleet>;

interface WatchedNode {
  readonly session: Session;
  /** The last check, completed with facts from earlier whole checks; undefined while the node is lost. */
  seen: NodeObservation | undefined;
  /** The reason why the node is lost, and its observation without facts. */
  lost: { readonly observation: NodeObservation; readonly failures: readonly Diagnostic[] } | undefined;
  /** The start of the current exec; undefined while the exec is waiting for its turn. */
  beganMs: number | undefined;
  lastMs: number;
}

/** Reads nodes repeatedly. Opens one connection to each on the first `observe`, and closes them on abort. */
export function watchFleet(ways: readonly NodeTarget[], options: WatchOptions) {
  const limit = limiter(options.parallel);
  const nodes = ways.map(
    (way): WatchedNode => ({
      session: openSession(way, { ...options, retryMs: 0 }),
      seen: undefined,
      lost: undefined,
      beganMs: undefined,
      lastMs: 0,
    }),
  );
  const close = (): void => {
    for (const { session } of nodes) session.close();
  };
  options.signal?.addEventListener('abort', close, { once: true });
  return {
    /**
     * Runs one exec on each node that is not lost; resolves when each has answered or was given up. A silent node is
     * given up before the deadline if others have answered and its exec has lasted longer than three times: twice the
     * time of the slowest answer, twice the node's own last time, and the slowest answer plus `patienceMs`. A node that
     * was given up is retried in the background and returns when it answers.
     */
    observe: async (extent: 'whole' | 'often'): Promise<FleetObservation> => {
      const there = nodes.filter(({ lost }) => lost === undefined);
      for (const node of there) node.beganMs = undefined;
      const asked = there.map((node) => limit(() => observeNode(node, extent, options)));
      const heard = await waitFor(there, asked, options.patienceMs);
      there.forEach((node, at) => {
        if (!heard.has(node)) giveUp(node);
        void asked[at]?.then(() => callBack(node, options, limit));
      });
      return observationOf(nodes);
    },
    /** Asks the placements that this node leads for a token, next to the checks, which do not wait for it. */
    askTokens: async (name: NodeName): Promise<NodeObservation | undefined> => {
      const sessions = nodes.filter(({ session, lost }) => session.node === name && lost === undefined);
      const extent = { facts: ['placements'], asksTokens: true } as const;
      const { deadlineMs, newBoundary } = options;
      const asked = sessions.map(({ session }) => session);
      return (await observeSessions(asked, { deadlineMs, newBoundary, ...extent })).nodes[name];
    },
    close: (): void => {
      options.signal?.removeEventListener('abort', close);
      close();
    },
  };
}

/** Returns the nodes that answered or failed in time. */
async function waitFor(
  nodes: readonly WatchedNode[],
  asked: readonly Promise<void>[],
  patienceMs: number,
): Promise<ReadonlySet<WatchedNode>> {
  const heard = new Set<WatchedNode>();
  let slowestMs: number | undefined;
  nodes.forEach((node, at) => {
    void asked[at]?.then(() => {
      heard.add(node);
      if (node.lost === undefined) slowestMs = Math.max(slowestMs ?? 0, node.lastMs);
    });
  });
  const isOutwaited = (node: WatchedNode): boolean =>
    slowestMs !== undefined &&
    node.beganMs !== undefined &&
    performance.now() - node.beganMs > Math.max(slowestMs + patienceMs, 2 * slowestMs, 2 * node.lastMs);
  const all = Promise.all(asked);
  const ended = new AbortController();
  const end = (): void => ended.abort();
  void all.then(end, end);
  while (!ended.signal.aborted) {
    const missing = nodes.filter((node) => !heard.has(node));
    if (missing.length > 0 && missing.every(isOutwaited)) break;
    await pause(pollMs, ended.signal);
  }
  if (ended.signal.aborted) await all;
  return new Set(heard);
}

/** The poll interval while waiting for nodes. */
const pollMs = 50;

/** Marks a node as lost. Its exec continues, and if the node does answer, it is no longer lost. */
function giveUp(node: WatchedNode): void {
  const { node: name } = node.session;
  const detail = prose`${named(name)} stopped answering, while other nodes answer.`;
  const failure = diagnose('ssh/timed-out', { subject: nodeSubject(name), detail });
  node.seen = undefined;
  node.lost = {
    observation: { node: name, facts: factsWithoutAnswer('unreachable', failure.summary) },
    failures: [failure],
  };
}

async function observeNode(node: WatchedNode, extent: 'whole' | 'often', options: WatchOptions): Promise<void> {
  const { session, seen } = node;
  const facts = extent === 'whole' || seen === undefined ? options.facts : options.often;
  const { deadlineMs, newBoundary } = options;
  const beganMs = performance.now();
  node.beganMs = beganMs;
  const observed = await observeSessions([session], { deadlineMs, newBoundary, facts });
  const observation = observed.nodes[session.node];
  const failures = observed.failures[session.node] ?? [];
  if (observation === undefined) return;
  if (failures.length === 0) node.lastMs = performance.now() - beganMs;
  node.lost = failures.length > 0 ? { observation, failures } : undefined;
  node.seen = failures.length > 0 ? undefined : merged(seen, observation, facts);
}

/** The facts that were just read, and earlier values of all other facts. */
function merged(
  before: NodeObservation | undefined,
  now: NodeObservation,
  asked: readonly FactName[],
): NodeObservation {
  if (before === undefined) return now;
  const fresh: Facts = Object.fromEntries(asked.map((name) => [name, factNamed(now.facts, name)]));
  return { node: now.node, facts: { ...before.facts, ...fresh } };
}

/** Retries a lost node until it answers. */
async function callBack(node: WatchedNode, options: WatchOptions, limit: ReturnType<typeof limiter>): Promise<void> {
  const { signal, retryMs } = options;
  while (node.lost !== undefined) {
    await pause(retryMs, signal);
    if (signal?.aborted === true) return;
    node.session.forget();
    await limit(() => observeNode(node, 'whole', options));
  }
}

function observationOf(nodes: readonly WatchedNode[]): FleetObservation {
  const seen: Record<NodeName, NodeObservation> = Object.create(null);
  const failures: Record<NodeName, readonly Diagnostic[]> = Object.create(null);
  for (const { session, seen: known, lost } of nodes) {
    const observation = known ?? lost?.observation;
    if (observation !== undefined) seen[session.node] = observation;
    if (lost !== undefined) failures[session.node] = lost.failures;
  }
  return { nodes: seen, failures };
}
