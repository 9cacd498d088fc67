import { dirname } from 'node:path';
import { ownIdentity } from '../../apply/lease/controller.ts';
import type { CommandOutcome } from '../../apply/reach/session.ts';
import { pause } from '../../apply/run-timing.ts';
import { type UpdateUnit, updateUnits } from '../../desired/update-units.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { type UpdateState, updateProblem, updateState } from '../../engine/diagnose/update-states.ts';
import { allKinds } from '../../engine/goals/scope.ts';
import type { Playbook, Task } from '../../engine/playbooks/playbook.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import type { UpgradeDocument } from '../../model/documents.generated.ts';
import { type MacosUpdate, withMinor } from '../../model/facts/mac.ts';
import { type Known, unknown } from '../../model/known.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import type { Secret } from '../../model/secret.ts';
import { nodeSubject, subjectNodes } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { durationText } from '../../model/text/units.ts';
import type { Goal, MacosInstalls } from '../../rack/goal.ts';
import { softwareUpdatesFact } from '../../rack/macos/fact.ts';
import { updateListCommand } from '../../rack/macos/update-scripts.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { printedText } from '../../remote/remote.ts';
import {
  handsLines,
  needsUpdate,
  orderText,
  questionText,
  type UnitView,
  unitText,
  upgradeLines,
} from '../../report/upgrade-text.ts';
import { resolveSecret } from '../../secrets/resolve-secret.ts';
import { type SettledCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { namedNodes } from '../cluster/targets.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { askNodes, observeNodes, shownOnly } from '../look/observe-fleet.ts';
import { createConsent } from '../plan/consent.ts';
import { secretContext } from '../sources/secrets.ts';
import { askYes } from '../terminal/ask.ts';
import { diagnosticsJson, pageFor, paragraphText } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { timingFor } from '../use-limits.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { actOn, type CommandSpec } from './act-on.ts';
import { checkGoal, type FinalCheck } from './final-check.ts';
import type { EndedRun } from './run-outcome.ts';

/** What is put right after an update. Runtimes and models are not: an update does not touch them. */
const resetKinds: readonly ResourceKind[] = allKinds.filter(
  (kind) => !['hold', 'runtime', 'model', 'gateway', 'placement'].includes(kind),
);

/** A scan of the update server takes longer than an observation. */
const scanMs = 180_000;

/** Between two looks at Macs that a person updates. */
const handsPollMs = 10_000;

interface Upgrade {
  readonly run: Run;
  readonly cluster: SettledCluster;
  readonly ways: SshTargets;
  readonly fleet: DesiredFleet;
  readonly to: string;
  readonly units: readonly UpdateUnit[];
  readonly isByHand: boolean;
}

/** `upgrade macos [node...]`: brings Macs to the version in the file, one unit after another. */
export const upgradeMacos: VerbBody = async (run) => {
  const cluster = settleFromLock(run);
  // Until a Mac is updated, `accept` may exclude what it runs: that must not keep its placements from coming back.
  const { accept: _, ...macos } = cluster.fleet.macos;
  const fleet = { ...cluster.fleet, macos };
  const to = wantedVersion(run, fleet);
  const isByHand = fleet.macos.updateDriver === undefined;
  const ways = openTargets(run, cluster.opened);
  const upgrade: Upgrade = { run, cluster, ways, fleet, to, units: chosenUnits(run, fleet), isByHand };
  const { views, offers } = await firstMeasure(upgrade);
  refuseBlocked(views);
  const isNeeded = views.some(needsUpdate);
  if (isNeeded && !run.options.json) {
    const page = pageFor(run.console);
    run.console.out(`${upgradeLines(to, views, page).join('\n')}\n\n`);
    run.console.out(`${paragraphText(run.console, orderText(views, isByHand))}\n`);
  }
  if (run.own['check'] === true) {
    return ended(upgrade, views, isNeeded ? exitCode.changesPending : exitCode.done, isNeeded ? '' : allDone(to));
  }
  if (isNeeded && !(await askYes(run, questionText(to, views))))
    return ended(upgrade, views, exitCode.nothingChanged, 'Nothing was changed.');
  const passwords = isByHand ? undefined : await readPasswords(upgrade, views);
  const agreed: Run = isNeeded ? { ...run, options: { ...run.options, yes: true } } : run;
  return roll({ ...upgrade, run: agreed }, { views, offers }, passwords);
};

const allDone = (to: string): string => `All of these Macs run macOS ${to}.`;

/** @throws FleetError `cli/usage` */
function wantedVersion(run: Run, { macos: { version } }: DesiredFleet): string {
  const typed = textOption(run, 'to');
  if (version === undefined) {
    throw usageError(
      'The file does not say which macOS the Macs should run.',
      `Add to the file: macos: { version: "${typed ?? '26.7'}" }`,
    );
  }
  if (typed !== undefined && withMinor(typed) !== version) {
    throw usageError(
      `The file wants macOS ${version}, not ${typed}.`,
      `The file decides. To change it, set in the file: macos: { version: "${typed}" }`,
    );
  }
  return version;
}

/**
 * The units of the named nodes.
 * @throws FleetError `cli/usage` for a part of a unit, because its Macs must run the same version
 */
function chosenUnits(run: Run, fleet: DesiredFleet): readonly UpdateUnit[] {
  const names = namedNodes(run, fleet).map(({ name }) => name);
  const units = updateUnits(fleet).filter(({ nodes }) => nodes.some((node) => names.includes(node)));
  const partial = units.find(({ nodes }) => nodes.some((node) => !names.includes(node)));
  if (partial === undefined) return units;
  const named = partial.nodes.filter((node) => names.includes(node));
  const others = partial.nodes.filter((node) => !names.includes(node));
  throw usageError(
    `${listText(named)} must run the same macOS as ${listText(others)}: they are cabled or share a placement.`,
    prose`Update them together: ${meshwright('upgrade macos', ...partial.nodes)}`,
  );
}

type Offers = ReadonlyMap<string, Known<readonly MacosUpdate[]>>;

/** Observes the Macs. With `offers`, a Mac without an entry is not updated by this command. */
async function measure({ run, ways, fleet, to, units }: Upgrade, offers: Offers): Promise<readonly UnitView[]> {
  const nodes = fleet.nodes.filter(({ name }) => units.some((unit) => unit.nodes.includes(name)));
  const observation = await observeNodes(run, nodes, ways, { ...shownOnly(run), facts: ['macos-version', 'jobs'] });
  const stateAt = (node: NodeName): UpdateState => {
    const seen = { node, facts: observation.nodes[node]?.facts, offers: offers.get(node) };
    return withReason(updateState(to, seen), observation.failures[node] ?? []);
  };
  return units.map((unit) => ({
    nodes: unit.nodes.map((node) => ({ node, state: stateAt(node) })),
    placements: unit.placements.filter(({ state }) => state === 'serving').map(({ name }) => name),
  }));
}

/** Observes the Macs, and asks those that need an update what they are offered. */
async function firstMeasure(upgrade: Upgrade) {
  const seen = await measure(upgrade, new Map());
  if (upgrade.isByHand) return { offers: new Map(), views: seen };
  const wanted = seen.flatMap(({ nodes }) => nodes).filter(({ state }) => state.kind === 'by-hand');
  const asked = upgrade.fleet.nodes.filter(({ name }) => wanted.some(({ node }) => node === name));
  if (asked.length === 0) return { offers: new Map(), views: seen };
  const offers = await readOffers(upgrade.run, asked, upgrade.ways);
  return { offers, views: await measure(upgrade, offers) };
}

/** Why a Mac was not reached says more than that its version is unknown. */
const withReason = (state: UpdateState, related: readonly Diagnostic[]): UpdateState =>
  state.kind === 'blocked' ? { ...state, diagnostic: { ...state.diagnostic, related } } : state;

async function readOffers(run: Run, nodes: readonly DesiredNode[], ways: SshTargets): Promise<Offers> {
  const { deadline } = run.options;
  const patient: Run = { ...run, options: { ...run.options, deadline: Math.max(deadline, scanMs) } };
  const outcomes = await askNodes(patient, { nodes, ways }, (_, rootPrefix) => ({
    name: 'software-updates',
    command: updateListCommand(rootPrefix),
  }));
  return new Map(outcomes.map((one) => [one.node, offersIn(one)]));
}

function offersIn(outcome: CommandOutcome): Known<readonly MacosUpdate[]> {
  if (outcome.kind === 'unreached') return unknown('unreachable', outcome.diagnostics[0]?.summary ?? '');
  const { isTruncated } = outcome.result;
  const answer = { probe: 'softwareupdate', ...printedText(outcome.result), isTruncated, isLate: false, isUtf8: true };
  return softwareUpdatesFact.parse([answer], { sentAtEpochMs: 0, receivedAtEpochMs: 0 });
}

/** @throws FleetError with a diagnostic per Mac that cannot be updated, before anything is downloaded */
function refuseBlocked(views: readonly UnitView[]): void {
  const [first, ...rest] = views
    .flatMap(({ nodes }) => nodes)
    .flatMap(({ state }) => (state.kind === 'blocked' ? state.diagnostic : []));
  if (first !== undefined) throw new FleetError([first, ...rest]);
}

/**
 * The password of each Mac's SSH user; a prompt is shown once per source.
 * @throws FleetError `upgrade/no-password`, `cli/usage` for the Mac on which the command runs, `secret/…`
 */
async function readPasswords(
  { run, cluster, fleet }: Upgrade,
  views: readonly UnitView[],
): Promise<ReadonlyMap<string, Secret>> {
  const names = views.flatMap(({ nodes }) => nodes).flatMap(({ node, state }) => (state.kind === 'done' ? [] : node));
  const nodes = fleet.nodes.filter(({ name }) => names.includes(name));
  const own = await ownIdentity();
  const found = new Map<string, Secret>();
  const bySource = new Map<string, Secret>();
  const problems: Diagnostic[] = [];
  for (const { name, password: source, identity } of nodes) {
    const subject = nodeSubject(name);
    if (own !== undefined && identity === own) {
      throw usageError(`This computer is ${name}: the update would end this command.`, 'Run it on another computer.');
    }
    if (source === undefined) {
      problems.push(
        diagnose('upgrade/no-password', { subject, detail: `The file has no password source for ${name}.` }),
      );
    } else {
      const key = JSON.stringify(source);
      const known = bySource.get(key);
      const about = { subject, folder: dirname(cluster.opened.path), question: `Password of the SSH user on ${name}` };
      const read = known ?? (await resolveSecret(source, secretContext(run, about)));
      if ('kind' in read && read.kind === 'missing') problems.push(read.diagnostic);
      else {
        const secret = 'kind' in read ? read.secret : read;
        bySource.set(key, secret);
        found.set(name, secret);
      }
    }
  }
  const [first, ...rest] = problems;
  if (first !== undefined) throw new FleetError([first, ...rest]);
  return found;
}

/** Downloads everywhere, then updates one unit after another. The first unit that is not right ends it. */
async function roll(
  upgrade: Upgrade,
  { views, offers }: { readonly views: readonly UnitView[]; readonly offers: Offers },
  passwords: ReadonlyMap<string, Secret> | undefined,
) {
  const { run } = upgrade;
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
      if (!(await personInstalls(upgrade, at))) return leftToPerson(upgrade, view, now);
    }
    const done = await updateUnit(upgrade, unit, { view, passwords });
    now = await measure(upgrade, offers);
    const problems = problemsOf(upgrade, view, now[at]);
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
function installsOf(to: string, views: readonly UnitView[]): MacosInstalls | undefined {
  const on = views
    .flatMap(({ nodes }) => nodes)
    .flatMap(({ node, state }) => {
      if (state.kind === 'offered') return [[node, { label: state.update.label }] as const];
      return state.kind === 'installing' ? [[node, { label: state.label }] as const] : [];
    });
  return on.length === 0 ? undefined : { to: `macOS ${to}`, on: Object.fromEntries(on) };
}

const namesIn = ({ on }: MacosInstalls, nodes: readonly NodeName[]): readonly NodeName[] =>
  nodes.filter((node) => Object.hasOwn(on, node));

/** Returns undefined if no Mac needs a download. A Mac that installs already has it. */
async function downloadAll(upgrade: Upgrade, views: readonly UnitView[]): Promise<EndedRun | undefined> {
  const offered = views.map((view) => ({
    ...view,
    nodes: view.nodes.filter(({ state }) => state.kind === 'offered'),
  }));
  const install = installsOf(upgrade.to, offered);
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

function stopUnit(upgrade: Upgrade, { nodes, placements }: UpdateUnit): Promise<EndedRun> {
  const goal: Goal = { kind: 'stop', placements: placements.map(({ name }) => name) };
  const scope = { desired: upgrade.fleet, targets: nodes };
  return act(upgrade, { goal, scope, check: checkGoal(goal, scope) });
}

/** Installs what the unit needs, and puts right what an update resets. Without an update, it only does the latter. */
function updateUnit(
  upgrade: Upgrade,
  { nodes }: UpdateUnit,
  { view, passwords }: { readonly view: UnitView; readonly passwords: ReadonlyMap<string, Secret> | undefined },
): Promise<EndedRun> {
  const { to, fleet } = upgrade;
  const install = installsOf(to, [view]);
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
  // The other units wait, and this one keeps its leases.
  const bakes: readonly Task[] =
    !needsUpdate(view) || placements.length === 0 || nodes === upgrade.units.at(-1)?.nodes
      ? []
      : [
          { kind: 'pause', text: '1m' },
          { kind: 'wait', for: 'serving', placements, deadlineMs: 60_000 },
        ];
  return act(upgrade, {
    scope,
    playbook: unitPlaybook(nodes, restarts, [...brings, ...bakes]),
    check: unitCheck(scope, placements),
    ...(passwords === undefined ? {} : { hooks: { passwordOf: (node) => Promise.resolve(passwords.get(node)) } }),
  });
}

/** A Mac whose update failed is still brought back, with what served on it, if nothing blocks that. */
function unitPlaybook(names: readonly NodeName[], restarts: readonly Task[], brings: readonly Task[]): Playbook {
  const nodes = { kind: 'names', names } as const;
  const plays = [
    { nodes, serial: [], maxFailures: names.length, tasks: restarts },
    { nodes, serial: [], maxFailures: 0, tasks: brings },
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

/** The question for the whole upgrade was answered, so its parts are not shown again, except if nothing was asked. */
function act({ run, cluster, ways }: Upgrade, command: Omit<CommandSpec, 'verb' | 'consent'>): Promise<EndedRun> {
  const isAgreed = run.options.yes === true;
  const named = isAgreed ? (['interrupt', 'reboot'] as const) : (['interrupt'] as const);
  const consent = createConsent(run, { named, allowable: ['locked-reboot', 'rdma-start'] });
  return actOn(
    run,
    { verb: 'upgrade macos', ...command, consent, ...(isAgreed ? { texts: { show: () => undefined } } : {}) },
    cluster,
    ways,
  );
}

/** What is wrong with a unit after its update: only the next boot session's exact build proves it. */
function problemsOf({ to }: Upgrade, before: UnitView, after: UnitView | undefined): readonly Diagnostic[] {
  return before.nodes.flatMap(({ node, state }) => {
    const build = state.kind === 'offered' ? state.update.build : undefined;
    const now = after?.nodes.find((one) => one.node === node)?.state;
    return updateProblem(to, { node, build, now }) ?? [];
  });
}

/** With --wait-for-hands, waits until a person has updated the unit; returns whether that is so. */
async function personInstalls(upgrade: Upgrade, at: number): Promise<boolean> {
  const { run, to } = upgrade;
  if (run.own['waitForHands'] !== true) return false;
  const timing = timingFor(run);
  let said = '';
  while (!run.signal.aborted) {
    const view = (await measure(upgrade, new Map()))[at];
    if (view === undefined || !needsUpdate(view)) break;
    const text = handsLines(to, view, pageFor(run.console)).join('\n');
    if (text !== said && !run.options.json) run.console.out(`${text}\n`);
    if (said === '') run.console.err('waiting for the manual steps; Ctrl-C stops waiting\n');
    said = text;
    await pause(handsPollMs * timing.scale, run.signal);
  }
  return !run.signal.aborted;
}

function leftToPerson(upgrade: Upgrade, view: UnitView, now: readonly UnitView[]) {
  const { run, to } = upgrade;
  const again = paragraphText(run.console, prose`Then: ${sameCommand(run)}`);
  const lines = handsLines(to, view, pageFor(run.console)).join('\n');
  const made = ended(upgrade, now, exitCode.handsNeeded, '');
  return { ...made, text: `${lines}\n${again}` };
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
