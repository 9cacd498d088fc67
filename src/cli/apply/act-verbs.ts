import { ownIdentity, thisController } from '../../apply/lease/controller.ts';
import { type PlaybookReport, stepsOf } from '../../apply/playbook-report.ts';
import { everyNode, leadersOf } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { fleetForGoal } from '../../engine/goals/registry.ts';
import { inFleetOrder, type PlayScope } from '../../engine/playbooks/expand.ts';
import type { Playbook, Task } from '../../engine/playbooks/playbook.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { placementSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { dayOf, isDayOver } from '../../model/text/units.ts';
import type { Goal, GoalOf } from '../../rack/goal.ts';
import { gatewayNodes } from '../../rack/placement/endpoint/drain.ts';
import { drainLines } from '../../report/run/drain-text.ts';
import { refuseAny } from '../cluster/open-cluster.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { amongApplied, namedMembers, namedNodes, namedPlacements } from '../cluster/targets.ts';
import { createConsent, type GuardedEffect } from '../plan/consent.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { actOn, type CommandSpec, playbookOf, type SeenCluster, shippedPlaybook } from './act-on.ts';
import { checkGoal, reaching } from './final-check.ts';
import { type EndedRun, nodesSentOff } from './run-outcome.ts';

/** The time limit for one observation, even if the drain may take longer. */
const longestObserveMs = 30_000;

export const drain: VerbBody = async (run) => {
  const cluster = settleFromLock(run);
  const { fleet } = cluster;
  const wanted = publishedOf(run, namedPlacements(run, await amongApplied(run, cluster)));
  const placements = wanted.map(({ name }) => name);
  // An earlier version of the file may have left a gateway on any node.
  const targets = fleet.nodes.map(({ name }) => name);
  const leaders = wanted.flatMap(leadersOf);
  const { deadline } = run.options;
  const observing: Run = { ...run, options: { ...run.options, deadline: Math.min(deadline, longestObserveMs) } };
  const scope: PlayScope = { desired: fleet, targets, placements };
  const command: CommandSpec = {
    verb: 'drain',
    playbook: within(shippedPlaybook('drain'), deadline),
    scope,
    consent: createConsent(run, { named: ['interrupt'] }),
    check: checkGoal({ kind: 'drain', placements, waitMs: deadline }, scope, ({ observation }) =>
      observation === undefined
        ? targets.filter((name) => leaders.includes(name))
        : gatewayNodes({ desired: fleet, observation }, placements),
    ),
    ending: ({ report: { observation } }) => {
      if (observation === undefined) return {};
      return { closing: wanted.flatMap((one) => drainLines(one, deadline, { desired: fleet, observation })) };
    },
  };
  return actOn(observing, command, cluster);
};

/** The playbook in this package with the deadline from the command line. */
const within = ({ plays, ...playbook }: Playbook, deadlineMs: number): Playbook => ({
  ...playbook,
  plays: plays.map((play) => ({
    ...play,
    tasks: play.tasks.map((task) => (task.kind === 'drain' ? { ...task, deadlineMs } : task)),
  })),
});

/**
 * The placements with a gateway. With `--all`, placements without one are skipped.
 * @throws FleetError `endpoint/nothing-to-close` for a named placement without a gateway, or if no placement has one
 */
function publishedOf({ own }: Run, named: readonly DesiredPlacement[]): readonly DesiredPlacement[] {
  const published = named.filter(({ publication }) => publication !== undefined);
  const others = named.filter(({ publication }) => publication === undefined);
  const problems = others.map(({ name }) =>
    diagnose('endpoint/nothing-to-close', {
      subject: placementSubject(name),
      detail: `${name} has no API gateway: only programs on its node can reach it.`,
      hint: prose`To stop it and interrupt its requests: ${meshwright('stop', name)}. To add a gateway, set \`listen: lan\` in the file.`,
    }),
  );
  refuseAny(published.length > 0 && own['all'] === true ? [] : problems);
  return published;
}

