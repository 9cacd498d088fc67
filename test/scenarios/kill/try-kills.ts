import { aftermath, type Expected, halfChanges, quiet, unpending } from './aftermath.ts';
import { type KillPoint, killAt, type Rehearsal, rehearse } from './kill-points.ts';
import { type KillRack, type Successor, startKillRack } from './kill-rack.ts';
import type { KillScenario } from './scenarios.ts';

/** A kill after which not everything was as it should be. */
export interface BadKill {
  readonly at: string;
  readonly successor: Successor;
  readonly problems: readonly string[];
}

/** Kills controllers on one rack, which it makes anew when a kill has left it in disorder. */
export interface KillBench {
  /** Brings the rack to the beginning of a scenario, and runs it once to its end. */
  readonly rehearse: (scenario: KillScenario) => Promise<Rehearsal & Expected>;
  /** Kills at each of these points, once for each successor, and gives what was wrong. */
  readonly tryAll: (
    scenario: KillScenario,
    expected: Expected,
    kills: readonly (readonly [KillPoint, Successor])[],
  ) => Promise<readonly BadKill[]>;
  readonly stop: () => Promise<void>;
}

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

/** Starts a rack for kills. */
export async function openBench(seed: string): Promise<KillBench> {
  let kill = await startKillRack(seed);
  let isFresh = true;
  const oneKill = async (
    scenario: KillScenario,
    expected: Expected,
    [point, successor]: readonly [KillPoint, Successor],
  ): Promise<readonly string[]> => {
    const killed = await killAt(kill, scenario, point);
    if (scenario.verb === 'reboot') await quiet(kill.rack.fleet());
    // The same computer comes when the time of a rollback is over, the other one before that.
    const isWaiting = successor === 'same' && scenario.acts.includes('transaction');
    if (isWaiting) await unpending(kill);
    const half = isWaiting ? await halfChanges(kill, expected) : [];
    return [...half, ...(await aftermath(kill, { killed, successor }, expected))];
  };
  const anew = async (scenario: KillScenario): Promise<void> => {
    await kill.stop().catch(() => undefined);
    kill = await startKillRack(seed);
    await prepare(kill, scenario);
  };
  return {
    rehearse: async (scenario) => {
      if (isFresh) await prepare(kill, scenario);
      else await anew(scenario);
      isFresh = true;
      const rehearsal = await rehearse(kill, scenario);
      return { ...rehearsal, state: await kill.stateIn(await kill.rack.observe()) };
    },
    tryAll: async (scenario, expected, kills) => {
      const bad: BadKill[] = [];
      for (const [point, successor] of kills) {
        if (!isFresh) await anew(scenario);
        const problems = await oneKill(scenario, expected, [point, successor]).catch((error: unknown) => [
          error instanceof Error ? (error.stack ?? error.message) : String(error),
        ]);
        isFresh = problems.length === 0;
        if (!isFresh) bad.push({ at: point.key, successor, problems });
      }
      return bad;
    },
    stop: () => kill.stop(),
  };
}
