import { pause } from '../../apply/run-timing.ts';
import type { UpdateOrder } from '../../apply/steps/context.ts';
import type { UpdateUnit } from '../../desired/update-units.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { pairsOf } from '../../drivers/known-pairs.ts';
import { type UpdateState, updateProblem } from '../../engine/diagnose/update-states.ts';
import { allKinds } from '../../engine/goals/scope.ts';
import type { EffectTotal } from '../../engine/plan/plan.ts';
import { type Play, type Playbook, type Task, upgradeBakeMs } from '../../engine/playbooks/playbook.ts';
import type { UpgradeDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { nodesSubject, subjectNodes } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { durationText } from '../../model/text/units.ts';
import type { Goal, MacosInstalls } from '../../rack/goal.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import {
  handsLines,
  lockText,
  needsUpdate,
  orderText,
  questionText,
  type UnitView,
  unitText,
  upgradeLines,
} from '../../report/upgrade-text.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { beyondUpgrade, type ConsentPolicy, createConsent } from '../plan/consent.ts';
import { readReviewed, requireReviewedUpdates } from '../plan/plan-document.ts';
import { diagnosticsJson, pageFor, paragraphText, showDiagnostics, withLine } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { timingFor } from '../use-limits.ts';
import type { Run, VerbBody } from '../verb.ts';
import { actOn, type CommandSpec } from './act-on.ts';
import { checkGoal, type FinalCheck } from './final-check.ts';
import type { EndedRun } from './run-outcome.ts';
import { downloadByProgram, readPasswords, refuseOwnMac, updateProgram } from './update-drivers.ts';
import {
  chosenUnits,
  firstMeasure,
  measure,
  type Offers,
  staysLocked,
  type Upgrade,
  wantedVersion,
} from './upgrade-units.ts';

/** What is put right after an update. Runtimes and models are not: an update does not touch them. */
const resetKinds: readonly ResourceKind[] = allKinds.filter(
  (kind) => !['hold', 'runtime', 'model', 'gateway', 'placement'].includes(kind),
);

/** Between two looks at Macs that a person updates. */
const handsPollMs = 10_000;

/** `upgrade macos [node...]`: brings Macs to the version in the file, one unit after another. */
export const upgradeMacos: VerbBody = async (run) => {
  const cluster = settleFromLock(run);
  // Until a Mac is updated, `accept` may exclude what it runs: that must not keep its placements from coming back.
  const { accept: _, ...macos } = cluster.fleet.macos;
  const fleet = { ...cluster.fleet, macos };
  const to = wantedVersion(run, fleet);
  const isByHand = fleet.macos.updateDriver === undefined;
  const ways = openTargets(run, cluster.opened);
  const about: Upgrade = { run, cluster, ways, fleet, to, units: chosenUnits(run, fleet), isByHand };
  const reviewed = readReviewed(run);
  const upgrade: Upgrade = { ...about, ...given({ reviewed: reviewed?.digest }) };
  const { views, offers } = await firstMeasure(upgrade);
  refuseBlocked(views);
  if (reviewed !== undefined)
    requireReviewedUpdates(reviewed, { cluster: fleet.name, to, nodes: nodesToUpdate(views) });
  const isNeeded = views.some(needsUpdate);
  const pairs = isNeeded
    ? pairsOf(
        fleet,
        views.filter(needsUpdate).flatMap(({ placements }) => placements),
      )
    : [];
  if (isNeeded && !run.options.json) {
    const page = pageFor(run.console);
    run.console.out(`${upgradeLines(to, views, page).join('\n')}\n\n`);
    run.console.out(`${paragraphText(run.console, orderText(views, fleet.macos.updateDriver))}\n`);
  }
  if (run.own['check'] === true) {
    const [exit, text] = isNeeded ? [exitCode.changesPending, ''] : [exitCode.done, allDone(to)];
    return ended(upgrade, views, exit, text, pairs);
  }
  if (!run.options.json) showDiagnostics(run.console, pairs);
  if (!isNeeded) return roll(upgrade, { views, offers });
  const locked = await staysLocked(upgrade, views);
  if (locked.length > 0 && !run.options.json) run.console.out(`${paragraphText(run.console, lockText(locked))}\n`);
  const agreed = effectsOf(upgrade, views, locked);
  if (!(await createConsent(run, policyOf(upgrade)).giveAll(agreed, questionText(to, views))))
    return ended(upgrade, views, exitCode.nothingChanged, 'Nothing was changed.');
  return roll({ ...upgrade, ...(await installerFor(upgrade, views)), agreed }, { views, offers });
};

