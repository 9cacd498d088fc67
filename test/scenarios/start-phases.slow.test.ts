import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/apply/open-run.ts';
import type { RunListener } from '../../src/apply/run-events.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { sampleOf } from '../sample.ts';
import { controller, keptJournal, quickTiming } from './apply-rack.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { type ConvergeRack, leftIn, startConvergeRack } from './converge-rack.ts';
import { justBefore, toldOfRanks } from './failed-start.ts';
import { runPlan } from './run-plan.ts';

const launchDaemons = '/Library/LaunchDaemons';
const plist = `${launchDaemons}/dev.meshwright.rank.chat.plist`;
const rankLog = '/Library/Application Support/meshwright/log/chat.log';

/** A file whose placement is given up soon when it does not join. */
const file = (state: 'serving' | 'stopped') =>
  pairFile((value) => {
    const chat = filePart(value, 'placements', 'chat');
    chat['state'] = state;
    chat['expect'] = { firstToken: '4s' };
  });

let rack: ConvergeRack;
beforeAll(async () => {
  rack = await startConvergeRack('start', file('stopped'));
  await rack.converge();
  expect(await rack.declare(file('serving'))).toEqual([]);
});
afterAll(() => rack.stop());

const at = (node: string, path: string): string => join(rack.fleet().nodes[node]?.root ?? '', path);

const signal = (node: string, name: NodeJS.Signals): void => {
  for (const one of rack.fleet().processes()) if (one.node === node) process.kill(one.pid, name);
};

/** How a start fails at one member, and what takes that away again. */
interface Failure {
  readonly phase: string;
  /** The step that is about to begin on the member, or on any node, when it happens. */
  readonly before: string;
  readonly isAnywhere?: true;
  /** Whether the rank says or shows that it failed, so that it is named; else the start only says that none does. */
  readonly named?: true;
  readonly happen: (node: string) => void;
  readonly heal?: (node: string) => Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

const failures: readonly Failure[] = [
  {
    phase: 'its service file cannot be put',
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
  { phase: 'it cannot be made ready', before: 'bootstrap', happen: (node) => rmSync(at(node, plist), { force: true }) },
  {
    phase: 'its process cannot even begin',
    before: 'kick',
    happen: (node) => {
      rmSync(at(node, rankLog), { force: true });
      mkdirSync(at(node, rankLog));
    },
    heal: (node) => rm(at(node, rankLog), { recursive: true }),
  },
  {
    phase: 'its process ends at once',
    before: 'joined',
    isAnywhere: true,
    named: true,
    happen: (node) => signal(node, 'SIGKILL'),
  },
  {
    phase: 'its process never does anything',
    before: 'joined',
    isAnywhere: true,
    happen: (node) => signal(node, 'SIGSTOP'),
  },
  { phase: 'it gives no token', before: 'ask', isAnywhere: true, happen: (node) => signal(node, 'SIGUSR1') },
  {
    phase: 'its Mac goes off',
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
const cases = sampleOf(every, { few: 2, oneIn: 4 });

const run = (plan: Plan, onEvent: RunListener): Promise<RunReport> =>
  runPlan(plan, {
    ways: rack.ways(),
    desired: rack.desired(),
    verb: 'apply',
    controller: controller(),
    journal: keptJournal(),
    parallel: 16,
    newToken: () => randomBytes(16).toString('hex'),
    timing: quickTiming,
    leaseWaitMs: 0,
    deadlineMs: 30_000,
    onEvent,
  });

/** The steps behind which the logs of all ranks are read before anything is stopped. */
const readsLogs = ({ before }: Failure): boolean => before === 'joined' || before === 'ask';

const wantedRank = (one: Failure & { readonly node: string }): string => {
  if (!readsLogs(one)) return 'any';
  return one.named ? one.node : 'none';
};

/** The node of the rank that a failed start names as the first that failed, with the words that it has said. */
function toldRank(report: RunReport, one: Failure & { readonly node: string }): string {
  if (!readsLogs(one)) return 'any';
  const [only, ...others] = toldOfRanks(report);
  if (only === undefined || others.length > 0) return `${others.length} others told`;
  if (only.code === 'mesh/no-failing-rank') return 'none';
  // On a busy machine a rank is killed before it has said a word.
  const saidBy = new RegExp(
    `^Rank \\d on ${one.node} (?:exited|was ended by a signal) .*It logged(?::\\nrank \\d of 2 listens on | nothing\\.$)`,
    's',
  );
  return saidBy.test(only.detail) ? one.node : only.detail;
}

/** Ten seconds of a Mac, whose clock runs a hundred times as fast here. */
const tenSeconds = 100;

describe('a start of a mesh', () => {
  it.each(cases)('leaves no process on any Mac when, on $node, $phase', async (one) => {
    const trigger = justBefore(one.before, () => one.happen(one.node), one.isAnywhere ? undefined : one.node);
    const { plan, report } = await rack.behindOurBack(async () => {
      const seen = await rack.plan();
      const applied = await run(seen, trigger.listen);
      await sleep(tenSeconds);
      return { plan: seen, report: applied };
    });
    expect([trigger.hasHappened(), plan.steps.length > 0]).toEqual([true, true]);
    expect(report.steps.map(({ outcome }) => outcome)).toContain('failed');
    await expect.poll(() => rack.fleet().processes(), { timeout: 5_000 }).toEqual([]);
    expect(toldRank(report, one)).toEqual(wantedRank(one));
    await (one.heal ?? nothing)(one.node);
  });

  it('brings the mesh up when nothing fails any more', async () => {
    const { after } = await rack.converge();
    expect(leftIn(after)).toEqual([]);
    expect(
      rack
        .fleet()
        .processes()
        .map(({ node }) => node)
        .sort(),
    ).toEqual([first, second]);
  });
});
