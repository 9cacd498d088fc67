import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeObservation, ThunderboltReceptacle } from '../../src/model/facts/fact-values.ts';
import { linkEndText, nodeName } from '../../src/model/node.ts';
import { thunderboltFact } from '../../src/rack/cables/fact.ts';
import { judgeCabling } from '../../src/rack/cabling/judge-cabling.ts';
import { findMoves } from '../../src/rack/cabling/moves.ts';
import { read } from '../../src/rack/fact.ts';
import { links, observedFleet } from '../rack/rack.ts';

const nodeNames = ['a', 'b', 'c', 'd'];
const receptacleCount = 3;
const allEnds = nodeNames.flatMap((name) =>
  Array.from({ length: receptacleCount }, (_, index) => `${name}:${index + 1}`),
);

/** A random set of cables between distinct receptacles: the first receptacles of a shuffled list, in pairs. */
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
    const thunderbolt = read(node.facts, thunderboltFact);
    const value: readonly ThunderboltReceptacle[] = thunderbolt.kind === 'known' ? thunderbolt.value.toReversed() : [];
    return [name, { ...node, facts: { ...node.facts, thunderbolt: { kind: 'known', value } } }];
  });
  return Object.fromEntries(turned.toReversed());
}

const names = nodeNames.map(nodeName);

describe('the assessment of random cabling', () => {
  it('does not depend on the order of nodes, receptacles and link ends', () => {
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

  it('is as-declared only for cabled links, and missing only if both ends are empty', () => {
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

  it('is unknown exactly for links with an unobserved end', () => {
    fc.assert(
      fc.property(rack, rack, fc.subarray(nodeNames, { minLength: 1 }), (declared, cables, unreachable) => {
        for (const { link, judgement } of judgeCabling(links(declared), names, observe(cables, unreachable)).links) {
          const isUnseen = link.ends.some((end) => unreachable.includes(end.node));
          expect(judgement.kind === 'unknown').toBe(isUnseen);
        }
      }),
    );
  });

  it('does not name a foreign Mac while a node is unobserved', () => {
    fc.assert(
      fc.property(rack, fc.subarray(nodeNames, { minLength: 1 }), (cables, unreachable) => {
        const { views } = judgeCabling([], names, observe(cables, unreachable)).rack;
        expect(views.flatMap((view) => view.peers).filter((one) => one.kind === 'foreign')).toEqual([]);
      }),
    );
  });
});
