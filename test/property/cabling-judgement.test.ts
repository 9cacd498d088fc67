import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeCabling } from '../../src/cabling/judge-cabling.ts';
import { findMoves, type Move } from '../../src/cabling/moves.ts';
import type { ThunderboltReceptacle } from '../../src/model/fact-values.ts';
import { type LinkEnd, linkEndText } from '../../src/model/link.ts';
import { nodeName } from '../../src/model/node.ts';
import type { NodeObservation } from '../../src/model/observation.ts';
import { links, observedFleet } from '../unit/doctor/fleet-builder.ts';

const nodeNames = ['a', 'b', 'c', 'd'];
const receptacleCount = 3;
const allEnds = nodeNames.flatMap((name) =>
  Array.from({ length: receptacleCount }, (_, index) => `${name}:${index + 1}`),
);

/** A random set of cables over distinct receptacles: the first ends of a shuffle, two by two. */
const rack = fc
  .tuple(fc.shuffledSubarray(allEnds, { minLength: allEnds.length }), fc.integer({ min: 0, max: allEnds.length / 2 }))
  .map(([ends, count]) => Array.from({ length: count }, (_, index) => `${ends[2 * index]} <-> ${ends[2 * index + 1]}`));

const observe = (
  cables: readonly string[],
  unreachable: readonly string[] = [],
): Readonly<Record<string, NodeObservation>> =>
  observedFleet({
    cables,
    names: nodeNames,
    unreachable,
    receptacleCount: Object.fromEntries(nodeNames.map((name) => [name, receptacleCount])),
  }).nodes;

function reversed(nodes: Readonly<Record<string, NodeObservation>>): Readonly<Record<string, NodeObservation>> {
  const turned = Object.entries(nodes).map(([name, node]): [string, NodeObservation] => {
    const { thunderbolt } = node.facts;
    const value: readonly ThunderboltReceptacle[] = thunderbolt.kind === 'known' ? thunderbolt.value.toReversed() : [];
    return [name, { ...node, facts: { ...node.facts, thunderbolt: { kind: 'known', value } } }];
  });
  return Object.fromEntries(turned.toReversed());
}

/** Does to a set of cables what a person does who follows the moves; throws when a receptacle is not free. */
function carryOut(cables: readonly string[], moves: readonly Move[]): readonly string[] {
  const farByEnd = new Map<string, string>();
  const join = (a: string, b: string): void => {
    for (const end of [a, b]) {
      if (farByEnd.has(end)) throw new Error(`${end} is not free`);
    }
    farByEnd.set(a, b).set(b, a);
  };
  const takeOut = (end: LinkEnd): string => {
    const far = farByEnd.get(linkEndText(end));
    if (far === undefined) throw new Error(`nothing is in ${linkEndText(end)}`);
    farByEnd.delete(linkEndText(end));
    farByEnd.delete(far);
    return far;
  };
  for (const cable of cables) {
    const [a = '', b = ''] = cable.split(' <-> ');
    join(a, b);
  }
  for (const move of moves) {
    if (move.kind === 'move-end') {
      join(takeOut(move.from), linkEndText(move.to));
    } else if (move.kind === 'add-cable') {
      join(linkEndText(move.ends[0]), linkEndText(move.ends[1]));
    } else if (move.kind === 'remove-cable') {
      takeOut(move.ends[0]);
    } else {
      const fars = move.ends.map(takeOut);
      fars.forEach((far, index) => {
        const to = move.ends[(index + 1) % move.ends.length];
        if (to !== undefined) join(far, linkEndText(to));
      });
    }
  }
  return [...farByEnd].flatMap(([a, b]) => (a < b ? [`${a} <-> ${b}`] : []));
}

const names = nodeNames.map(nodeName);

