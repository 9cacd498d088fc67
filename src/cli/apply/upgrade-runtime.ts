import type { PlaybookWork } from '../../apply/playbook-report.ts';
import { joinedObservation } from '../../apply/reach/observe.ts';
import { everyNode, nodesToSee } from '../../desired/layouts.ts';
import { withRuntimeOf } from '../../desired/settle/settle.ts';
import { isMadeFirst } from '../../desired/settle/settle-runtime.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { driverOf } from '../../drivers/registry.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { EffectTotal, Plan } from '../../engine/plan/plan.ts';
import { type Unit, unitsOf } from '../../engine/playbooks/batches.ts';
import { type Play, type Playbook, upgradeBakeMs } from '../../engine/playbooks/playbook.ts';
import type { RolledBack } from '../../model/cluster-lock.ts';
import type { DesiredRuntime } from '../../model/desired.ts';
import { type Digest, shortDigest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { seenValue } from '../../model/known.ts';
import { listText } from '../../model/lists.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { nodesSubject, runtimeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { soughtOn } from '../../rack/artifacts/models/model-resource.ts';
import { mayPanicUnderTcp } from '../../rack/boot/rule.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { Goal } from '../../rack/goal.ts';
import { blockerBlocks } from '../../report/plan/pending.ts';
import { effectTexts } from '../../report/plan/plan-text.ts';
import { type RuntimeUnit, runtimeOrderText, runtimeUpgradeLines } from '../../report/upgrade-runtime-text.ts';
import { changeLock } from '../cluster/open-cluster.ts';
import { refuseUnresolved, type SettledCluster, settleFromLock, settleOneRuntime } from '../cluster/settle-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import { beyondUpgrade, type Consent, createConsent } from '../plan/consent.ts';
import { showPlan } from '../plan/plan-document.ts';
import { diagnosticsJson, pageFor, paragraphText, showDiagnostics, showEnded } from '../terminal/console.ts';
import type { Run, VerbBody } from '../verb.ts';
import { usageError } from '../verb.ts';
import { actOn, type CommandSpec } from './act-on.ts';
import { checkGoal } from './final-check.ts';
import { makeLists } from './make-lists.ts';
import { batchesJson, effectsOf } from './preview.ts';
import { olderVersion, treesOn, usersOf, wantedRuntime, withRolledBack, withVersion } from './rollback.ts';
import { type EndedRun, endedRun, nothingRun } from './run-outcome.ts';

const verb = 'upgrade runtime';

const goal = { kind: 'converge', only: ['runtime', 'placement'] } as const satisfies Goal;

interface Upgrade {
  readonly run: Run;
  readonly cluster: SettledCluster;
  readonly ways: SshTargets;
  readonly consent: Consent;
  readonly runtime: DesiredRuntime;
  /** The Macs that use the runtime, without those of units that are left out. */
  readonly nodes: readonly NodeName[];
  readonly observation: FleetObservation;
  /** The chosen units, with those that are left out. */
  readonly units: readonly RuntimeUnit[];
  /** The version to which a failure returns. Nodes that are not upgraded now return to it, too. */
  readonly old: Digest | undefined;
}

/** `upgrade runtime NAME`: brings a runtime to the version in the file, one unit after another. */
export const upgradeRuntime: VerbBody = (run) => upgradeUnits(run);

/** The applied runtimes of the placements on these nodes. */
export function runtimesOn(run: Run, nodes: readonly NodeName[]): readonly string[] {
  const { placements } = settleFromLock(run).fleet;
  const used = placements.filter((one) => everyNode(one).some((node) => nodes.includes(node)));
  return [...new Set(used.map(({ runtime }) => runtime))];
}

/** @param on only the units with one of these nodes; by default all */
export async function upgradeUnits(run: Run, on?: readonly NodeName[]): Promise<EndedRun> {
  const applied = settleFromLock(run);
  const ways = openTargets(run, applied.opened);
  const consent = createConsent(run, { named: ['interrupt'], allowable: beyondUpgrade.runtime });
  const cluster = await settleWish(run, applied, { ways, consent });
  const { fleet } = cluster;
  const runtime = wantedRuntime(run, fleet);
  const users = usersOf(fleet, runtime);
  const observation = await observeNodes(run, nodesToSee(fleet, users), ways, {
    modelsOn: (node) => soughtOn(fleet, node),
  });
  const planFor: PlanFor = (targets, overTcp) =>
    makePlan({ goal: { ...goal, ...given({ overTcp }) }, desired: fleet, observation, targets });
  const all = unitsOf(users, fleet).map((unit) => judgedUnit(unit, planFor(unit.nodes)));
  const chosen = all.filter((unit) => on === undefined || unit.nodes.some((node) => on.includes(node)));
  const units = withTcpFirst(chosen, { fleet, runtime, observation }, planFor);
  const nodes = nodesOf(all.filter(isReady));
  const old = oldVersion(runtime, nodes, observation);
  const upgrade: Upgrade = { run, cluster, ways, consent, runtime, nodes, observation, units, old };
  const whole = planFor(nodesOf(units));
  if (units.some((unit) => isReady(unit) && unit.isPending)) return roll(upgrade, whole);
  return units.every(isReady) ? nothingToDo(upgrade, whole) : blocked(upgrade, whole);
}

type PlanFor = (targets: readonly NodeName[], overTcp?: readonly string[]) => Plan;

const isReady = ({ leftOut }: RuntimeUnit): boolean => leftOut === undefined;

/** What keeps a unit from changing as a whole, in words. The placements of other units are no reason. */
function obstacles({ nodes }: Unit, { unreached = {}, blockers, waiting }: Plan): readonly string[] {
  const lost = nodes.filter((node) => Object.hasOwn(unreached, node));
  if (lost.length > 0) return [`${everyNodeText(lost)} ${lost.length === 1 ? 'was' : 'were'} not reached`];
  const blocked = blockers.map(({ code, node }) => `${code} on ${node}`);
  const reasons = waiting.filter(({ node }) => nodes.includes(node)).flatMap((one) => one.for);
  const others = reasons.filter(({ blocker }) => blocker === undefined).map(({ text }) => text);
  return [...(blocked.length === 0 ? [] : [`blocked by ${listText([...new Set(blocked)])}`]), ...new Set(others)];
}

function judgedUnit(unit: Unit, plan: Plan): RuntimeUnit {
  const reasons = obstacles(unit, plan);
  const leftOut = reasons.length === 0 ? undefined : listText(reasons);
  return { ...unit, isPending: plan.changes.length > 0, overTcp: [], ...given({ leftOut }) };
}

/**
 * The placements of the first changing unit over RDMA start over TCP first, because a rank that hangs there can be
 * killed. They do not if their Macs may panic, or if something blocks only the start over TCP.
 *
 * @see avlp12/two-macstudio-m3u, safety rules R4 and R5
 */
function withTcpFirst(
  units: readonly RuntimeUnit[],
  { fleet, runtime, observation }: Pick<Upgrade, 'runtime' | 'observation'> & Pick<SettledCluster, 'fleet'>,
  planFor: PlanFor,
): readonly RuntimeUnit[] {
  if (driverOf(runtime).canUseTcp !== true || runtime.rolledBackFrom !== undefined) return units;
  const overRdma = ({ placements }: RuntimeUnit): readonly string[] =>
    fleet.placements
      .filter((one) => placements.includes(one.name) && one.runtime === runtime.name)
      .filter(({ transport, nodes }) => transport === 'rdma' && nodes.length > 1)
      .map(({ name }) => name);
  const canary = units.find((unit) => isReady(unit) && unit.isPending && overRdma(unit).length > 0);
  if (canary === undefined) return units;
  const names = overRdma(canary);
  const plan = planFor(canary.nodes, names);
  // A run that was stopped in between has left them over TCP, and the token was there.
  const isTested = !plan.changes.some(({ about: { placement = '' } }) => names.includes(placement));
  const mayPanic = canary.nodes.some((node) => mayPanicUnderTcp({ facts: observation.nodes[node]?.facts ?? {} }));
  if (obstacles(canary, plan).length > 0 || mayPanic || isTested) return units;
  return units.map((unit) => (unit === canary ? { ...unit, overTcp: names } : unit));
}

/** @throws FleetError `cli/usage` for a runtime that no apply has installed yet */
function refuseNew({ words: [word] }: Run, { opened, fleet }: SettledCluster): void {
  const isIt = ({ name }: { readonly name: string }): boolean => name === word;
  if (word === undefined || fleet.runtimes.some(isIt) || !opened.fleet.runtimes.some(isIt)) return;
  throw usageError(`${word} has no version yet.`, prose`Install its first version: ${meshwright('apply')}`);
}

/** The applied cluster with the version in the file; with `--again`, also if it was rolled back. */
export async function settleWish(
  run: Run,
  applied: SettledCluster,
  { ways, consent }: Pick<Upgrade, 'ways' | 'consent'>,
): Promise<SettledCluster> {
  refuseNew(run, applied);
  const before = wantedRuntime(run, applied.fleet);
  const targets = usersOf(applied.fleet, before);
  const first = await settleOneRuntime(run, applied, before.name);
  const canBeSeen = run.own['check'] === true || (run.console.canAsk && !run.options.json);
  if (!canBeSeen && run.own['updateLock'] !== true) refuseUnresolved(run, first);
  const made = run.own['check'] === true ? undefined : await makeLists(run, { cluster: first, targets, ways, consent });
  const cluster = made === undefined ? first : await settleOneRuntime(run, applied, before.name, made.missing);
  const { rolledBackFrom: from } = wantedRuntime(run, cluster.fleet);
  if (from === undefined || run.own['again'] !== true) return cluster;
  const fleet = withVersion(cluster, wantedRuntime(run, cluster.fleet), { from, to: from });
  return { ...cluster, fleet, lock: withRolledBack(cluster.lock, before.name, undefined) };
}

/** The version that the Macs use now or, if a killed run has brought all of them to the new one, the one that they keep. */
function oldVersion(
  runtime: DesiredRuntime,
  nodes: readonly NodeName[],
  observation: FleetObservation,
): Digest | undefined {
  const used = nodes.flatMap((node) =>
    (seenValue(treesOn(node, runtime, observation)) ?? []).flatMap(({ isCurrent, whole }) =>
      isCurrent && whole !== undefined && whole !== runtime.digest ? whole : [],
    ),
  );
  const [first, ...others] = new Set(used);
  if (first !== undefined) return others.length === 0 ? first : undefined;
  try {
    return olderVersion({ runtime, nodes, to: undefined }, observation);
  } catch (error) {
    if (error instanceof FleetError) return undefined;
    throw error;
  }
}

/** `0.32.0 (0123456789abcdef)`, or only the digits. */
function versionText({ fleet: { versions = {} } }: SettledCluster, digest: Digest | undefined): string {
  const short = digest === undefined ? '' : shortDigest(digest);
  return versions[short] === undefined ? short : `${versions[short]} (${short})`;
}

const about = ({ cluster }: Upgrade) => ({
  cluster: cluster.fleet.name,
  verb,
  lock: { path: cluster.lockPlace.path, written: false, additions: cluster.additions },
});

const nodesOf = (units: readonly RuntimeUnit[]): readonly NodeName[] => units.flatMap(({ nodes }) => nodes);

/** Nothing was done: no unit that changes can be run as a whole. */
function blocked(upgrade: Upgrade, plan: Plan): EndedRun {
  const { run, cluster, units, observation } = upgrade;
  const targets = nodesOf(units);
  // Nothing is done, so there is nothing to undo.
  const { undo: _, ...shown } = plan;
  showPlan(run, shown, { lock: { shown: cluster.lockPlace.shown, additions: cluster.additions } });
  const last = { goal: goal.kind, plan, observation, fleet: cluster.fleet, targets };
  const ended = endedRun(run, { targets, report: nothingRun(targets), last }, about(upgrade));
  // An upgrade first lists the packages of a runtime, or builds it.
  if (run.own['check'] === true && isMadeFirst(upgrade.runtime.unread)) return checked(ended, upgrade);
  const exit = ended.exit === exitCode.handsNeeded ? ended.exit : exitCode.nothingChanged;
  const text = paragraphText(run.console, 'Nothing was changed. All Macs of a unit must be ready first.');
  return { ...ended, exit, document: { ...ended.document, exit, exits: [exit] }, text: `\n${text}` };
}

const keepLock = ({ cluster, runtime }: Upgrade): Promise<boolean> =>
  changeLock(cluster.lockPlace, (now) => withRuntimeOf(now, cluster.lock, runtime.name));

async function nothingToDo(upgrade: Upgrade, plan: Plan): Promise<EndedRun> {
  const { run, cluster, units, observation, runtime } = upgrade;
  const targets = nodesOf(units);
  const last = { goal: goal.kind, plan, observation, fleet: cluster.fleet, targets };
  // The Macs may have the version although this lock does not, such as on another computer.
  const isKept = run.own['check'] !== true && (await keepLock(upgrade));
  const surroundings = about(upgrade);
  const lock = { ...surroundings.lock, written: isKept };
  const ended = endedRun(run, { targets, report: nothingRun(targets), last }, { ...surroundings, lock });
  const version = versionText(cluster, runtime.digest);
  const text = `Nothing to do: ${everyNodeText(targets)} already ${targets.length === 1 ? 'has' : 'have'} ${runtime.name} ${version}.`;
  const back = backOf(runtime);
  if (back === undefined) return { ...ended, text: paragraphText(run.console, text) };
  return withFinding({ ...ended, text: '' }, run, rolledBack(upgrade, back), exitCode.nothingChanged);
}

/** Installs on all Macs, then restarts one unit after another. A unit that does not serve rolls everything back. */
async function roll(upgrade: Upgrade, whole: Plan): Promise<EndedRun> {
  const { run, cluster, ways, consent, runtime, observation, units } = upgrade;
  const { fleet } = cluster;
  const leftOut = leftOutFindings(upgrade);
  const isCheck = run.own['check'] === true;
  let batches: Parameters<typeof batchesJson>[0] = [];
  const foresee: NonNullable<CommandSpec['ahead']>['foresee'] = async (all) => {
    batches = all;
    if (!run.options.json) showUpgrade(upgrade, whole, effectsOf(batches));
    return !isCheck && consent.giveAll(effectsOf(batches), questionOf(upgrade));
  };
  let isWritten = false;
  const keep = async (): Promise<void> => {
    if (await keepLock(upgrade)) isWritten = true;
  };
  const scope = { desired: fleet, targets: nodesOf(units) };
  const command: CommandSpec = {
    verb,
    playbook: upgradePlaybook(runtime.name, units.filter(isReady)),
    scope,
    consent,
    ahead: { foresee },
    texts: { show: () => undefined, task: servedOverTcp },
    hooks: { onLeased: keep },
    // Nothing contacts the Macs that are left out again, so what was observed first of them counts.
    check: ({ observation: last, ...report }) =>
      checkGoal(goal, scope)({ ...report, ...given({ observation: last && joinedObservation(observation, last) }) }),
    ending: () => ({ lock: { written: isWritten, additions: cluster.additions }, found: leftOut }),
  };
  const acted = await actOn(run, command, { ...cluster, seen: observation }, ways);
  const isShown = acted.outcome.report.isDeclined;
  const ended = isShown ? acted : { ...acted, problems: [...(acted.problems ?? []), ...leftOut] };
  const document = { ...ended.document, batches: batchesJson(batches, { desired: fleet, mayReboot: false }) };
  if (isCheck && !run.signal.aborted) return checked({ ...ended, document }, upgrade);
  const failed = failedUnit(upgrade, ended);
  if (failed !== undefined) return goBack(upgrade, { ...ended, document }, failed);
  const back = backOf(runtime);
  if (back === undefined || ended.exit !== exitCode.done) return { ...ended, document };
  return withFinding({ ...ended, document }, run, rolledBack(upgrade, back));
}

/** The rollback that is in force. */
const backOf = ({ digest: to, rolledBackFrom: from }: DesiredRuntime): RolledBack | undefined =>
  to === undefined || from === undefined ? undefined : { from, to };

const leftOutFindings = ({ units, runtime: { name } }: Upgrade): readonly Diagnostic[] =>
  units
    .filter((unit) => !isReady(unit))
    .map(({ nodes, placements, leftOut }) => {
      const names = placements.length === 0 ? '' : ` (${listText(placements)})`;
      const detail = `${everyNodeText(nodes)}${names} ${nodes.length === 1 ? 'is' : 'are'} left out: ${leftOut}.`;
      const hint = prose`When these Macs are ready, run the same command again, or apply: ${meshwright(verb, name)}`;
      return diagnose('upgrade/left-out', { subject: nodesSubject(nodes), detail, hint });
    });

/**
 * The units with a proof come first: only they can show with a token that the version works. A start over TCP is a play
 * of its own, so that nothing starts over RDMA if it fails.
 */
function upgradePlaybook(name: string, units: readonly RuntimeUnit[]): Playbook {
  const isProof = ({ placements }: RuntimeUnit): boolean => placements.length > 0;
  const proofs = units.filter(isProof);
  const at = proofs.findIndex(({ overTcp }) => overTcp.length > 0);
  const install = { kind: 'goal', goal: { kind: 'install-runtime', names: [name] } } as const;
  return {
    name: verb,
    plays: [
      { nodes: { kind: 'names', names: nodesOf(units) }, serial: [], maxFailures: 0, tasks: [install] },
      ...(at < 0 ? [proofs] : [proofs.slice(0, at), proofs.slice(at, at + 1), proofs.slice(at + 1)]).flatMap((some) => [
        ...some.filter(({ overTcp }) => overTcp.length > 0).map((one) => rollingPlay(one.nodes, one.overTcp)),
        { ...rollingPlay(nodesOf(some)), bakeMs: upgradeBakeMs },
      ]),
      rollingPlay(nodesOf(units.filter((unit) => !isProof(unit)))),
    ],
  };
}

const rollingPlay = (names: readonly NodeName[], overTcp?: readonly string[]): Play => ({
  nodes: { kind: 'names', names },
  serial: [{ kind: 'unit' }],
  maxFailures: 0,
  tasks: [overTcp === undefined ? goal : { kind: 'goal', goal: { ...goal, overTcp } }],
});

const overTcpIn = ({ task }: Pick<PlaybookWork, 'task'>): readonly string[] =>
  task.kind === 'goal' && task.goal.kind === 'converge' ? (task.goal.overTcp ?? []) : [];

function servedOverTcp(work: PlaybookWork): string | undefined {
  const names = overTcpIn(work);
  return names.length === 0 || work.failed.length > 0 ? undefined : `${listText(names)}: returned a token over TCP`;
}

function showUpgrade(upgrade: Upgrade, whole: Plan, all: readonly EffectTotal[]): void {
  const { run, cluster, runtime, units, old } = upgrade;
  const page = pageFor(run.console);
  const from = old === undefined ? undefined : versionText(cluster, old);
  const view = { name: runtime.name, from, to: versionText(cluster, runtime.digest), units };
  const effects = effectTexts({ effects: all, changes: [], steps: [] });
  const paragraphs = [
    runtimeOrderText(view),
    ...(effects.length === 0 ? [] : [`Effects: ${effects.join('; ')}.`]),
    ...(cluster.additions.length === 0 ? [] : [`New in ${cluster.lockPlace.shown}: ${cluster.additions.join('; ')}.`]),
  ];
  showDiagnostics(run.console, whole.diagnostics);
  run.console.out(`${runtimeUpgradeLines(view, page).join('\n')}\n`);
  for (const one of paragraphs) run.console.out(`\n${paragraphText(run.console, one)}`);
  for (const lines of blockerBlocks(whole.blockers, page)) run.console.out(`\n${lines.join('\n')}\n`);
  run.console.out('\n');
}

const questionOf = ({ runtime, cluster }: Upgrade): string =>
  `Upgrade ${runtime.name} to ${versionText(cluster, runtime.digest)}?`;

function checked(ended: EndedRun, { run, runtime }: Upgrade): EndedRun {
  const exit = exitCode.changesPending;
  const text = prose`Checked only: nothing was changed. To run it: ${meshwright(verb, runtime.name)}`;
  return {
    ...ended,
    exit,
    document: { ...ended.document, exit, exits: [exit] },
    text: paragraphText(run.console, text),
  };
}

/** Removes surplus versions. It stops nothing. */
const cleanPlay = (names: readonly NodeName[]): Play => ({
  nodes: { kind: 'names', names },
  serial: [],
  maxFailures: 0,
  tasks: [{ kind: 'converge', only: ['runtime'] }],
});

interface FailedUnit {
  readonly nodes: readonly NodeName[];
  /** The other Macs that have the new version. */
  readonly others: readonly NodeName[];
  /** The placements that did not serve over TCP; empty: over the transport in the file. */
  readonly overTcp: readonly string[];
}

/**
 * The unit that does not serve with the new version; one that was only lost before its turn has the old one. A run that
 * was interrupted or lost its leases changes nothing more.
 */
function failedUnit(
  { run, runtime, nodes: all, observation }: Upgrade,
  { outcome: { report } }: EndedRun,
): FailedUnit | undefined {
  const { works } = report;
  const isCut = works.some((one) => one.refusals.length > 0 || one.run?.isLeaseLost === true);
  if (run.signal.aborted || report.isDeclined || isCut || runtime.rolledBackFrom !== undefined) return undefined;
  const hasNew = (node: NodeName): boolean =>
    (seenValue(treesOn(node, runtime, observation)) ?? []).some(
      ({ isCurrent, whole }) => isCurrent && whole === runtime.digest,
    );
  const ofBatch = ({ play, batch }: PlaybookWork): readonly PlaybookWork[] =>
    works.filter((one) => one.play === play && one.batch === batch);
  const hasMoved = (one: PlaybookWork): boolean =>
    one.nodes.some(hasNew) ||
    ofBatch(one).some((other) => other.run?.steps.some(({ outcome }) => outcome === 'changed') === true);
  const failed = works.find(
    (one) => one.play > 0 && one.failed.some((node) => one.nodes.includes(node)) && hasMoved(one),
  );
  if (failed === undefined) return undefined;
  const nodes = ofBatch(failed).flatMap((one) => one.nodes);
  const moved = works.filter(({ play }) => play > 0).flatMap((one) => one.nodes);
  const others = all.filter((node) => !nodes.includes(node) && (moved.includes(node) || hasNew(node)));
  return { nodes: all.filter((node) => nodes.includes(node)), others, overTcp: overTcpIn(failed) };
}

/** Returns the unit that failed to the old version, then all others that have the new one. The lock records it, as for `rollback`. */
async function goBack(upgrade: Upgrade, first: EndedRun, { nodes, others, overTcp }: FailedUnit): Promise<EndedRun> {
  const { run, cluster, ways, consent, runtime, old } = upgrade;
  const { digest: from } = runtime;
  const what = `${everyNodeText(nodes)} did not serve with ${runtime.name} ${versionText(cluster, from)}${overTcp.length === 0 ? '' : ' over TCP'}`;
  if (old === undefined || from === undefined)
    return withFinding(first, run, unfinished(upgrade, `${what}, and no older version is on all of these Macs.`));
  if (!run.options.json) {
    showEnded(run, first);
    const text = `${what}. Going back to ${versionText(cluster, old)}:`;
    run.console.out(`\n${paragraphText(run.console, text)}`);
  }
  const back: RolledBack = { from, to: old };
  const scope = { desired: withVersion(cluster, runtime, back), targets: upgrade.nodes };
  let isWritten = first.document.lock.written;
  const keep = async (): Promise<void> => {
    if (await changeLock(cluster.lockPlace, (now) => withRolledBack(now, runtime.name, back))) isWritten = true;
  };
  const ended = await actOn(
    run,
    {
      verb,
      playbook: { name: verb, plays: [rollingPlay(nodes), rollingPlay(others), cleanPlay(upgrade.nodes)] },
      scope,
      consent,
      texts: { show: () => undefined },
      hooks: { onLeased: keep },
      check: checkGoal(goal, { ...scope, targets: [...nodes, ...others] }),
      ending: async () => {
        if (!run.signal.aborted) await keep();
        return { lock: { written: isWritten, additions: cluster.additions } };
      },
    },
    cluster,
    ways,
  );
  const document = {
    ...ended.document,
    ...given({ batches: first.document.batches }),
    steps: [...first.document.steps, ...ended.document.steps],
    diagnostics: [...first.document.diagnostics, ...ended.document.diagnostics],
  };
  if (run.signal.aborted) return { ...ended, document };
  const isBack = ended.exit === exitCode.done;
  const finding = isBack ? rolledBack(upgrade, back, `${what}. `) : unfinished(upgrade, `${what}.`);
  return withFinding({ ...ended, document }, run, finding);
}

function rolledBack({ cluster, runtime: { name } }: Upgrade, { from, to }: RolledBack, what = ''): Diagnostic {
  const { shown } = cluster.lockPlace;
  const detail = `${what}${name} was rolled back from ${versionText(cluster, from)} to ${versionText(cluster, to)}, which serves. Commit ${shown}: it keeps this version.`;
  const hint = prose`Name another version in the file. Or try this one again: ${meshwright(verb, name, '--again')}`;
  return diagnose('upgrade/rolled-back', { subject: runtimeSubject(name), detail, hint });
}

const unfinished = ({ runtime: { name } }: Upgrade, detail: string): Diagnostic =>
  diagnose('upgrade/not-rolled-back', { subject: runtimeSubject(name), detail });

/** A run that ends with the old version is not a success. */
function withFinding(ended: EndedRun, run: Run, finding: Diagnostic, exit: ExitCode = exitCode.failed): EndedRun {
  const diagnostics = [...ended.document.diagnostics, ...diagnosticsJson(run.console, [finding])];
  return {
    ...ended,
    exit,
    document: { ...ended.document, exit, exits: [exit], diagnostics },
    findings: [finding],
    events: [...(ended.events ?? []), { kind: 'finding', diagnostic: finding }],
  };
}