const policy = { named: ['interrupt', 'reboot'], allowable: beyondUpgrade.macos } as const;

/** With a reviewed plan, the command itself is no consent: a job of CI types it after every merge. */
const policyOf = ({ reviewed }: Upgrade): ConsentPolicy =>
  reviewed === undefined ? policy : { allowable: [...policy.named, ...policy.allowable], reviewed };

const nodesToUpdate = (views: readonly UnitView[]): readonly NodeName[] =>
  views.flatMap(({ nodes }) => nodes).flatMap(({ node, state }) => (state.kind === 'done' ? [] : node));

/** The effects of the whole update. */
function effectsOf(
  { isByHand }: Upgrade,
  views: readonly UnitView[],
  locked: readonly NodeName[],
): readonly EffectTotal[] {
  const units = views.filter(needsUpdate);
  const nodes = nodesToUpdate(units);
  const placements = units.flatMap((unit) => unit.placements);
  return [
    { kind: 'interrupt', nodes: units.flatMap((unit) => unit.nodes.map(({ node }) => node)), placements },
    ...(isByHand ? [] : [{ kind: 'reboot', nodes, placements: [] } as const]),
    ...(locked.length === 0 ? [] : [{ kind: 'locked-reboot', nodes: locked, placements: [] } as const]),
  ];
}

/** What this run needs to install updates. @throws FleetError `upgrade/no-password`, `secret/…`, `trust/…`, `cli/usage` */
async function installerFor(
  { run, cluster, fleet, to }: Upgrade,
  views: readonly UnitView[],
): Promise<Pick<Upgrade, 'program' | 'passwords'>> {
  const names = nodesToUpdate(views);
  const { updateDriver } = fleet.macos;
  if (updateDriver === undefined || names.length === 0) return {};
  const nodes = fleet.nodes.filter(({ name }) => names.includes(name));
  await refuseOwnMac(nodes);
  if (updateDriver === 'softwareupdate') return { passwords: await readPasswords(run, nodes, cluster) };
  return { program: await updateProgram(run, cluster, updateDriver, to) };
}

const allDone = (to: string): string => `All of these Macs run macOS ${to}.`;

/** @throws FleetError with a diagnostic per Mac that cannot be updated, before anything is downloaded */
function refuseBlocked(views: readonly UnitView[]): void {
  const [first, ...rest] = views
    .flatMap(({ nodes }) => nodes)
    .flatMap(({ state }) => (state.kind === 'blocked' ? state.diagnostic : []));
  if (first !== undefined) throw new FleetError([first, ...rest]);
}

/** Downloads everywhere, then updates one unit after another. The first unit that is not right ends it. */
async function roll(
  upgrade: Upgrade,
  { views, offers }: { readonly views: readonly UnitView[]; readonly offers: Offers },
) {
  const { run } = upgrade;
  const problem = await downloadWithProgram(upgrade, views);
  if (problem.length > 0) {
    const text = prose`Nothing was stopped or installed. Then run the same command again: ${sameCommand(run)}`;
    return ended(upgrade, views, exitCode.failed, text, problem);
  }
  const downloaded = await downloadAll(upgrade, views);
  if (downloaded !== undefined && downloaded.exit !== exitCode.done)
    return stopped(upgrade, views, downloaded, 'Nothing was stopped or installed.');
  let now = views;
  for (const [at, unit] of upgrade.units.entries()) {
    const view = now[at];
    if (view === undefined || run.signal.aborted) break;
    const startedAtMs = performance.now();
    const byHand = view.nodes.some(({ state }) => state.kind === 'by-hand');
    if (byHand) {
      const stop = unit.placements.length === 0 ? undefined : await stopUnit(upgrade, unit);
      if (stop !== undefined && stop.exit !== exitCode.done) return stopped(upgrade, now, stop, '');
      const seen = await personInstalls(upgrade, at);
      if (seen === undefined) return leftToPerson(upgrade, view, now);
      const newer = newerIn(seen);
      if (newer.length > 0) return ended(upgrade, now.with(at, seen), exitCode.failed, restText(upgrade, at), newer);
    }
    const isFollowed = now.slice(at + 1).some(needsUpdate);
    const done = await updateUnit(upgrade, unit, { view, isFollowed });
    if (run.signal.aborted) return stopped(upgrade, now, done, '');
    now = await measure(upgrade, offers);
    const problems = problemsOf(upgrade, view, { after: now[at], views });
    if (done.exit !== exitCode.done || problems.length > 0)
      return stopped(upgrade, now, done, restText(upgrade, at), problems);
    if (needsUpdate(view) && !run.options.json && now[at] !== undefined) {
      const took = durationText(performance.now() - startedAtMs);
      run.console.out(paragraphText(run.console, `${at + 1}. ${unitText(now[at], took)}`));
    }
  }
  if (run.signal.aborted) return ended(upgrade, now, exitCode.failed, '');
  return ended(upgrade, now, exitCode.done, allDone(upgrade.to));
}

