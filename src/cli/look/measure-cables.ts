import { randomBytes } from 'node:crypto';
import { type Journal, newRunId, openJournal } from '../../apply/journal/journal.ts';
import { claimOf, thisController } from '../../apply/lease/controller.ts';
import { createLeaseKeeper, type LeaseKeeper, leaseHeld } from '../../apply/lease/lease-keeper.ts';
import { observeSessions } from '../../apply/reach/observe.ts';
import type { Session } from '../../apply/reach/session.ts';
import { diagnose, failure } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { type CableWork, cableWork } from '../../engine/cables/cable-work.ts';
import { cableVerdict, measuredCable, type TestedCable, type Transport } from '../../engine/cables/link-test.ts';
import {
  type CableTest,
  cableTests,
  kernelCounts,
  leftObjects,
  measureRefusals,
  nodesToMeasure,
} from '../../engine/cables/measure-plan.ts';
import { rackGraph } from '../../engine/rack-graph.ts';
import { ownAccounts } from '../../model/account.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import type { MeasuredCable } from '../../model/measured-cable.ts';
import { linkEndText, type NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { readVerbsReport } from '../../native/verbs-report.ts';
import { accountsFact } from '../../rack/accounts/fact.ts';
import { accountState } from '../../rack/accounts/reading.ts';
import { examine, type FleetObservation } from '../../rack/examination.ts';
import { readValue } from '../../rack/fact.ts';
import { holdsAgainst } from '../../rack/hold/reading.ts';
import type { LaunchAccount } from '../../rack/placement/launched-program-script.ts';
import { rdmaPortsFact } from '../../rack/rdma/devices-fact.ts';
import { cablesJson } from '../../report/cables.ts';
import { graphSvg } from '../../report/graph/graph-svg.ts';
import { measuredBlocks } from '../../report/measured-cables.ts';
import { pageText } from '../../report/page.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { refuseAny } from '../cluster/open-cluster.ts';
import { closeAll, openSessions, type SshTargets } from '../cluster/ssh-targets.ts';
import { readNativeProgram } from '../cluster/this-computer.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { journalsOf } from '../files/places.ts';
import { replaceFile } from '../files/write-file.ts';
import { unfitReasons } from '../ranks/launch.ts';
import { type Ended, logFindings, pageFor, withProgress } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { timingFor } from '../use-limits.ts';
import { type Run, textOption, usageError } from '../verb.ts';
import { askProbe, type MeasureParts, measureTransport } from './measure-transport.ts';
import { observeLimits, observeNodes, shownOnly } from './observe-fleet.ts';
import { probeDifferences } from './probe-differences.ts';

const usualSeconds = 1;
const mostSeconds = 60;

/** @throws FleetError `cli/usage` */
export function readSeconds(run: Run, isMeasure: boolean): number {
  const text = textOption(run, 'seconds');
  if (text === undefined) return usualSeconds;
  if (!isMeasure) throw usageError('--seconds is only for --measure.', 'Leave it out, or add --measure.');
  const seconds = /^\d{1,2}(?:\.\d{1,2})?$/.test(text) ? Number(text) : 0;
  if (seconds >= 0.1 && seconds <= mostSeconds) return seconds;
  throw usageError(`"${text}" is not a valid number for --seconds.`, `Enter a number from 0.1 to ${mostSeconds}.`);
}

/** The cluster to measure, and the time for each value. */
export interface MeasureOptions {
  readonly cluster: OpenedCluster;
  readonly ways: SshTargets;
  readonly seconds: number;
  /** True for a table to publish. */
  readonly isTable?: boolean;
  /** The file for a drawing of the rack with the results; absent for none. */
  readonly out?: string;
}

export async function measureCables(run: Run, options: MeasureOptions): Promise<Ended> {
  const { cluster, seconds, isTable = false, out } = options;
  const { fleet } = cluster;
  const { observation, measured, findings } = await measureRack(run, options);
  const at = new Date().toISOString();
  const work = cableWork(
    fleet,
    observation,
    measured.map((cable) => ({ at, cable })),
  );
  const links = fleet.thunderbolt.links.length;
  const isCut = exitOfSignal(run.signal) !== undefined;
  const cut = isCut
    ? [diagnose('run/interrupted', { detail: `${measured.length} of ${links} cables were measured.` })]
    : [];
  const problems = [...work.findings, ...findings, ...cut];
  logFindings(run, problems);
  if (out !== undefined) replaceFile(out, drawing(work, run));
  return {
    exit: exitOfSignal(run.signal) ?? codeForMeasured(links, measured, problems),
    document: cablesJson({ desired: fleet, work, diagnostics: [...cluster.warnings, ...problems] }, run.console),
    text: pageText(measuredBlocks(fleet.name, { measured, links, seconds, isTable }, pageFor(run.console))),
    findings: problems,
  };
}

const drawing = ({ examination, acts, measured }: CableWork, { console }: Run): string =>
  graphSvg({
    graph: rackGraph(examination, acts, measured),
    placements: [],
    isSimulated: console.isSimulated,
    warnings: [],
  });

/** 0: all measured, none slow. 4: some are slow, dead or not measured. 1: none was measured. */
function codeForMeasured(links: number, measured: readonly MeasuredCable[], problems: readonly Diagnostic[]): ExitCode {
  const isFine = ({ verdict }: MeasuredCable): boolean => verdict === 'good' || verdict === 'unrated';
  if (links > 0 && measured.every(({ verdict }) => verdict === 'unknown')) return exitCode.failed;
  return measured.length === links && measured.every(isFine) && problems.length === 0
    ? exitCode.done
    : exitCode.partial;
}

/**
 * Measures each declared cable, one after another: RDMA, then TCP. The Macs are leased meanwhile, and the kernel's RDMA
 * objects are counted before and after.
 * @throws FleetError before anything is measured: `cables/…` if it would be unsafe, `lease/held` if
 * another run has a lease, `journal/cannot-write`
 */
async function measureRack(run: Run, { cluster, ways, seconds }: MeasureOptions) {
  const { fleet } = cluster;
  const program = requireProgram(run.options.sim === true);
  const observation = await observeNodes(run, fleet.nodes, ways, shownOnly(run));
  const examination = examine(fleet, observation);
  const tests = cableTests(examination);
  const names = nodesToMeasure(tests);
  const nodes = fleet.nodes.filter(({ name }) => names.includes(name));
  const ranks = fleet.system.accounts.ranks;
  const accounts = new Map(names.map((name) => [name, accountOn(observation.nodes[name]?.facts, ranks)]));
  refuseUnfit(fleet, accounts, observation);
  const sessions = new Map((await openSessions(run, ways, nodes)).map((session) => [session.node, session]));
  const journal = openJournal(journalsOf(run, fleet.name), run.log?.nextRunId() ?? newRunId(new Date()), run.secrets);
  try {
    const keeper = await leaseKeeper(run, journal, sessions, fleet.name);
    const before = kernelCounts(observation, names);
    try {
      const taken = await keeper.take(names);
      if (taken.kind === 'refused') refuseAny(taken.refusals.map(leaseHeld));
      // Another run had a lease since the observation, and may have started a placement.
      if (taken.kind === 'taken' && taken.isInDoubt) {
        refuseUnfit(fleet, accounts, await observeSessions([...sessions.values()], observeLimits(run)));
      }
      const parts = { program, seconds, accounts, sessions, stop: AbortSignal.any([run.signal, keeper.lost]) };
      refuseAny(await probeFindings(observation, names, parts));
      const measured = await measureAll(run, { tests, parts, keeper, journal });
      const after = await observeSessions([...sessions.values()], { ...observeLimits(run), facts: ['rdma-objects'] });
      const findings = [...leftObjects(before, kernelCounts(after, names)), ...lostLeases(keeper, journal.runId)];
      return { observation, measured, findings };
    } finally {
      await keeper.release();
      journal.write({ phase: 'end', isInterrupted: run.signal.aborted });
    }
  } finally {
    journal.close();
    closeAll([...sessions.values()]);
  }
}

type Accounts = ReadonlyMap<NodeName, LaunchAccount | undefined>;

/** @throws FleetError `cables/…` if measuring would be unsafe */
function refuseUnfit(fleet: DesiredFleet, accounts: Accounts, observation: FleetObservation): void {
  const nodes = fleet.nodes.filter(({ name }) => accounts.has(name));
  const others = [...accounts].flatMap(([name, account]) => {
    // `nobody` is an account of macOS itself.
    const own = account?.isOfRanks === true ? { account: account.name } : {};
    return unfitReasons({ nodes: [name], isOverRdma: false, ...own }, observation);
  });
  const unfit = [...holdsAgainst(nodes, observation), ...others].map((reason) => {
    const { node, why } = reason;
    const own = 'hint' in reason ? reason.hint : undefined;
    const hint = reason.kind === 'reboot-first' ? prose`Restart it: ${meshwright('reboot', node)}` : own;
    const detail = prose`${named(node)}: ${why}. Nothing was measured.`;
    return diagnose('cables/unfit', { subject: nodeSubject(node), detail, ...given({ hint }) });
  });
  refuseAny([...measureRefusals(examine(fleet, observation), observation, [...accounts.keys()]), ...unfit]);
}

const lostLeases = ({ lost }: LeaseKeeper, runId: string): readonly Diagnostic[] =>
  lost.aborted ? [diagnose('lease/lost', { detail: `A lease of run ${runId} no longer exists.` })] : [];

/** @throws FleetError `cables/no-program` */
export function requireProgram(...asked: Parameters<typeof readNativeProgram>): Buffer {
  const program = readNativeProgram(...asked);
  if (program !== undefined) return program;
  throw failure('cables/no-program', { detail: 'Nothing was measured.' });
}

async function leaseKeeper(
  run: Run,
  journal: Journal,
  sessions: ReadonlyMap<NodeName, Session>,
  cluster: string,
): Promise<LeaseKeeper> {
  const controller = await thisController();
  const since = new Date().toISOString();
  journal.write({ phase: 'run', cluster, verb: 'cables', controller: controller.name });
  return createLeaseKeeper({
    claim: claimOf(controller, { run: journal.runId, verb: 'cables --measure', phase: 'starting', since }),
    controller,
    timing: timingFor(run),
    waitMs: 0,
    askMs: run.options.deadline,
    signal: run.signal,
    session: (node) => {
      const session = sessions.get(node);
      if (session === undefined) throw new Error(`no session for ${node}`);
      return session;
    },
    onChange: ({ node, state, token }) => {
      if (state === 'waiting' || state === 'expired') return;
      journal.write({ phase: 'lease', node, state, ...(token === undefined ? {} : { token }) });
    },
  });
}

/** The account of the ranks; `nobody` on a Mac that has no placement yet, and therefore no such account. */
function accountOn(facts: Facts | undefined, ranks: string | undefined): LaunchAccount | undefined {
  const accounts = readValue(facts, accountsFact);
  if (ranks === undefined) return undefined;
  const isAbsent = ownAccounts.includes(ranks) && accounts !== undefined && accountState(ranks, accounts) === 'absent';
  return isAbsent ? { name: 'nobody', isOfRanks: false } : { name: ranks, isOfRanks: true };
}

/** Compares what the verbs library reports on each Mac with `ibv_devinfo`, which the observation has read. */
async function probeFindings(
  { nodes }: FleetObservation,
  names: readonly NodeName[],
  parts: MeasureParts,
): Promise<readonly Diagnostic[]> {
  const found = await Promise.all(
    names.map(async (node): Promise<readonly Diagnostic[]> => {
      const { stdout } = await askProbe(node, { ...parts, id: `${randomBytes(6).toString('hex')}p` });
      const report = readVerbsReport(stdout);
      const ports = readValue(nodes[node]?.facts, rdmaPortsFact);
      // Without a report, the measurement fails with the reason.
      if (report.kind === 'unknown' || ports === undefined) return [];
      const differences = probeDifferences(report.value, ports).map(escapeText);
      if (differences.length === 0) return [];
      const detail = prose`${named(node)}: ${differences.join('; ')}. Nothing was measured.`;
      return [diagnose('cables/probe-differs', { subject: nodeSubject(node), detail })];
    }),
  );
  return found.flat();
}

interface Measuring {
  readonly tests: readonly CableTest[];
  readonly parts: MeasureParts;
  readonly keeper: LeaseKeeper;
  readonly journal: Journal;
}

/** Measures cable after cable, because two cables of one Mac would share its memory and processor. */
async function measureAll(run: Run, { tests, parts, keeper, journal }: Measuring): Promise<readonly MeasuredCable[]> {
  const cableName = ({ ends }: CableTest): string => ends.map(linkEndText).join(' <-> ');
  const awaited = tests.filter(({ plan }) => plan.kind === 'measure').map((test) => ({ name: cableName(test) }));
  const tested: TestedCable[] = [];
  await withProgress(run.console, ['measuring', awaited], async (done) => {
    for (const test of tests) {
      if (parts.stop.aborted) break;
      keeper.setPhase(cableName(test));
      const one = await measureOne(test, parts, keeper);
      // An interrupted measurement is not evidence about a cable.
      if (!parts.stop.aborted) tested.push(one);
      done(cableName(test));
    }
  });
  // A Mac that was busy for a moment must not condemn a cable, so the last word has a second measurement.
  for (const [at, cable] of tested.entries()) {
    const test = tests[at];
    if (test === undefined || parts.stop.aborted || cableVerdict(cable, tested) !== 'slow') continue;
    const again = await measureOne(test, parts, keeper);
    if (!parts.stop.aborted) tested[at] = again;
  }
  const measured = tested.map((cable) => measuredCable(cable, tested));
  for (const one of measured) journal.write({ phase: 'measured', ...one });
  return measured;
}

async function measureOne(
  { ends, macs, plan }: CableTest,
  parts: MeasureParts,
  keeper: LeaseKeeper,
): Promise<TestedCable> {
  const failed = (reason: string): Transport => ({ kind: 'failed', isBroken: false, reason });
  if (plan.kind === 'skip') return { ends, macs, rdma: failed(plan.reason), tcp: failed(plan.reason) };
  const unleased = plan.ends.find(({ end }) => keeper.lease(end.node).kind === 'none');
  if (unleased !== undefined) {
    const reason = `the lease of ${unleased.end.node} could not be taken`;
    return { ends, macs, rdma: failed(reason), tcp: failed(reason) };
  }
  const id = randomBytes(6).toString('hex');
  const rdma = await measureTransport('rdma', plan.ends, { ...parts, id: `${id}r` });
  const tcp = parts.stop.aborted
    ? failed('interrupted')
    : await measureTransport('tcp', plan.ends, { ...parts, id: `${id}t` });
  return { ends, macs, rdma, tcp };
}