type PlacementVerb = 'start' | 'stop' | 'restart';

export const start: VerbBody = (run) =>
  actOnPlacements(run, 'start', run.own['fallback'] === true ? ['interrupt'] : []);

export const stop: VerbBody = (run) => actOnPlacements(run, 'stop', ['interrupt']);

export const restart: VerbBody = (run) => actOnPlacements(run, 'restart', ['interrupt']);

/** Starts, stops or restarts placements. @param cluster by default, the file with the lock's values */
export async function actOnPlacements(
  run: Run,
  verb: PlacementVerb,
  named: readonly GuardedEffect[],
  cluster: SeenCluster = settleFromLock(run),
): Promise<EndedRun> {
  const { fleet } = cluster;
  // A restart keeps the running layout. A start uses the nodes in the file, or the fallback.
  const layout: PlayScope['layout'] = verb !== 'start' ? undefined : run.own['fallback'] === true ? 'fallback' : 'own';
  const typed = namedPlacements(run, await amongApplied(run, cluster));
  const wanted = layout === 'fallback' ? withFallback(run, typed) : typed;
  const targets = inFleetOrder(wanted.flatMap(everyNode), { desired: fleet });
  const placements = wanted.map(({ name }) => name);
  const goal: Goal =
    verb === 'stop' ? { kind: 'stop', placements } : { kind: 'start', placements, ...given({ layout }) };
  const scope: PlayScope = { desired: fleet, targets, placements, ...given({ layout }) };
  const command: CommandSpec = {
    verb,
    playbook: verb === 'restart' ? shippedPlaybook(verb) : playbookOf(verb, { kind: verb }),
    scope,
    consent: createConsent(run, { named, ...(verb === 'stop' ? {} : { allowable: ['rdma-start'] }) }),
    check: checkGoal(goal, scope, ({ observation }) => {
      if (observation === undefined) return targets;
      const there = fleetForGoal(goal, fleet, observation).placements.filter(({ name }) => placements.includes(name));
      return targets.filter((node) => there.some(({ nodes }) => nodes.includes(node)));
    }),
    ...endingOf(verb, wanted),
  };
  return actOn(run, command, cluster);
}

/** The consequences of the plan, and the state that the final check must find. A restart's plan shows only the stop. */
function endingOf(verb: PlacementVerb, wanted: readonly DesiredPlacement[]): Pick<CommandSpec, 'texts' | 'ending'> {
  const names = (of: readonly DesiredPlacement[]): string => listText(of.map(({ name }) => name));
  const are = wanted.length === 1 ? 'is' : 'are';
  if (verb !== 'stop') {
    const checked = `${names(wanted)} ${wanted.length === 1 ? 'serves' : 'serve'}`;
    const leadsTo = verb === 'restart' ? [`Then: starts ${names(wanted)} again.`] : [];
    return { texts: { leadsTo }, ending: () => ({ checked }) };
  }
  const serving = wanted.filter(({ state }) => state === 'serving');
  const again = prose`The file sets ${names(serving)} to serving. To start ${serving.length === 1 ? 'it' : 'them'} again: ${meshwright('start', ...serving.map(({ name }) => name))}, or the next apply.`;
  const checked = `${names(wanted)} ${are} stopped`;
  return {
    ending: ({ report: { observation } }) =>
      serving.length === 0 || observation === undefined ? { checked } : { checked, closing: [again] },
  };
}

/** @throws FleetError `cli/usage` if a named placement has no fallback, or if none has one */
function withFallback(run: Run, named: readonly DesiredPlacement[]): readonly DesiredPlacement[] {
  const having = named.filter(({ fallback }) => fallback !== undefined);
  if (run.own['all'] === true && having.length > 0) return having;
  const lacking = named.filter(({ fallback }) => fallback === undefined).map(({ name }) => name);
  if (lacking.length === 0) return named;
  const has = lacking.length === 1 ? 'has' : 'have';
  throw usageError(
    `${listText(lacking)} ${has} no fallback in the file.`,
    'Add `fallback: { nodes: [...] }` to the placement, apply it, and run this command again. See docs/fallback.md.',
  );
}

