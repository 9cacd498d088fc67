import type { NodeName } from '../../model/node.ts';
import { actOn } from '../act-on.ts';
import type { GuardedEffect } from '../consent.ts';
import type { ExitCode } from '../exit-codes.ts';
import { namedPlacements } from '../placements.ts';
import { settleFromLock } from '../settle-cluster.ts';
import { oneTask, shippedPlaybook } from '../shipped-playbooks.ts';
import type { Run, VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';

type PlacementVerb = 'start' | 'stop' | 'restart';

/** `start PLACEMENT…|--all`: starts placements in order; one that serves already is left alone. */
export const start: VerbBody = (run) => actOnPlacements(run, 'start', []);

/** `stop PLACEMENT…|--all`: stops the ranks of placements in order. */
export const stop: VerbBody = (run) => actOnPlacements(run, 'stop', ['interrupt']);

/** `restart PLACEMENT…|--all`: stops placements and starts them again; no Mac is rebooted. */
export const restart: VerbBody = (run) => actOnPlacements(run, 'restart', ['interrupt']);

async function actOnPlacements(run: Run, verb: PlacementVerb, named: readonly GuardedEffect[]): Promise<ExitCode> {
  const cluster = settleFromLock(run);
  const { fleet } = cluster;
  const wanted = namedPlacements(run, fleet);
  const members: readonly NodeName[] = wanted.flatMap(({ nodes }) => nodes);
  const targets = fleet.nodes.map(({ name }) => name).filter((name) => members.includes(name));
  const placements = wanted.map(({ name }) => name);
  const ways = openWays(run, cluster.opened);
  const action = {
    verb,
    playbook: verb === 'restart' ? shippedPlaybook(verb) : oneTask(verb),
    scope: { desired: fleet, targets, placements },
    named,
    judged: targets,
    goal: { kind: verb === 'stop' ? ('stop' as const) : ('start' as const), placements },
  };
  return actOn(run, action, { cluster, ways });
}