/** The updates that these Macs still need, by node; undefined if they need none. */
function installsOf({ to, program }: Upgrade, views: readonly UnitView[]): MacosInstalls | undefined {
  const by = program === undefined ? {} : { by: 'command' as const };
  const on = views
    .flatMap(({ nodes }) => nodes)
    .flatMap(({ node, state }) => {
      if (state.kind === 'offered') return [[node, { label: state.update.label, ...by }] as const];
      return state.kind === 'installing' ? [[node, { label: state.label, ...by }] as const] : [];
    });
  return on.length === 0 ? undefined : { to: `macOS ${to}`, on: Object.fromEntries(on) };
}

const namesIn = ({ on }: MacosInstalls, nodes: readonly NodeName[]): readonly NodeName[] =>
  nodes.filter((node) => Object.hasOwn(on, node));

/** Returns undefined if no Mac needs a download. A Mac that installs already has it. */
async function downloadAll(upgrade: Upgrade, views: readonly UnitView[]): Promise<EndedRun | undefined> {
  if (upgrade.program !== undefined) return undefined;
  const offered = views.map((view) => ({
    ...view,
    nodes: view.nodes.filter(({ state }) => state.kind === 'offered'),
  }));
  const install = installsOf(upgrade, offered);
  if (install === undefined) return undefined;
  const nodes = namesIn(
    install,
    upgrade.fleet.nodes.map(({ name }) => name),
  );
  return act(upgrade, {
    goal: { kind: 'download-macos', nodes, install },
    scope: { desired: upgrade.fleet, targets: nodes },
  });
}

/** The Macs whose update is offered. */
const offeredIn = ({ fleet }: Upgrade, views: readonly UnitView[]) =>
  views.flatMap(({ nodes }) =>
    nodes.flatMap(({ node: name, state }) => {
      const node = fleet.nodes.find((one) => one.name === name);
      return node !== undefined && state.kind === 'offered' ? { node, update: state.update } : [];
    }),
  );

async function downloadWithProgram(upgrade: Upgrade, views: readonly UnitView[]): Promise<readonly Diagnostic[]> {
  const { run, program } = upgrade;
  const nodes = offeredIn(upgrade, views);
  if (program === undefined || nodes.length === 0) return [];
  const line = (seconds: number): string => `downloading macOS ${upgrade.to}: ${durationText(seconds * 1_000)}`;
  return withLine(run.console, line, () => downloadByProgram(program, nodes));
}

/** Orders the update of a Mac in this unit. */
function orderFor(upgrade: Upgrade, view: UnitView) {
  const { program } = upgrade;
  if (program === undefined) return undefined;
  return (name: NodeName): Promise<UpdateOrder> => {
    const found = offeredIn(upgrade, [view]).find(({ node }) => node.name === name);
    return found === undefined
      ? Promise.resolve({ kind: 'refused', why: 'It is unknown which build the Mac is offered.' })
      : program('install', found.node, found.update.build ?? '');
  };
}

function stopUnit(upgrade: Upgrade, { nodes, placements }: UpdateUnit): Promise<EndedRun> {
  const goal: Goal = { kind: 'stop', placements: placements.map(({ name }) => name) };
  const scope = { desired: upgrade.fleet, targets: nodes };
  return act(upgrade, { goal, scope, check: checkGoal(goal, scope) });
}

