import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSuccess } from '../../src/model/exit.ts';
import type { Goal } from '../../src/plan/goal.ts';
import { first, pairFile, second } from './converge-file.ts';
import { type ApplyWish, type ConvergeRack, patience, startConvergeRack } from './converge-rack.ts';
import { keepersAtRest } from './keepers-at-rest.ts';
import { startRecording } from './transcripts/recording.ts';
import { isTimed, otherScripts, outOfOrder, transcriptOf } from './transcripts/transcript.ts';

/** One run of a goal, recorded. */
async function recordRun(rack: ConvergeRack, title: string, wish?: ApplyWish): Promise<string> {
  await keepersAtRest(rack.fleet());
  const recording = startRecording(rack.fleet());
  rack.listen(recording.listener);
  const { plan, report } = await rack.apply(wish);
  rack.listen();
  const execs = await recording.end();
  const { nodes } = rack.fleet();
  const placeOf = (node: string) => ({ rootPrefix: nodes[node]?.root ?? '', login: nodes[node]?.user ?? '' });
  const folders = { ...Object.fromEntries(Object.values(nodes).map(({ root }) => [root, ''])), [rack.folder]: '/rack' };
  const steps = [...plan.steps, ...plan.rescues.flatMap((rescue) => rescue.steps)];
  const outcomes = new Map(report?.steps.map(({ step, outcome }) => [step, outcome]));
  const recorded = { execs, steps, outcomes, placeOf, folders };
  const wrong = report?.steps.filter(({ outcome }) => outcome !== 'changed' && outcome !== 'unchanged');
  expect((wrong ?? []).map(({ step, outcome }) => `${step.id}: ${outcome}`)).toEqual([]);
  expect([outOfOrder(recorded), otherScripts(recorded)]).toEqual([[], []]);
  expect(execs.filter(({ name }) => name === undefined)).toEqual([]);
  expect(execs.filter((one) => isTimed(one) && !isSuccess(one.exit))).toEqual([]);
  return transcriptOf(title, recorded);
}

const golden = async (name: string, parts: readonly string[]): Promise<void> =>
  expect(parts.join('\n')).toMatchFileSnapshot(`../cases/transcripts/${name}.txt`);

const placements = ['chat'];

describe('every command of a run', { timeout: patience }, () => {
  let rack: ConvergeRack;
  const record = async (name: string, runs: readonly (readonly [string, ApplyWish?])[]): Promise<void> => {
    const parts: string[] = [];
    for (const [title, wish] of runs) parts.push(await recordRun(rack, title, wish));
    await golden(name, parts);
  };
  const goal = (title: string, one: Goal) => [title, { goal: one }] as const;

  beforeAll(async () => {
    rack = await startConvergeRack('transcripts', pairFile());
    await rack.behindOurBack(async (fleet) => {
      for (const node of [first, second]) {
        for (const fault of ['power-wrong', 'bridge-active']) await fleet.setFault([fault, node]);
        await rack.asRoot(node, '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=0');
      }
    });
  }, patience);
  afterAll(() => rack.stop());

  it('is the same for a first apply', () => record('first-apply', [['apply']]));

  it('is the same for an apply with nothing to do', () => record('second-apply', [['apply']]));

  it('is the same for a restart of a placement', () =>
    record('restart-placement', [
      goal('stop', { kind: 'stop', placements, back: placements }),
      goal('start', { kind: 'start', placements }),
    ]));
});
