import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LinkEnd, linkEndText } from '../../src/model/node.ts';
import { moveText } from '../../src/rack/cabling/cabling-text.ts';
import { type Move, moveEnds } from '../../src/rack/cabling/moves.ts';
import type { Cable } from '../../src/sim/model/cables.ts';
import { linkSpeed, macNamed, type SimulatedFleet } from '../../src/sim/model/fleet.ts';
import { runs } from '../runs.ts';
import { actCount } from '../unit/rack/cabling/act-count.ts';
import { carryOut, movesOf, observe, type RandomRack, randomRack } from './cabling-rack.ts';
import { leastWork, type RackLink } from './cabling-search.ts';

const pairText = (ends: readonly LinkEnd[]): string => ends.map(linkEndText).sort().join(' ');
const texts = (cables: readonly Cable[]): readonly string[] => cables.map(({ ends }) => pairText(ends)).sort();

/** True if a link between these Macs can run at 80 Gb/s. */
const isFast = (fleet: SimulatedFleet, ends: readonly LinkEnd[]): boolean =>
  ends.every(({ node }) => macNamed(fleet, node)?.model.thunderbolt === 5);

/** The desired cables: every declared one, and undeclared ones that do not block a link. */
function goalOf({ fleet, declared }: RandomRack): readonly string[] {
  const wanted = new Set(declared.flatMap(({ ends }) => ends.map(linkEndText)));
  const staying = fleet.cables.filter(({ ends }) => !ends.some((end) => wanted.has(linkEndText(end))));
  return [...declared.map(({ ends }) => pairText(ends)), ...texts(staying)].sort();
}

const isSlowLink = (fleet: SimulatedFleet, { ends }: { readonly ends: readonly LinkEnd[] }): boolean =>
  isFast(fleet, ends) &&
  fleet.cables.some((cable) => pairText(cable.ends) === pairText(ends) && linkSpeed(fleet, cable) < 80);

const fetched = (moves: readonly Move[]): number =>
  moves.filter((move) => (move.kind === 'add-cable' || move.kind === 'replace-cable') && move.spare === undefined)
    .length;

/** The minimum found by an independent search. */
function leastFor({ fleet, declared }: RandomRack) {
  const links = declared.map(({ ends }): RackLink => {
    return { ends: [linkEndText(ends[0]), linkEndText(ends[1])], isFast: isFast(fleet, ends) };
  });
  const cables = fleet.cables.map(({ ends, gigabitsPerSecond }) => ({
    ends: [linkEndText(ends[0]), linkEndText(ends[1])] as const,
    isSlow: gigabitsPerSecond === 40,
  }));
  return leastWork(cables, links);
}

describe('cable moves for random racks', () => {
  it('lead to the declared cabling when done one after another', () => {
    fc.assert(
      fc.property(randomRack({ nodes: 7, links: 14, cables: 14 }), (rack) => {
        const moves = movesOf(rack);
        const { fleet } = carryOut(rack.fleet, moves);
        expect(texts(fleet.cables)).toEqual(goalOf(rack));
        expect([fleet.hanging, rack.declared.filter((link) => isSlowLink(fleet, link))]).toEqual([[], []]);
        expect(movesOf({ ...rack, fleet })).toEqual([]);
        const judged = observe({ ...rack, fleet }).links.map(({ judgement }) => judgement.kind);
        expect(judged).toEqual(rack.declared.map(({ ends }) => (isFast(fleet, ends) ? 'as-declared' : 'slow')));
      }),
      { numRuns: runs(300) },
    );
  });

  it('reach the goal after at most two checks if a Thunderbolt 4 Mac hides a slow cable', () => {
    fc.assert(
      fc.property(randomRack({ nodes: 5, links: 9, cables: 9, hasHiddenSlow: true }), (rack) => {
        const once = carryOut(rack.fleet, movesOf(rack)).fleet;
        const twice = carryOut(once, movesOf({ ...rack, fleet: once })).fleet;
        expect([texts(twice.cables), movesOf({ ...rack, fleet: twice })]).toEqual([goalOf(rack), []]);
      }),
      { numRuns: runs(200) },
    );
  });

  it('use the fewest possible acts and new cables for up to eight cables', () => {
    fc.assert(
      fc.property(randomRack({ nodes: 5, links: 8, cables: 8 }), (rack) => {
        const least = leastFor(rack);
        fc.pre(least !== undefined);
        const moves = movesOf(rack);
        const acts = moves.reduce((sum, move) => sum + actCount(move), 0);
        const { handlings } = carryOut(rack.fleet, moves);
        expect(handlings).toBe(2 * acts);
        expect({ handlings, fetched: fetched(moves) }).toEqual(least);
      }),
      // fast-check allows 100 skipped racks for each compared one.
      { numRuns: runs(60), maxSkipsPerRun: 1 },
    );
  });

  it('touch neither correct cables nor cables that block no link', () => {
    fc.assert(
      fc.property(randomRack({ nodes: 7, links: 12, cables: 12 }), (rack) => {
        const touched = new Set(movesOf(rack).flatMap(moveEnds).map(linkEndText));
        const goal = new Set(goalOf(rack));
        const right = rack.fleet.cables.filter(
          (cable) => goal.has(pairText(cable.ends)) && !isSlowLink(rack.fleet, cable),
        );
        expect(right.filter(({ ends }) => ends.some((end) => touched.has(linkEndText(end))))).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });

  it('name every receptacle that they touch', () => {
    fc.assert(
      fc.property(randomRack({ nodes: 4, links: 8, cables: 8 }), (rack) => {
        for (const move of movesOf(rack)) {
          const text = moveText(move);
          for (const { node, receptacle } of moveEnds(move)) {
            expect(text).toContain(node);
            expect(text).toMatch(new RegExp(`\\b${receptacle}\\b`));
          }
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