describe('cabling of random racks', () => {
  it('is judged the same whatever the order of nodes, receptacles and the ends of links', () => {
    fc.assert(
      fc.property(rack, rack, (declared, cables) => {
        const nodes = observe(cables);
        const turned = declared.map((link) => link.split(' <-> ').toReversed().join(' <-> '));
        const judged = judgeCabling(links(declared), names, nodes);
        const again = judgeCabling(links(turned), names.toReversed(), reversed(nodes));
        expect(again.links.map((one) => one.judgement)).toEqual(judged.links.map((one) => one.judgement));
        expect(again.cables).toEqual(judged.cables);
        expect(again.rack).toEqual(judged.rack);
        expect(findMoves(again).flatMap((one) => one.moves)).toEqual(findMoves(judged).flatMap((one) => one.moves));
      }),
    );
  });

  it('is as declared exactly for the links that are cabled, and missing only where both ends are empty', () => {
    fc.assert(
      fc.property(rack, rack, (declared, cables) => {
        const plugged = new Set(cables.flatMap((cable) => cable.split(' <-> ')));
        const seen = new Set(cables.flatMap((cable) => [cable, cable.split(' <-> ').toReversed().join(' <-> ')]));
        for (const { link, judgement } of judgeCabling(links(declared), names, observe(cables)).links) {
          const text = link.ends.map(linkEndText).join(' <-> ');
          const isMissing = link.ends.every((end) => !plugged.has(linkEndText(end)));
          expect(judgement.kind).toBe(seen.has(text) ? 'as-declared' : isMissing ? 'missing' : 'elsewhere');
        }
      }),
    );
  });

  it('says nothing but unknown of a link with an end that was not looked at', () => {
    fc.assert(
      fc.property(rack, rack, fc.subarray(nodeNames, { minLength: 1 }), (declared, cables, unreachable) => {
        for (const { link, judgement } of judgeCabling(links(declared), names, observe(cables, unreachable)).links) {
          const isUnseen = link.ends.some((end) => unreachable.includes(end.node));
          expect(judgement.kind === 'unknown').toBe(isUnseen);
        }
      }),
    );
  });

  it('calls no Mac foreign while a node was not looked at', () => {
    fc.assert(
      fc.property(rack, fc.subarray(nodeNames, { minLength: 1 }), (cables, unreachable) => {
        const { views } = judgeCabling([], names, observe(cables, unreachable)).rack;
        expect(views.flatMap((view) => view.peers).filter((one) => one.kind === 'foreign')).toEqual([]);
      }),
    );
  });
});

describe('moves for random racks', () => {
  it('make every declared link true when they are carried out one after the other', () => {
    fc.assert(
      fc.property(rack, rack, (declared, cables) => {
        const groups = findMoves(judgeCabling(links(declared), names, observe(cables)));
        const after = carryOut(
          cables,
          groups.flatMap((group) => group.moves),
        );
        const judged = judgeCabling(links(declared), names, observe(after));
        expect(judged.links.every((one) => one.judgement.kind === 'as-declared')).toBe(true);
      }),
    );
  });

  it('touch no cable that is as declared, and need no more ends than there are links to be made true', () => {
    fc.assert(
      fc.property(rack, rack, (declared, cables) => {
        const judged = judgeCabling(links(declared), names, observe(cables));
        const moves = findMoves(judged).flatMap((group) => group.moves);
        const right = judged.links
          .filter((one) => one.judgement.kind === 'as-declared')
          .flatMap((one) => one.link.ends);
        const touched = moves.flatMap((move) => (move.kind === 'move-end' ? [move.from, move.to] : move.ends));
        expect(touched.filter((end) => right.some((one) => linkEndText(one) === linkEndText(end)))).toEqual([]);
        const count = (move: Move): number =>
          move.kind === 'rotate-ends' ? move.ends.length : move.kind === 'remove-cable' ? 0 : 1;
        const wrong = judged.links.length - right.length / 2;
        expect(moves.reduce((sum, move) => sum + count(move), 0)).toBe(wrong);
      }),
    );
  });
});