/** Installs what the unit needs, and puts right what an update resets. Without an update, it only does the latter. */
function updateUnit(
  upgrade: Upgrade,
  { nodes }: UpdateUnit,
  { view, isFollowed }: { readonly view: UnitView; readonly isFollowed: boolean },
): Promise<EndedRun> {
  const { fleet, passwords } = upgrade;
  const install = installsOf(upgrade, [view]);
  const scope = { desired: fleet, targets: nodes };
  const { placements } = view;
  const [state] = view.nodes.map((one) => one.state);
  const isFresh = view.nodes.every(
    (one) => one.state.kind === 'offered' && state?.kind === 'offered' && one.state.from === state.from,
  );
  const restarts: readonly Task[] =
    install === undefined
      ? []
      : [
          // Mixed versions block a start, and only the rest of the update cures that.
          {
            kind: 'goal',
            goal: {
              kind: 'reboot',
              nodes: namesIn(install, nodes),
              install,
              ...(isFresh && placements.length > 0 ? { back: placements } : {}),
            },
          },
          { kind: 'wait', for: 'observed', deadlineMs: 900_000 },
        ];
  const brings: readonly Task[] = [
    { kind: 'converge', only: resetKinds },
    ...(placements.length === 0 ? [] : [{ kind: 'start', placements } as const]),
  ];
  // The next unit waits, and this one keeps its leases, also if an earlier run or a person has updated it.
  const bakes = isFollowed && placements.length > 0;
  return act(upgrade, {
    scope,
    playbook: unitPlaybook(nodes, restarts, { tasks: brings, ...(bakes ? { bakeMs: upgradeBakeMs } : {}) }),
    check: unitCheck(scope, placements),
    hooks: {
      ...(passwords === undefined ? {} : { passwordOf: (node) => Promise.resolve(passwords.get(node)) }),
      ...given({ orderUpdate: orderFor(upgrade, view) }),
    },
  });
}

/** A Mac whose update failed is still brought back, with what served on it, if nothing blocks that. */
function unitPlaybook(
  names: readonly NodeName[],
  restarts: readonly Task[],
  brings: Pick<Play, 'tasks' | 'bakeMs'>,
): Playbook {
  const nodes = { kind: 'names', names } as const;
  const plays = [
    { nodes, serial: [], maxFailures: names.length, tasks: restarts },
    { nodes, serial: [], maxFailures: 0, ...brings },
  ];
  return { name: 'upgrade macos', plays: plays.filter(({ tasks }) => tasks.length > 0) };
}

/** Nothing is left to put right, and the placements serve. */
function unitCheck(scope: CommandSpec['scope'], placements: readonly string[]): FinalCheck {
  const settings = checkGoal({ kind: 'converge', only: resetKinds }, scope);
  const serving = checkGoal({ kind: 'start', placements }, scope);
  return (report) => {
    const one = settings(report);
    const { changes = [], waiting = [], blockers = [] } = one.last?.plan ?? {};
    const isBlocked = blockers.some(({ resource }) => resetKinds.includes(resource));
    const isRight = changes.length + waiting.length === 0 && !isBlocked;
    return isRight && placements.length > 0 ? serving(report) : one;
  };
}

/** The question for the whole update was answered, so its parts are not shown again, except if nothing was asked. */
function act(upgrade: Upgrade, command: Omit<CommandSpec, 'verb' | 'consent'>): Promise<EndedRun> {
  const { run, cluster, ways, agreed, reviewed } = upgrade;
  const isAgreed = agreed !== undefined;
  const unasked = reviewed === undefined ? { named: ['interrupt'] as const } : {};
  const consent = createConsent(run, { ...policyOf(upgrade), ...(isAgreed ? { isAgreed, agreed } : unasked) });
  const texts = isAgreed ? { texts: { show: () => undefined } } : {};
  return actOn(run, { verb: 'upgrade macos', ...command, consent, ...texts }, cluster, ways);
}

/** What is wrong with a unit after its update: only the next boot session's exact build proves it. */
function problemsOf(
  { to }: Upgrade,
  { nodes }: UnitView,
  { after, views }: { readonly after: UnitView | undefined; readonly views: readonly UnitView[] },
): readonly Diagnostic[] {
  return nodes.flatMap(({ node, state, model }) => {
    const build = state.kind === 'offered' ? state.update.build : buildFor(model, views);
    const now = after?.nodes.find((one) => one.node === node)?.state;
    return updateProblem(to, { node, build, now }) ?? [];
  });
}

/** The build that other Macs of this model are offered, if it is one. */
function buildFor(model: string | undefined, views: readonly UnitView[]): string | undefined {
  const others = views.flatMap(({ nodes }) => nodes).filter((one) => one.model === model);
  const builds = new Set(others.map(({ state }) => (state.kind === 'offered' ? state.update.build : undefined)));
  builds.delete(undefined);
  return builds.size === 1 ? [...builds][0] : undefined;
}

