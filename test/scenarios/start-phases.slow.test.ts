import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/apply/open-run.ts';
import type { RunListener } from '../../src/apply/run-events.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { shared } from '../rack/kept-running.ts';
import { sampleOf } from '../sample.ts';
import { controller, keptJournal, quickTiming } from './apply-rack.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { leftIn, rankNodes, startConvergeRack } from './converge-rack.ts';
import { justBefore, toldOfRanks } from './failed-start.ts';
import { runPlan } from './run-plan.ts';

const launchDaemons = '/Library/LaunchDaemons';
const plist = `${launchDaemons}/dev.meshwright.rank.chat.plist`;
const rankLog = '/Library/Application Support/meshwright/log/chat.log';

/** A file with a short start deadline for its placement. */
const file = (state: 'serving' | 'stopped') =>
  pairFile((value) => {
    const chat = filePart(value, 'placements', 'chat');
    chat['state'] = state;
    chat['expect'] = { firstToken: '4s' };
  });

const rack = shared(() => startConvergeRack('start', file('stopped')));
beforeAll(async () => {
  await rack.converge();
  expect(await rack.declare(file('serving'))).toEqual([]);
});

const at = (node: string, path: string): string => join(rack.fleet().nodes[node]?.root ?? '', path);

const signal = (node: string, name: NodeJS.Signals): void => {
  for (const one of rack.fleet().processes()) if (one.node === node) process.kill(one.pid, name);
};

/** A failure of the start at one rank, and its repair. */
interface Failure {
  readonly phase: string;
  /** The step before which it happens, on the node or on any node. */
  readonly before: string;
  readonly isAnywhere?: true;
  /** True if the rank shows its failure and is named; otherwise the start reports that no rank does. */
  readonly named?: true;
  readonly happen: (node: string) => void;
  readonly heal?: (node: string) => Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

const failures: readonly Failure[] = [
  {
    phase: 'its service file cannot be installed',
    before: 'put-service',
    happen: (node) => {
      rmSync(at(node, launchDaemons), { recursive: true, force: true });
      writeFileSync(at(node, launchDaemons), '');
    },
    heal: async (node) => {
      await rm(at(node, launchDaemons));
      await mkdir(at(node, launchDaemons));
    },
  },
  {
    phase: 'its service cannot be loaded',
    before: 'bootstrap',
    happen: (node) => rmSync(at(node, plist), { force: true }),
  },
  {
    phase: 'its process cannot start',
    before: 'kick',
    happen: (node) => {
      rmSync(at(node, rankLog), { force: true });
      mkdirSync(at(node, rankLog));
    },
    heal: (node) => rm(at(node, rankLog), { recursive: true }),
  },
  {
    phase: 'its process dies immediately',
    before: 'joined',
    isAnywhere: true,
    named: true,
    happen: (node) => signal(node, 'SIGKILL'),
  },
  { phase: 'its process does nothing', before: 'joined', isAnywhere: true, happen: (node) => signal(node, 'SIGSTOP') },
  { phase: 'it gives no token', before: 'ask', isAnywhere: true, happen: (node) => signal(node, 'SIGUSR1') },
  {
    phase: 'its Mac is switched off',
    before: 'kick',
    isAnywhere: true,
    happen: (node) => void rack.asRoot(node, '"$R/sbin/shutdown" -h now'),
    heal: async (node) => {
      while (rack.fleet().power()[node] !== 'down') await sleep(20);
      await rack.fleet().powerOn(node);
    },
  },
];

const every = failures.flatMap((failure) => [first, second].map((node) => ({ ...failure, node })));
const cases = sampleOf(every, { few: 2, oneIn: 8 }).map((one) => [one.node, one.phase, one] as const);

const run = (plan: Plan, onEvent: RunListener): Promise<RunReport> =>
  runPlan(plan, {
    ways: rack.ways(),
    desired: rack.desired(),
    verb: 'apply',
    controller: controller(),
    journal: keptJournal(),
    parallel: 16,
    newBoundary: () => randomBytes(16).toString('hex'),
    timing: quickTiming,
    leaseWaitMs: 0,
    deadlineMs: 30_000,
    onEvent,
  });

/** True if the logs of all ranks are read after this step, before anything is stopped. */
const readsLogs = ({ before }: Failure): boolean => before === 'joined' || before === 'ask';

const expectedRank = (one: Failure & { readonly node: string }): string => {
  if (!readsLogs(one)) return 'any';
  return one.named ? one.node : 'none';
};

/** The node of the rank that a failed start reports as the first failed one, with its log. */
function reportedRank(report: RunReport, one: Failure & { readonly node: string }): string {
  if (!readsLogs(one)) return 'any';
  const [only, ...others] = toldOfRanks(report);
  if (only === undefined || others.length > 0) return `${others.length} other diagnostics`;
  if (only.code === 'mesh/no-failing-rank') return 'none';
  // On a busy machine, a rank is killed before it logs anything.
  const saidBy = new RegExp(
    `^Rank \\d on ${one.node} (?:exited|was ended by a signal) .*It logged(?::\\nrank \\d of 2 listens on | nothing\\.$)`,
    's',
  );
  return saidBy.test(only.detail) ? one.node : only.detail;
}

/** Ten seconds on a Mac, whose clock is a hundred times as fast here. */
const tenSeconds = 100;

describe('a mesh start', () => {
  it.each(cases)('leaves no process on any Mac if, on %s, %s', async (_node, _phase, one) => {
    const trigger = justBefore(one.before, () => one.happen(one.node), one.isAnywhere ? undefined : one.node);
    const { plan, report } = await rack.behindOurBack(async () => {
      const seen = await rack.plan();
      const applied = await run(seen, trigger.listen);
      await sleep(tenSeconds);
      return { plan: seen, report: applied };
    });
    expect([trigger.hasHappened(), plan.steps.length > 0]).toEqual([true, true]);
    expect(report.steps.map(({ outcome }) => outcome)).toContain('failed');
    await expect.poll(() => rack.fleet().processes()).toEqual([]);
    expect(reportedRank(report, one)).toEqual(expectedRank(one));
    await (one.heal ?? nothing)(one.node);
  });

  it('succeeds once the fault is gone', async () => {
    const { after } = await rack.converge();
    expect(leftIn(after)).toEqual([]);
    expect(rankNodes(rack)).toEqual([first, second]);
  });
});
