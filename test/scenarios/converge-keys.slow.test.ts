import { beforeAll, describe, expect, it } from 'vitest';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { shared } from '../rack/kept-running.ts';
import { sampleOf } from '../sample.ts';
import { patternOf } from './converge-drifting.ts';
import { pairFile } from './converge-file.ts';
import { isEdit, type KeyEdit, keyEdits, keyPaths, keys } from './converge-keys.ts';
import { expectNothingOld } from './converge-leftovers.ts';
import { changesIn, patience, planFor, startConvergeRack } from './converge-rack.ts';

let seen: FleetObservation;
const rack = shared(() => startConvergeRack('keys'));
beforeAll(async () => {
  await rack.converge();
  seen = await rack.observe();
});

const sorted = (texts: readonly string[] = []): readonly string[] => [...texts].sort();

const edits = keyEdits(pairFile());
const titled = (some: readonly KeyEdit[]) => some.map((edit) => [edit.key, edit.what, edit] as const);

describe('a key in the file', () => {
  it('has table entries for the consequences of editing and removing it', () => {
    expect([...keyPaths(pairFile()).keys()].filter((key) => keys[key] === undefined)).toEqual([]);
    expect(edits.filter((edit) => !isEdit(pairFile(), edit)).map(({ key, what }) => `${key} ${what}`)).toEqual([]);
  });

  it.each(titled(edits))('changes only its own subject: %s %s', async (_key, _what, edit) => {
    const read = await rack.preview(pairFile(edit.change));
    expect(sorted([...new Set(read.kind === 'refused' ? read.codes : [])])).toEqual(edit.refused ?? []);
    if (read.kind === 'refused') return;
    const plan = planFor(read.settled.fleet, seen);
    expect({
      changes: sorted(changesIn(plan).map(patternOf)),
      blockers: sorted(plan.blockers.map(({ code }) => code)),
      notices: sorted(plan.diagnostics.map(({ code }) => code)),
    }).toEqual({ changes: sorted(edit.changes), blockers: sorted(edit.blockers), notices: sorted(edit.notices) });
  });
});

/** The last observation, until a change outside of a run. */
let last: FleetObservation | undefined;

/** Declares a file, applies it, and expects no remaining change and no leftovers. */
async function become(change?: KeyEdit['change']): Promise<readonly string[]> {
  expect(await rack.declare(pairFile(change))).toEqual([]);
  const before = last;
  // After an exception, the next edit observes again.
  last = undefined;
  const { plan, looks } = await rack.converge(before === undefined ? {} : { seen: before });
  last = looks.last;
  expectNothingOld(rack);
  return sorted(changesIn(plan).map(patternOf));
}

describe('apply after an edit to the file', { timeout: patience }, () => {
  // Edits with manual steps have their own tests.
  const effective = edits.filter(({ changes = [], blockers = [] }) => changes.length > 0 && blockers.length === 0);

  it.each(titled(sampleOf(effective, { few: 1, oneIn: 24 })))(
    'leaves nothing behind, before and after the edit is undone: %s %s',
    async (_key, _what, { key, change, changes }) => {
      if (key === 'placements.*.transport') {
        // The number of safe RDMA starts between two reboots is limited.
        await rack.restart();
        last = undefined;
        await become();
      }
      const made = await become(change);
      // An older version left by an earlier edit may be removed too.
      expect(made.filter((one) => !one.endsWith('runtime/*/old'))).toEqual(sorted(changes));
      await become();
    },
  );
});