export const reboot: VerbBody = (run) => actOnMacs(run, 'reboot');

export const shutdown: VerbBody = (run) => actOnMacs(run, 'shutdown');

export async function actOnMacs(
  run: Run,
  verb: 'reboot' | 'shutdown',
  cluster: SeenCluster = settleFromLock(run),
): Promise<EndedRun> {
  const { fleet } = cluster;
  const chosen = verb === 'reboot' ? await namedMembers(run, cluster) : namedNodes(run, fleet);
  const targets = chosen.map(({ name }) => name);
  const scope: PlayScope = { desired: fleet, targets };
  if (verb === 'reboot') {
    const own = await ownIdentity();
    const self = chosen.find(({ identity }) => own !== undefined && identity === own)?.name;
    const touched = fleet.placements.filter(
      (one) => one.state === 'serving' && everyNode(one).some((node) => targets.includes(node)),
    );
    const names = touched.map(({ name }) => name);
    const parting = self === undefined ? [] : [partingLine(self, touched)];
    const command: CommandSpec = {
      verb,
      playbook: self === undefined ? shippedPlaybook(verb) : selfLast(shippedPlaybook(verb), self, scope),
      scope,
      consent: createConsent(run, { named: ['interrupt', verb], allowable: ['locked-reboot'] }),
      check: checkGoal({ kind: 'start', placements: names, near: targets }, scope),
      texts: {
        leadsTo: self !== undefined ? parting : names.length === 0 ? [] : [`Then: starts ${listText(names)} again.`],
      },
      ending: ({ report }) => ({
        closing: [...notRebooted(targets, report), ...(restartsOf(report).includes(self ?? '') ? parting : [])],
      }),
    };
    return actOn(run, command, cluster);
  }
  const ending: CommandSpec['ending'] = ({ report }) => {
    const off = nodesSentOff(report);
    const on = targets.filter((name) => !off.includes(name));
    return { closing: [...stillOn(on), ...wayBack(off, run.console.isSimulated)] };
  };
  const consent = createConsent(run, { named: ['interrupt', verb] });
  return actOn(run, { verb, playbook: shippedPlaybook(verb), scope, consent, ending }, cluster);
}

/**
 * The playbook in which the Mac that runs it restarts last and alone, because that ends the run. Placements with a rank
 * on this Mac stay stopped until then: a start before would only be stopped again.
 */
export function selfLast({ plays, ...playbook }: Playbook, self: NodeName, { desired, targets }: PlayScope): Playbook {
  const others = targets.filter((name) => name !== self);
  const startable = desired.placements.filter((one) => one.state === 'serving' && !everyNode(one).includes(self));
  const placements = startable.filter((one) => everyNode(one).some((node) => others.includes(node))).map(nameOf);
  const before = plays.map((play) => ({
    ...play,
    nodes: { kind: 'names', names: others } as const,
    tasks: play.tasks.flatMap((task): readonly Task[] => {
      if (task.kind !== 'start') return [task];
      return placements.length === 0 ? [] : [{ ...task, placements }];
    }),
  }));
  const last = {
    nodes: { kind: 'names', names: [self] },
    serial: [],
    maxFailures: 0,
    tasks: [{ kind: 'reboot' }],
  } as const;
  return { ...playbook, plays: [...(others.length === 0 ? [] : before), last] };
}

const nameOf = ({ name }: DesiredPlacement): string => name;

function partingLine(self: NodeName, touched: readonly DesiredPlacement[]): Prose {
  const own = touched.filter((one) => everyNode(one).includes(self)).map(nameOf);
  const then = own.length === 0 ? '' : prose` When it is back: ${meshwright('start', ...own)}`;
  return prose`This computer is ${self}. It reboots last and alone, and this command ends with it.${then}`;
}

