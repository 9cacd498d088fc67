import { beforeAll, describe, expect, it } from 'vitest';
import { withoutNode } from '../../src/desired/settle/settle.ts';
import { shared } from '../rack/kept-running.ts';
import { patternOf } from './converge-drifting.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { type KeyEdit, withoutSecond } from './converge-keys.ts';
import { expectNothingOld } from './converge-leftovers.ts';
import { changesIn, leftIn, patience, startConvergeRack } from './converge-rack.ts';

const rack = shared(() => startConvergeRack('moves'));
beforeAll(async () => {
  await rack.converge();
});

/** Declares a file, applies it, and expects no remaining change and no leftovers. */
async function become(change?: KeyEdit['change']): Promise<readonly string[]> {
  expect(await rack.declare(pairFile(change))).toEqual([]);
  const { plan } = await rack.converge();
  expectNothingOld(rack);
  return changesIn(plan).map(patternOf).sort();
}

describe('apply after several edits to the file', { timeout: patience }, () => {
  it('keeps one older version of a runtime and removes earlier ones', async () => {
    const archive = (name: string) => (file: Parameters<KeyEdit['change']>[0]) => {
      filePart(file, 'runtimes', 'reference')['archive'] = `./dist/${name}.tar.gz`;
    };
    await become(archive('newer'));
    const removed = [first, second].map((node) => `${node} runtime/*/old`);
    expect(await become(archive('newest'))).toEqual(expect.arrayContaining(removed));
    expect(await become()).toEqual(expect.arrayContaining(removed));
  });

  it('moves a link to other receptacles after a person moved the cable', async () => {
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

  it('is refused until `forget` runs if a node was removed from the file', async () => {
    const onlyFirst = pairFile(withoutSecond);
    expect(await rack.declare(onlyFirst)).toEqual(['lock/node-left-file']);
    rack.relock((lock) => withoutNode(lock, second));
    expect(await rack.declare(onlyFirst)).toEqual([]);
    const { plan } = await rack.converge();
    expect(changesIn(plan).every((id) => id.startsWith(first))).toBe(true);
    expect(leftIn(await rack.plan())).toEqual([]);
    expectNothingOld(rack);
  });
});
