import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import { type LinkEnd, nodeName } from '../../../../src/model/node.ts';
import { moveText } from '../../../../src/rack/cabling/cabling-text.ts';
import { judgeCabling } from '../../../../src/rack/cabling/judge-cabling.ts';
import { findMoves as findMovesItself, moveEnds, takenEnds } from '../../../../src/rack/cabling/moves.ts';
import {
  end,
  freeReceptacle,
  links,
  meshOfFour,
  observedFleet,
  peer,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';
import { onOnePage, onPage } from '../../one-page.ts';
import { actCount } from './act-count.ts';

const findMoves = onPage(findMovesItself);

const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName);

function moves(declared: readonly string[], cables: readonly string[], changes: RackChanges = {}): readonly string[] {
  const { nodes } = observedFleet({ ...changes, cables });
  return findMoves(judgeCabling(links(declared), names, nodes)).flatMap((group) => group.moves.map(moveText));
}

/** A cable that runs at 40 Gb/s. */
function slow(cable: string): RackChanges {
  const ends = cable.split(' <-> ').map(end);
  const values = ends.map(({ node, receptacle }): [string, Partial<FactValues>] => {
    const own = receptacles(node, 6, [cable]);
    const thunderbolt = own.map((one) => (one.receptacle === receptacle ? { ...one, linkBitsPerSecond: 40e9 } : one));
    return [node, { thunderbolt }];
  });
  return { values: Object.fromEntries(values) };
}

const link = 'studio-1:2 <-> studio-2:2';

