import { describe, expect, it } from 'vitest';
import {
  type CableEvent,
  type CableWork,
  cableEvents as cableEventsItself,
  cableWork,
  isHalfSeen,
  metLinks,
  plugChanges as plugChangesItself,
} from '../../../../src/engine/cables/cable-work.ts';
import type { ThunderboltReceptacle } from '../../../../src/model/facts/fact-values.ts';
import {
  desiredFleet,
  end,
  freeReceptacle,
  meshOfFour,
  observedFleet,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const [cableEvents, plugChanges] = [onPage(cableEventsItself), onPage(plugChangesItself)];

const work = (changes: RackChanges): CableWork => cableWork(desiredFleet(), observedFleet(changes));

const without = (text: string): readonly string[] => meshOfFour.filter((link) => link !== text);
const first = 'studio-1:2 <-> studio-2:2';

const events = (before: readonly string[], after: readonly string[]): readonly CableEvent[] =>
  cableEvents(work({ cables: before }), work({ cables: after }));

const rackOf = (changes: RackChanges) => work(changes).examination.cabling.rack;

/** A Mac whose receptacle 2 reports these values. */
const changedAt2 = (name: string, change: Partial<ThunderboltReceptacle>) => ({
  [name]: {
    thunderbolt: receptacles(name, 6, meshOfFour).map((one) => (one.receptacle === 2 ? { ...one, ...change } : one)),
  },
});

const identify = (before: readonly string[], after: readonly string[]) => {
  const { plugged, unplugged } = plugChanges(rackOf({ cables: before }), rackOf({ cables: after }));
  const text = ({ at, far, isEitherEnd, sees }: (typeof plugged)[number]): string =>
    `${at.node}:${at.receptacle} ${isEitherEnd ? 'or ' : ''}${far === undefined ? sees : `${far.node}:${far.receptacle}`}`;
  return { plugged: plugged.map(text), unplugged: unplugged.map(text) };
};

describe('changes at receptacles', () => {
  it('are not reported if nothing changed', () => {
    expect(identify(meshOfFour, meshOfFour)).toEqual({ plugged: [], unplugged: [] });
  });

  it('include a cable that was replaced by one of a different speed', () => {
    const slow = rackOf({ values: changedAt2('studio-1', { linkBitsPerSecond: 40e9 }) });
    const { plugged } = plugChanges(rackOf({}), slow);
    expect(plugged.map(({ at, bitsPerSecond }) => [at.receptacle, bitsPerSecond])).toEqual([[2, 40e9]]);
  });

  it('list a new cable once, with either end as the plugged one', () => {
    expect(identify(without(first), meshOfFour)).toEqual({ plugged: ['studio-1:2 or studio-2:2'], unplugged: [] });
    expect(identify(meshOfFour, without(first))).toEqual({ plugged: [], unplugged: ['studio-1:2 or studio-2:2'] });
  });

  it('leave the plugged end unnamed for a cable that begins to answer at both ends', () => {
    const values = { ...changedAt2('studio-1', { peers: [] }), ...changedAt2('studio-2', { peers: [] }) };
    expect(plugChanges(rackOf({ values }), rackOf({})).plugged).toMatchObject([{ isEitherEnd: true }]);
  });

  it.each([
    ['studio-1:2 <-> studio-2:5', 'studio-2:5 studio-1:2', 'studio-2:2 studio-1:2'],
    ['studio-1:5 <-> studio-2:2', 'studio-1:5 studio-2:2', 'studio-1:2 studio-2:2'],
  ])('name the end that was moved: %s', (to, plugged, unplugged) => {
    const moved = [...without(first), to];
    expect(identify(meshOfFour, moved)).toEqual({ plugged: [plugged], unplugged: [unplugged] });
  });

  it('omit a node that was unobserved before or after', () => {
    const seen = rackOf({});
    const lost = rackOf({ unreachable: ['studio-2'] });
    expect(plugChanges(lost, seen).unplugged).toEqual([]);
    expect(plugChanges(lost, seen).plugged.some(({ at }) => at.node === 'studio-2')).toBe(false);
    expect(plugChanges(seen, lost).unplugged).toEqual([]);
  });

  it('include a receptacle when it goes silent, and again when it answers', () => {
    const silent = receptacles('studio-1', 6, meshOfFour).map((one) =>
      one.receptacle === 5 ? { ...freeReceptacle('studio-1', 5), state: 'connected' as const } : one,
    );
    const rack = rackOf({ values: { 'studio-1': { thunderbolt: silent } } });
    const [plug] = plugChanges(rackOf({}), rack).plugged;
    expect(plug).toMatchObject({ at: end('studio-1:5'), sees: 'something that does not answer' });
    const cabled = rackOf({ cables: [...meshOfFour, 'studio-1:5 <-> studio-2:5'] });
    expect(plugChanges(rack, cabled).plugged.map(({ at }) => at)).toEqual([end('studio-2:5')]);
  });
});

describe('an event during cabling', () => {
  it('is a matching link with its speed', () => {
    expect(events(without(first), meshOfFour)).toEqual([
      { kind: 'met', ends: [end('studio-1:2'), end('studio-2:2')], bitsPerSecond: 80e9 },
    ]);
  });

  it('is a plug in the wrong receptacle, with the right one as advice', () => {
    const wrong = [...without(first), 'studio-1:2 <-> studio-2:5'];
    expect(events(without(first), wrong)).toEqual([
      { kind: 'plugged', at: end('studio-2:5'), advice: 'move it to receptacle 2 (back, 2nd from Ethernet)' },
    ]);
  });

  it('is each plug of two swapped cables, with the swap as advice', () => {
    const neither = without(first).filter((link) => !link.startsWith('studio-1:3'));
    const found = events(neither, [...neither, 'studio-1:3 <-> studio-2:2', 'studio-1:2 <-> studio-3:2']);
    expect(found.map(({ kind }) => kind)).toEqual(['plugged', 'plugged']);
  });

  it('is a cable that the file does not declare', () => {
    const ends = { at: end('studio-1:5'), far: end('studio-2:5') };
    const [event] = events(meshOfFour, [...meshOfFour, 'studio-1:5 <-> studio-2:5']);
    expect(event).toEqual({ kind: 'plugged', ...ends, advice: 'this cable is not in the file' });
  });

  it('is an unplugged cable end', () => {
    expect(events(meshOfFour, without(first))).toMatchObject([{ kind: 'unplugged', plug: { at: end('studio-1:2') } }]);
  });

  it('follows an unplugging when a plug moves to the right receptacle', () => {
    const wrong = [...without(first), 'studio-1:2 <-> studio-2:5'];
    expect(events(wrong, meshOfFour).map(({ kind }) => kind)).toEqual(['unplugged', 'met']);
  });
});

describe('a link in observed cabling', () => {
  it('is half seen while only one end sees the other', () => {
    const blind = receptacles('studio-2', 6, without(first));
    expect(isHalfSeen(rackOf({ values: { 'studio-2': { thunderbolt: blind } } }))).toBe(true);
    expect(isHalfSeen(rackOf({}))).toBe(false);
  });

  it('is met only at 80 Gb/s if RDMA is required', () => {
    const slow = { linkBitsPerSecond: 40e9 };
    const values = { ...changedAt2('studio-1', slow), ...changedAt2('studio-2', slow) };
    expect(metLinks(work({})).length).toBe(6);
    expect(metLinks(work({ values })).map(({ ends }) => ends[0])).not.toContainEqual(end('studio-1:2'));
  });
});

onOnePage('cable-events');
