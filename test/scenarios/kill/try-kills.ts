import { isWhole } from '../../sample.ts';
import { aftermath, type Expected, quiet } from './aftermath.ts';
import type { Kill } from './choose-kills.ts';
import { killAt, type Rehearsal, rehearse } from './kill-points.ts';
import { type KillRack, type Successor, startKillRack } from './kill-rack.ts';
import type { KillScenario } from './scenarios.ts';

/** A kill that left a wrong state. */
export interface BadKill {
  readonly at: string;
  readonly successor: Successor;
  readonly problems: readonly string[];
}

/** The results of kills. */
export interface Tried {
  /** Kills whose controller died at the intended point. */
  readonly done: readonly Kill[];
  readonly bad: readonly BadKill[];
}

/** Kills controllers on racks, and replaces racks that a kill left in a wrong state. */
export interface KillBench {
  /** Prepares a rack for a scenario, and runs the scenario once to its end. */
  readonly rehearse: (scenario: KillScenario) => Promise<Rehearsal & Expected>;
  /** Kills at each of these points, once for each successor. */
  readonly tryAll: (scenario: KillScenario, expected: Expected, kills: readonly Kill[]) => Promise<Tried>;
  readonly stop: () => Promise<void>;
}

/** A rack for one kill after another. */
interface Lane {
  kill: KillRack;
  /** The scenario that the rack is prepared for; undefined if the rack is new or in a wrong state. */
  scenario?: KillScenario;
  isUsable: boolean;
}

/** In `npm run nightly`, one controller works while the controller of another rack waits. A few kills are not worth a rack. */
const laneCount = isWhole ? 2 : 1;

/** Converges a rack to the file and the faults of a scenario. */
async function prepare({ rack, file, jobs }: KillRack, scenario: KillScenario): Promise<void> {
  jobs.watch(scenario.acts.includes('job'));
  const problems = await rack.behindOurBack(async (fleet) => {
    await fleet.clearFault([]);
    for (const words of scenario.faults ?? []) await fleet.setFault(words);
    return rack.declare(file(scenario.file));
  });
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  await rack.apply();
}

/** Prepares a rack for a scenario unless it is already prepared. */
async function ready(lane: Lane, seed: string, scenario: KillScenario): Promise<void> {
  if (!lane.isUsable) {
    await lane.kill.stop().catch(() => undefined);
    lane.kill = await startKillRack(seed);
    lane.isUsable = true;
    delete lane.scenario;
  }
  if (lane.scenario !== scenario) await prepare(lane.kill, scenario);
  lane.scenario = scenario;
}

/** Kills once and returns the problems. */
async function oneKill(
  { kill }: Lane,
  scenario: KillScenario,
  { expected, one, done }: { readonly expected: Expected; readonly one: Kill; readonly done: Kill[] },
): Promise<readonly string[]> {
  const [point, successor] = one;
  const killed = await killAt(kill, scenario, point);
  done.push(one);
  if (scenario.verb === 'reboot') await quiet(kill.rack.fleet());
  return aftermath(kill, { killed, successor }, expected);
}

const told = (error: unknown): readonly string[] => [
  error instanceof Error ? (error.stack ?? error.message) : String(error),
];

/** Starts a rack for kills. More racks of the same seed, with the same Macs, follow when needed. */
export async function openBench(seed: string): Promise<KillBench> {
  const open = async (): Promise<Lane> => ({ kill: await startKillRack(seed), isUsable: true });
  const first = await open();
  const lanes = [first];
  const tryAll: KillBench['tryAll'] = async (scenario, expected, kills) => {
    const done: Kill[] = [];
    const bad: BadKill[] = [];
    const left = kills.values();
    const work = async (lane: Lane): Promise<void> => {
      for (const one of left) {
        await ready(lane, seed, scenario);
        const problems = await oneKill(lane, scenario, { expected, one, done }).catch(told);
        lane.isUsable = problems.length === 0;
        const [{ key }, successor] = one;
        if (!lane.isUsable) bad.push({ at: key, successor, problems });
      }
    };
    while (lanes.length < laneCount) lanes.push(await open());
    await Promise.all(lanes.map(work));
    return { done, bad };
  };
  return {
    rehearse: async (scenario) => {
      await ready(first, seed, scenario);
      const rehearsal = await rehearse(first.kill, scenario);
      return { ...rehearsal, state: await first.kill.stateIn(await first.kill.rack.observe()) };
    },
    tryAll,
    stop: async () => {
      await Promise.all(lanes.map(({ kill }) => kill.stop()));
    },
  };
}
