import { beforeAll, describe, expect, it } from 'vitest';
import type { Plan } from '../../src/engine/plan/plan.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { shared } from '../rack/kept-running.ts';
import { askAllTheTime } from '../rack/steady-clients.ts';
import { sampleOf, sampleSeed } from '../sample.ts';
import { editedFile, interruptedIn, type RandomEdit, randomEdit, servedIn, understated } from './converge-edits.ts';
import { filePart } from './converge-file.ts';
import { leftIn, patience, planFor, startConvergeRack } from './converge-rack.ts';

const rack = shared(() => startConvergeRack('edits', editedFile()));
let seen: FleetObservation;
beforeAll(async () => {
  await rack.converge();
  seen = await rack.observe();
}, patience);

/** Cases with a seed each; the seed of a failed one is in its title. */
const seedsFrom = (offset: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => (sampleSeed + offset + at) >>> 0);

/** The first edit from a seed that leaves a valid file, and its plan for the first state of the rack. */
async function validEdit(seed: number): Promise<{ readonly edit: RandomEdit; readonly plan: Plan }> {
  for (let at = 0; ; at += 1) {
    const edit = randomEdit(seed + at * 1_000_003);
    const read = await rack.preview(editedFile(edit.change));
    if (read.kind === 'settled') return { edit, plan: planFor(read.settled.fleet, seen) };
  }
}

describe("a random edit's plan", () => {
  it.each(sampleOf(seedsFrom(0, 240), { few: 8, oneIn: 30 }))(
    'lists every placement that its steps stop: %i',
    async (seed) => {
      const { edit, plan } = await validEdit(seed);
      expect(understated(plan.steps, servedIn(editedFile()), seen), edit.words).toEqual([]);
    },
  );
});

let last: RandomEdit = { words: 'the first file', change: () => undefined };

describe('apply after a random edit', { timeout: patience }, () => {
  it.each(sampleOf(seedsFrom(1_000, 60), { few: 2, oneIn: 30 }))(
    'stops only the placements that the plan lists: %i',
    async (seed) => {
      const { edit } = await validEdit(seed);
      const before = editedFile(last.change);
      expect(await rack.declare(editedFile(edit.change)), edit.words).toEqual([]);
      const clients = await askAllTheTime(
        servedIn(before).map(({ name, nodes: [leader = ''], port }) => ({
          placement: name,
          url: () => `http://127.0.0.1:${rack.fleet().realPort(leader, port)}`,
          model: String(filePart(before, 'placements', name, 'endpoint')['servedName'] ?? name),
        })),
      );
      const words = `${last.words} -> ${edit.words}`;
      last = edit;
      const { plan, report, after } = await rack.apply();
      const lost = await clients.stop();
      const failed = report?.steps.filter(({ outcome }) => outcome !== 'changed' && outcome !== 'unchanged') ?? [];
      expect([failed.map(({ step }) => step.id), leftIn(after)], words).toEqual([[], []]);
      const listed = interruptedIn(plan.steps);
      expect(
        Object.keys(lost).filter((name) => !listed.includes(name)),
        `${words}\n${JSON.stringify(lost)}`,
      ).toEqual([]);
    },
  );
});