describe('cable moves', () => {
  it('are not needed in a rack that matches the file', () => {
    expect(moves(meshOfFour, meshOfFour)).toEqual([]);
  });

  it('swap the two cable ends on the node that has both', () => {
    const declared = ['studio-1:4 <-> studio-4:2', 'studio-2:4 <-> studio-4:3'];
    expect(moves(declared, ['studio-1:4 <-> studio-4:3', 'studio-2:4 <-> studio-4:2'])).toEqual([
      'swap the cable ends in studio-4 receptacles 2 and 3',
    ]);
  });

  it('move a cable end that is one receptacle off, or that belongs to a different node', () => {
    const movesOf = (cable: string) => moves([link], [cable]);
    expect(movesOf('studio-1:2 <-> studio-2:3')).toEqual([
      'move the cable end in studio-2 receptacle 3 to receptacle 2',
    ]);
    expect(movesOf('studio-1:2 <-> studio-3:3')).toEqual([
      'move the cable end in studio-3 receptacle 3 to studio-2 receptacle 2',
    ]);
  });

  it('free each receptacle before a cable is plugged into it', () => {
    const declared = ['studio-1:1 <-> studio-2:1', 'studio-1:2 <-> studio-2:2'];
    expect(moves(declared, ['studio-1:1 <-> studio-2:2', 'studio-1:2 <-> studio-2:3'])).toEqual([
      'move the cable end in studio-2 receptacle 2 to receptacle 1',
      'move the cable end in studio-2 receptacle 3 to receptacle 2',
    ]);
  });

  it('add a missing cable', () => {
    expect(moves([link], [])).toEqual([
      'connect studio-1 receptacle 2 and studio-2 receptacle 2 with a Thunderbolt 5 cable',
    ]);
  });

  it('remove a surplus cable that blocks a receptacle', () => {
    const cables = ['studio-1:2 <-> studio-3:1', 'studio-2:2 <-> studio-3:2'];
    expect(moves([link], cables)).toEqual([
      'remove the cable between studio-1 receptacle 2 and studio-3 receptacle 1',
      'move the cable end in studio-3 receptacle 2 to studio-1 receptacle 2',
    ]);
  });

  it('leave a surplus cable in place if it blocks no receptacle', () => {
    expect(moves([], [link])).toEqual([]);
  });

  it('rotate three cable ends when each belongs to the next link', () => {
    const declared = ['studio-1:1 <-> studio-4:1', 'studio-2:1 <-> studio-4:2', 'studio-3:1 <-> studio-4:3'];
    const cables = ['studio-1:1 <-> studio-4:2', 'studio-2:1 <-> studio-4:3', 'studio-3:1 <-> studio-4:1'];
    expect(moves(declared, cables)).toEqual([
      'unplug the cable ends in studio-4 receptacles 1, 2 and 3, ' +
        'then plug the end from 1 into 3, the end from 3 into 2 and the end from 2 into 1',
    ]);
  });

  it('are not suggested while a receptacle involved is unknown', () => {
    expect(moves([link], ['studio-1:2 <-> studio-2:3'], { unreachable: ['studio-2'] })).toEqual([]);
  });

  it('move the far end of a cable from a Mac that is not in the file', () => {
    const outside = { ...freeReceptacle('studio-1', 2), state: 'connected' as const, linkBitsPerSecond: 80e9 };
    const foreign = { ...outside, peers: [{ ...peer(end('studio-9:1')), model: 'Mac16,9' }] };
    const seen = (cables: readonly string[]): RackChanges => ({
      values: { 'studio-1': { thunderbolt: receptacles('studio-1', 6, cables).with(1, foreign) } },
    });
    expect(moves([link], [], seen([]))).toEqual([
      'move the far end of the cable in studio-1 receptacle 2 from a Mac that is not in the file (Mac16,9) ' +
        'to studio-2 receptacle 2',
    ]);
    const other = ['studio-1:3 <-> studio-2:2'];
    const both = [link, 'studio-1:3 <-> studio-3:3'];
    expect(moves(both, other, seen(other))).toEqual([
      'move the cable end in studio-2 receptacle 2 to studio-3 receptacle 3',
      'move the far end of the cable in studio-1 receptacle 2 from a Mac that is not in the file (Mac16,9) ' +
        'to studio-2 receptacle 2',
    ]);
    expect(moves([], [], seen([]))).toEqual([]);
  });

  it('reuse a removed cable for a missing link', () => {
    const cables = ['studio-1:2 <-> studio-3:1', 'studio-2:2 <-> studio-3:2'];
    const found = moves([link, 'studio-1:5 <-> studio-4:5'], cables);
    expect(found[0]).toBe('remove the cable between studio-1 receptacle 2 and studio-3 receptacle 1');
    expect(found.at(-1)).toBe(
      'connect studio-1 receptacle 5 and studio-4 receptacle 5 ' +
        'with the cable removed from studio-1 receptacle 2 and studio-3 receptacle 1',
    );
  });

  it('replace a slow cable and never reuse one for a link', () => {
    const cable = 'with a Thunderbolt 5 cable';
    expect(moves([link], [link], slow(link))).toEqual([
      `replace the cable between studio-1 receptacle 2 and studio-2 receptacle 2 ${cable}`,
    ]);
    const other = 'studio-1:2 <-> studio-2:3';
    expect(moves([link], [other], slow(other))).toEqual([
      'remove the cable between studio-1 receptacle 2 and studio-2 receptacle 3',
      `connect studio-1 receptacle 2 and studio-2 receptacle 2 ${cable}`,
    ]);
  });

  it('do not change a slow link that is limited by its Mac', () => {
    const { values = {} } = slow(link);
    const mini = { model: 'Mac16,10', chip: 'Apple M4', memoryBytes: 2 ** 34 };
    const limited = { values: { ...values, 'studio-2': { ...values['studio-2'], hardware: mini } } };
    expect(moves([link], [link], limited)).toEqual([]);
    const { nodes } = observedFleet({ ...limited, cables: [link] });
    const judgement = { kind: 'slow', bitsPerSecond: 40e9, limitedBy: ['studio-2'] };
    expect(judgeCabling(links([link]), names, nodes).links[0]?.judgement).toEqual(judgement);
  });

  it('ignore a link that names a receptacle that does not exist', () => {
    const declared = ['studio-1:9 <-> studio-2:3', 'studio-1:2 <-> studio-2:2'];
    expect(moves(declared, ['studio-1:2 <-> studio-2:3'])).toEqual([
      'move the cable end in studio-2 receptacle 3 to receptacle 2',
    ]);
  });

  it('count each moved cable end, and two ends for a replaced cable', () => {
    const [a, b, c] = ['a:1', 'a:2', 'a:3'].map(end) as [LinkEnd, LinkEnd, LinkEnd];
    expect(actCount({ kind: 'move-end', from: a, to: b })).toBe(1);
    expect(actCount({ kind: 'rotate-ends', ends: [a, b, c] })).toBe(3);
    expect(actCount({ kind: 'replace-cable', ends: [a, b] })).toBe(2);
    expect(takenEnds({ kind: 'add-cable', ends: [a, b] })).toEqual([]);
    expect(moveEnds({ kind: 'move-outside-end', at: a, model: 'Mac16,9', to: b })).toEqual([a, b]);
  });
});

onOnePage('find-moves');
