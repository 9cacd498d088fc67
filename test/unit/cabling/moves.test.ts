import { describe, expect, it } from 'vitest';
import { moveText } from '../../../src/cabling/cabling-text.ts';
import { judgeCabling } from '../../../src/cabling/judge-cabling.ts';
import { findMoves } from '../../../src/cabling/moves.ts';
import { nodeName } from '../../../src/model/node.ts';
import { links, meshOfFour, observedFleet, type RackChanges } from '../doctor/fleet-builder.ts';

const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName);

function moves(declared: readonly string[], cables: readonly string[], changes: RackChanges = {}): readonly string[] {
  const { nodes } = observedFleet({ ...changes, cables });
  return findMoves(judgeCabling(links(declared), names, nodes)).flatMap((group) => group.moves.map(moveText));
}

describe('moves', () => {
  it('are none for a rack that is cabled as declared', () => {
    expect(moves(meshOfFour, meshOfFour)).toEqual([]);
  });

  it('exchange exactly the two ends of a swapped pair, on the one node where both are', () => {
    const declared = ['studio-1:4 <-> studio-4:2', 'studio-2:4 <-> studio-4:3'];
    expect(moves(declared, ['studio-1:4 <-> studio-4:3', 'studio-2:4 <-> studio-4:2'])).toEqual([
      'exchange the cable ends in studio-4 receptacles 2 and 3',
    ]);
  });

  it('move one end that is one receptacle off', () => {
    expect(moves(['studio-1:2 <-> studio-2:2'], ['studio-1:2 <-> studio-2:3'])).toEqual([
      'move the cable end in studio-2 receptacle 3 to receptacle 2',
    ]);
  });

  it('name the other node when the end has to go there', () => {
    expect(moves(['studio-1:2 <-> studio-2:2'], ['studio-1:2 <-> studio-3:3'])).toEqual([
      'move the cable end in studio-3 receptacle 3 to studio-2 receptacle 2',
    ]);
  });

  it('free each receptacle before something goes into it', () => {
    const declared = ['studio-1:1 <-> studio-2:1', 'studio-1:2 <-> studio-2:2'];
    expect(moves(declared, ['studio-1:1 <-> studio-2:2', 'studio-1:2 <-> studio-2:3'])).toEqual([
      'move the cable end in studio-2 receptacle 2 to receptacle 1',
      'move the cable end in studio-2 receptacle 3 to receptacle 2',
    ]);
  });

  it('add a cable where one is missing', () => {
    expect(moves(['studio-1:2 <-> studio-2:2'], [])).toEqual([
      'put a Thunderbolt 5 cable between studio-1 receptacle 2 and studio-2 receptacle 2',
    ]);
  });

  it('take out a surplus cable that stands in the way', () => {
    const cables = ['studio-1:2 <-> studio-3:1', 'studio-2:2 <-> studio-3:2'];
    expect(moves(['studio-1:2 <-> studio-2:2'], cables)).toEqual([
      'take out the cable between studio-1 receptacle 2 and studio-3 receptacle 1',
      'move the cable end in studio-3 receptacle 2 to studio-1 receptacle 2',
    ]);
  });

  it('leave a surplus cable alone that is in nobody’s way', () => {
    expect(moves([], ['studio-1:2 <-> studio-2:2'])).toEqual([]);
  });

  it('turn three ends round when three cables are one link off', () => {
    const declared = ['studio-1:1 <-> studio-4:1', 'studio-2:1 <-> studio-4:2', 'studio-3:1 <-> studio-4:3'];
    const cables = ['studio-1:1 <-> studio-4:2', 'studio-2:1 <-> studio-4:3', 'studio-3:1 <-> studio-4:1'];
    expect(moves(declared, cables)).toEqual([
      'take out the cable ends in studio-4 receptacles 1, 2 and 3, ' +
        'then put the one from 1 into 3, the one from 3 into 2 and the one from 2 into 1',
    ]);
  });

  it('are not proposed while a receptacle on the way cannot be judged', () => {
    const cables = ['studio-1:2 <-> studio-2:3'];
    expect(moves(['studio-1:2 <-> studio-2:2'], cables, { unreachable: ['studio-2'] })).toEqual([]);
  });
});