/** The Macs to which a restart was sent. */
const restartsOf = (report: PlaybookReport): readonly string[] =>
  stepsOf(report)
    .filter(({ step, ms }) => step.act.kind === 'reboot' && ms > 0)
    .map(({ step }) => step.node);

/** Lists the Macs whose restart was never sent; the reasons are shown above. */
function notRebooted(targets: readonly string[], report: PlaybookReport): readonly string[] {
  const sent = restartsOf(report);
  const left = targets.filter((name) => !sent.includes(name));
  if (left.length === 0) return [];
  const isNothing = stepsOf(report).every(({ ms }) => ms === 0);
  return [`Not rebooted: ${everyNodeText(left)}.${isNothing ? ' Nothing was stopped or rebooted.' : ''}`];
}

const stillOn = (nodes: readonly string[]): readonly string[] =>
  nodes.length === 0 ? [] : [`Not shut down: ${everyNodeText(nodes)}.`];

function wayBack(off: readonly string[], isSimulated: boolean): readonly Prose[] {
  if (off.length === 0) return [];
  const turnOn = isSimulated
    ? ['To turn the simulated Macs on again:', prose`  ${meshwright('sim power-on', ...off)}`]
    : [
        'To turn a Mac on again, press its power button. A power strip may not start it: power.restartAfterPowerLoss is for Macs that lose power while they run. With FileVault, the Mac then waits for its password.',
      ];
  return [...turnOn, 'Then start what served there:', prose`  ${meshwright('apply')}`];
}

const usualReason = 'no reason was given';
const longestReason = 200;

export const hold: VerbBody = async (run) => {
  const reason = readReason(run);
  const until = readUntil(run);
  const by = (await thisController()).name;
  const since = dayOf(Date.now());
  return keep(run, 'hold', { reason, by, since, ...given({ until }) });
};

export const release: VerbBody = (run) => keep(run, 'release', undefined);

function readReason(run: Run): string {
  const reason = (textOption(run, 'reason') ?? usualReason).trim();
  if (reason === '' || reason.length > longestReason || /\p{C}/u.test(reason)) {
    throw usageError('Invalid --reason.', `Enter one line of 1 to ${longestReason} characters.`);
  }
  return reason;
}

function readUntil(run: Run): string | undefined {
  const until = textOption(run, 'until');
  if (until === undefined) return undefined;
  // Formatting the parsed date again detects nonexistent days, such as June 31.
  const epochMs = /^20\d\d-\d\d-\d\d$/.test(until) ? Date.parse(`${until}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(epochMs) || dayOf(epochMs) !== until) {
    throw usageError(`"${until}" is not a valid day for --until.`, 'Enter the last day like this: 2026-12-01.');
  }
  if (isDayOver(until, Date.now())) throw usageError(`${until} is over.`, 'Enter today or a later day.');
  return until;
}

async function keep(run: Run, verb: 'hold' | 'release', wanted: GoalOf<'hold'>['hold']): Promise<EndedRun> {
  const cluster = settleFromLock(run);
  const chosen = namedNodes(run, cluster.fleet);
  const nodes = chosen.map(({ name }) => name);
  const inFile = chosen.filter((node) => node.hold !== undefined).map(({ name }) => name);
  const goal: Goal = { kind: 'hold', nodes, ...given({ hold: wanted }) };
  const command: CommandSpec = {
    verb,
    ...reaching(goal, { desired: cluster.fleet, targets: nodes }),
    consent: createConsent(run, {}),
    ending: () => ({ closing: verb === 'release' && inFile.length > 0 ? [stillHeld(inFile)] : [] }),
  };
  return actOn(run, command, cluster);
}

const stillHeld = (nodes: readonly string[]): string =>
  `${everyNodeText(nodes)} ${nodes.length === 1 ? 'is' : 'are'} still on hold in the cluster file: remove the key \`hold\` there.`;