/** With --wait-for-hands, waits until a person has updated the unit, or installed a newer version. */
async function personInstalls(upgrade: Upgrade, at: number): Promise<UnitView | undefined> {
  const { run } = upgrade;
  if (run.own['waitForHands'] !== true) return undefined;
  const timing = timingFor(run);
  let said: string | undefined;
  while (!run.signal.aborted) {
    const view = (await measure(upgrade, new Map()))[at];
    if (view === undefined || !needsUpdate(view) || newerIn(view).length > 0) return view;
    const text = handsText(upgrade, view);
    if (text !== said && text !== '' && !run.options.json) run.console.out(`${text}\n`);
    if (said === undefined) run.console.err('waiting for the manual steps; Ctrl-C stops waiting\n');
    said = text;
    await pause(handsPollMs * timing.scale, run.signal);
  }
  return undefined;
}

const newerIn = ({ nodes }: UnitView): readonly Diagnostic[] =>
  nodes.flatMap(({ state }) => (state.kind === 'blocked' && state.isNewer ? state.diagnostic : []));

const nodesByHand = ({ nodes }: UnitView): readonly NodeName[] =>
  nodes.flatMap(({ node, state }) => (state.kind === 'by-hand' ? node : []));

/** The manual steps; empty while the Macs restart. */
function handsText({ run, to }: Upgrade, view: UnitView): string {
  const nodes = nodesByHand(view);
  if (nodes.length === 0) return '';
  const typed = prose`Simulated rack: ${aside(meshwright('sim hands', 'update', ...nodes, to))} does this.`;
  const rehearsal = run.console.isSimulated ? `\n${paragraphText(run.console, typed)}` : '';
  return `${handsLines(to, view, pageFor(run.console)).join('\n')}${rehearsal}`;
}

function leftToPerson(upgrade: Upgrade, view: UnitView, now: readonly UnitView[]) {
  const { run } = upgrade;
  const again = paragraphText(run.console, prose`Then: ${sameCommand(run)}`);
  const left = nodesByHand(view);
  const detail = `A person has to install macOS ${upgrade.to} on ${everyNodeText(left)}.`;
  // The list of steps, which only people see, says the same.
  const finding = diagnose('upgrade/by-hand', { subject: nodesSubject(left), detail });
  const made = ended(upgrade, now, exitCode.handsNeeded, '', run.options.json && left.length > 0 ? [finding] : []);
  return { ...made, text: `${handsText(upgrade, view)}\n${again}` };
}

const sameCommand = ({ own, words }: Run) => meshwright('upgrade macos', ...(own['all'] === true ? ['--all'] : words));

/** What the failure of one unit leaves alone. */
function restText({ units }: Upgrade, at: number): string {
  const rest = units.slice(at + 1).flatMap(({ nodes }) => nodes);
  return rest.length === 0 ? '' : `Not touched: ${listText(rest)}.`;
}

function stopped(
  upgrade: Upgrade,
  now: readonly UnitView[],
  run: EndedRun,
  rest: string,
  own: readonly Diagnostic[] = [],
) {
  const failed = now.some((one) => !needsUpdate(one)) ? exitCode.partial : exitCode.failed;
  const exit = run.exit === exitCode.done || run.exit === exitCode.failed ? failed : run.exit;
  const again = prose`Then run the same command again: ${sameCommand(upgrade.run)}`;
  const { problems: known = [] } = run;
  // The failure of the update itself says more than that the Mac is not updated.
  const told = known.flatMap(({ subject }) => subjectNodes(subject));
  const more = own.filter(({ subject }) => !subjectNodes(subject).some((node) => told.includes(node)));
  const problems = [...known, ...more];
  const made = ended(upgrade, now, exit, prose`${rest}${rest === '' ? '' : ' '}${again}`, problems);
  return { ...made, text: `${run.text}\n${made.text}` };
}

function ended(
  { run, cluster, to }: Upgrade,
  views: readonly UnitView[],
  exit: ExitCode,
  text: Prose,
  problems: readonly Diagnostic[] = [],
) {
  const document: UpgradeDocument = {
    ...documentHead(run.console, { cluster: cluster.fleet.name }),
    to,
    units: views.map(({ nodes, placements }) => ({
      nodes: Object.fromEntries(nodes.map(({ node, state }) => [node, { state: state.kind, macos: seenText(state) }])),
      placements,
    })),
    diagnostics: diagnosticsJson(run.console, problems),
  };
  return {
    exit: exitOfSignal(run.signal) ?? exit,
    document,
    problems,
    text: text === '' ? '' : paragraphText(run.console, text),
  };
}

function seenText(state: UpdateState): string | null {
  if (state.kind === 'done') return state.text;
  return state.kind === 'blocked' ? null : state.from;
}
