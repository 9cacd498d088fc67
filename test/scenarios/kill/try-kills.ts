import { isThorough } from '../../sample.ts';
import { aftermath, type Expected, quiet } from './aftermath.ts';
import type { Kill } from './choose-kills.ts';
import { killAt, type Rehearsal, rehearse } from './kill-points.ts';
import { type KillRack, type Successor, startKillRack } from './kill-rack.ts';
import type { KillScenario } from './scenarios.ts';

/** A kill after which not everything was as it should be. */
export interface BadKill {
  readonly at: string;
  readonly successor: Successor;
  readonly problems: readonly string[];
}

/** What became of some kills. */
export interface Tried {
  /** Those in which a controller died where it was to die. */
  readonly done: readonly Kill[];
  readonly bad: readonly BadKill[];
}

/** Kills controllers on racks, which it makes anew when a kill has left them in disorder. */
export interface KillBench {
  /** Brings a rack to the beginning of a scenario, and runs it once to its end. */
  readonly rehearse: (scenario: KillScenario) => Promise<Rehearsal & Expected>;
  /** Kills at each of these points, once for each successor. */
  readonly tryAll: (scenario: KillScenario, expected: Expected, kills: readonly Kill[]) => Promise<Tried>;
  readonly stop: () => Promise<void>;
}

/** One rack, on which one kill comes after the other. */
interface Lane {
  kill: KillRack;
  /** What it is prepared for; absent on a new rack, and on one in disorder. */
  scenario?: KillScenario;
  isUsable: boolean;
}

/** Where all are killed, one controller works while that of another rack waits. */
const laneCount = isThorough ? 2 : 1;

/** The file and the faults of a scenario, converged. */
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

/** Brings a rack to the beginning of a scenario, unless it is there. */
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

/** Kills once, and gives what was wrong. */
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

/** Starts a rack for kills; others of the same seed, which is to say the same Macs, follow when they are needed. */
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
