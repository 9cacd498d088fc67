import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withoutNode } from '../../src/desired/lock-nodes.ts';
import type { FleetObservation } from '../../src/doctor/fleet-observation.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { isEdit, type KeyEdit, keyEdits, keyPaths, keys, withoutSecond } from './converge-keys.ts';
import { expectNothingOld } from './converge-leftovers.ts';
import { type ConvergeRack, changesIn, leftIn, patience, planFor, startConvergeRack } from './converge-rack.ts';

const isFull = process.env['MESHWRIGHT_FULL'] === '1';

let rack: ConvergeRack;
let seen: FleetObservation;
beforeAll(async () => {
  rack = await startConvergeRack('keys');
  await rack.converge();
  seen = await rack.observe();
});
afterAll(() => rack.stop());

/** An address with `*` for numbers of receptacles and names of the file. */
const pattern = (address: string): string =>
  address.replaceAll(/\/(?:\d+|reference|tiny|chat|talk|other)(?=\/|$)/g, '/*');

const sorted = (texts: readonly string[] = []): readonly string[] => [...texts].sort();

const edits = keyEdits(pairFile());

describe('a key of the file', () => {
  it('has its consequences in the table, whether it is edited or removed', () => {
    expect([...keyPaths(pairFile()).keys()].filter((key) => keys[key] === undefined)).toEqual([]);
    expect(edits.filter((edit) => !isEdit(pairFile(), edit)).map(({ key, what }) => `${key} ${what}`)).toEqual([]);
  });

  it.each(edits)('changes what it is about and nothing else: $key $what', async (edit) => {
    const read = await rack.preview(pairFile(edit.change));
    expect(sorted([...new Set(read.kind === 'refused' ? read.codes : [])])).toEqual(edit.refused ?? []);
    if (read.kind === 'refused') return;
    const plan = planFor(read.settled.fleet, seen);
    expect({
      changes: sorted(changesIn(plan).map(pattern)),
      blockers: sorted(plan.blockers.map(({ code }) => code)),
      notices: sorted(plan.diagnostics.map(({ code }) => code)),
    }).toEqual({ changes: sorted(edit.changes), blockers: sorted(edit.blockers), notices: sorted(edit.notices) });
  });
});

/** Declares a file, applies it, and finds nothing left to do and nothing of what was before. */
async function become(change?: KeyEdit['change']): Promise<readonly string[]> {
  expect(await rack.declare(pairFile(change))).toEqual([]);
  const { plan } = await rack.converge();
  expectNothingOld(rack);
  return sorted(changesIn(plan).map(pattern));
}

describe('apply, after an edit of the file', { timeout: patience }, () => {
  // What needs hands has tests of its own.
  const effective = edits.filter(({ changes = [], blockers = [] }) => changes.length > 0 && blockers.length === 0);
  const always = ['runtimes.*.archive edited', 'placements removed'];
  const named = (one: KeyEdit): string => `${one.key} ${one.what}`;
  const sample = fc.sample(fc.constantFrom(...effective), { seed: 20_261_120, numRuns: 1 });
  const chosen = isFull ? effective : [...effective.filter((one) => always.includes(named(one))), ...sample];

  it.each(chosen)('leaves nothing of the old, and finds its way back: $key $what', async ({ key, change, changes }) => {
    if (key === 'placements.*.transport') {
      // Only so many starts of a mesh over RDMA are safe between two reboots.
      await rack.restart();
      await become();
    }
    const made = await become(change);
    // An older version that an earlier edit has left may go with it.
    expect(made.filter((one) => !one.endsWith('runtime/*/old'))).toEqual(sorted(changes));
    await become();
  });

  it('keeps one older version of a runtime, and removes those before it', async () => {
    const archive = (name: string) => (file: Parameters<KeyEdit['change']>[0]) => {
      filePart(file, 'runtimes', 'reference')['archive'] = `./dist/${name}.tar.gz`;
    };
    await become(archive('newer'));
    const removed = [first, second].map((node) => `${node} runtime/*/old`);
    expect(await become(archive('newest'))).toEqual(expect.arrayContaining(removed));
    expect(await become()).toEqual(expect.arrayContaining(removed));
  });

  it('moves a link to other receptacles once hands have moved the cable', async () => {
    const moved = pairFile((file) => {
      filePart(file, 'thunderbolt')['links'] = [`${first}:3 <-> ${second}:3`];
    });
    expect(await rack.declare(moved)).toEqual([]);
    const { plan, after } = await rack.apply();
    expect(plan.blockers.map(({ code }) => code)).toEqual(after.blockers.map(({ code }) => code));
    expect(plan.blockers.length).toBeGreaterThan(0);
    await rack.restart();
    await rack.behindOurBack((fleet) => fleet.hands());
    await rack.converge();
    expectNothingOld(rack);
  });

  it('stops at a node that left the file, until it is forgotten', async () => {
    const alone = pairFile(withoutSecond);
    expect(await rack.declare(alone)).toEqual(['lock/node-left-file']);
    rack.relock((lock) => withoutNode(lock, second));
    expect(await rack.declare(alone)).toEqual([]);
    const { plan } = await rack.converge();
    expect(changesIn(plan).every((id) => id.startsWith(first))).toBe(true);
    expect(leftIn(await rack.plan())).toEqual([]);
    expectNothingOld(rack);
  });
});
