import { listText } from '../../desired/did-you-mean.ts';
import { everyNode } from '../../desired/fallback.ts';
import { fleetForGoal } from '../../engine/goals/fleet-for-goal.ts';
import type { Goal } from '../../engine/goals/goal.ts';
import type { PlayScope } from '../../engine/playbooks/expand.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { amongApplied, namedPlacements } from '../cluster/placements.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import type { GuardedEffect } from '../plan/consent.ts';
import type { ExitCode } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { type Action, actOn } from './act-on.ts';
import { oneTask, shippedPlaybook } from './shipped-playbooks.ts';

type PlacementVerb = 'start' | 'stop' | 'restart';

/** `start PLACEMENT…|--all`: starts placements in order, with `--fallback` there; one that serves already is left alone. */
export const start: VerbBody = (run) =>
  actOnPlacements(run, 'start', run.own['fallback'] === true ? ['interrupt'] : []);

/** `stop PLACEMENT…|--all`: stops the ranks of placements in order. */
export const stop: VerbBody = (run) => actOnPlacements(run, 'stop', ['interrupt']);

/** `restart PLACEMENT…|--all`: stops placements and starts them again, where they ran; no Mac is rebooted. */
export const restart: VerbBody = (run) => actOnPlacements(run, 'restart', ['interrupt']);

async function actOnPlacements(run: Run, verb: PlacementVerb, effects: readonly GuardedEffect[]): Promise<ExitCode> {
  const cluster = settleFromLock(run);
  const { fleet } = cluster;
  const layout = layoutOf(run, verb);
  const named = namedPlacements(run, await amongApplied(run, cluster));
  const wanted = layout === 'fallback' ? withFallback(run, named) : named;
  const members: readonly NodeName[] = wanted.flatMap(everyNode);
  const targets = fleet.nodes.map(({ name }) => name).filter((name) => members.includes(name));
  const placements = wanted.map(({ name }) => name);
  const goal: Goal =
    verb === 'stop'
      ? { kind: 'stop', placements }
      : { kind: 'start', placements, ...(layout === undefined ? {} : { layout }) };
  const ways = openWays(run, cluster.opened);
  const action = {
    verb,
    playbook: verb === 'restart' ? shippedPlaybook(verb) : oneTask(verb),
    scope: { desired: fleet, targets, placements, ...(layout === undefined ? {} : { layout }) },
    named: effects,
    ...(verb === 'stop' ? {} : { allowable: ['rdma-start' as const] }),
    judged: targets,
    judgedAt: (observation: FleetObservation): readonly NodeName[] => {
      const there = fleetForGoal(goal, fleet, observation).placements.filter(({ name }) => placements.includes(name));
      return targets.filter((node) => there.some(({ nodes }) => nodes.includes(node)));
    },
    goal,
    ...endingOf(verb, wanted),
  };
  return actOn(run, action, { cluster, ways });
}

/** What the plan leads to, and what the last look has to find. The plan of a restart shows its stop alone. */
function endingOf(
  verb: PlacementVerb,
  wanted: readonly DesiredPlacement[],
): Pick<Action, 'leadsTo' | 'checked' | 'lastWords'> {
  const names = (of: readonly DesiredPlacement[]): string => listText(of.map(({ name }) => name));
  const are = wanted.length === 1 ? 'is' : 'are';
  if (verb !== 'stop') {
    const more = verb === 'restart' ? { leadsTo: [`Then: starts ${names(wanted)} again.`] } : {};
    return { checked: wanted.length === 1 ? `${names(wanted)} serves` : `${names(wanted)} serve`, ...more };
  }
  const serving = wanted.filter(({ state }) => state === 'serving');
  const again = prose`The file has ${names(serving)} serving: ${meshwright('start', ...serving.map(({ name }) => name))}, or the next apply, starts ${serving.length === 1 ? 'it' : 'them'} again.`;
  return { checked: `${names(wanted)} ${are} stopped`, ...(serving.length === 0 ? {} : { lastWords: () => [again] }) };
}

/** What is restarted is started where it ran; a start means the nodes of the file, or the fallback. */
function layoutOf(run: Run, verb: PlacementVerb): PlayScope['layout'] {
  if (verb !== 'start') return undefined;
  return run.own['fallback'] === true ? 'fallback' : 'own';
}

/** @throws FleetError `cli/usage` when one was named without a fallback, or when none has one */
function withFallback(run: Run, named: readonly DesiredPlacement[]): readonly DesiredPlacement[] {
  const having = named.filter(({ fallback }) => fallback !== undefined);
  if (run.own['all'] === true && having.length > 0) return having;
  const lacking = named.filter(({ fallback }) => fallback === undefined).map(({ name }) => name);
  if (lacking.length === 0) return named;
  const has = lacking.length === 1 ? 'has' : 'have';
  throw usageError(
    `${listText(lacking)} ${has} no fallback in the file.`,
    'Add `fallback: { nodes: [...] }` to the placement, apply that, and say it again; docs/fallback.md',
  );
}
