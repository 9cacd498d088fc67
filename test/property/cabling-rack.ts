import fc from 'fast-check';
import type { NodeObservation } from '../../src/model/facts/fact-values.ts';
import { known } from '../../src/model/known.ts';
import { type Link, type LinkEnd, linkEndText } from '../../src/model/node.ts';
import { thunderboltFact } from '../../src/rack/cables/fact.ts';
import { type Cabling, judgeCabling } from '../../src/rack/cabling/judge-cabling.ts';
import { findMoves, type Move } from '../../src/rack/cabling/moves.ts';
import { acted, type HandsAct } from '../../src/sim/hands.ts';
import { type Cable, farEnd } from '../../src/sim/model/cables.ts';
import type { MacState, SimulatedFleet } from '../../src/sim/model/fleet.ts';
import { strangerLike } from '../../src/sim/simulate-fleet.ts';
import { appleJson, thunderboltBuses } from '../../src/sim/tools/system-profiler.ts';
import { desiredNode, desiredRack, simulated } from '../rack/rack.ts';

/** A rack with its declared and actual cabling. */
export interface RandomRack {
  readonly fleet: SimulatedFleet;
  readonly declared: readonly Link[];
  readonly [fc.toStringMethod]?: () => string;
}

const models = ['Mac15,14', 'Mac16,9', 'Mac16,11', 'Mac16,10', 'Mac17,7'];
const names = [1, 2, 3, 4, 5, 6, 7].map((number) => `studio-${number}`);

const macOf = (name: string, model: string): MacState => {
  const [mac] = simulated({
    ...desiredRack,
    nodes: [desiredNode(name, { model })],
    thunderbolt: { ...desiredRack.thunderbolt, links: [] },
  }).macs;
  if (mac === undefined) throw new Error(`no ${model}`);
  return mac;
};
/** Every Mac for random racks, created once. */
const pool = new Map(names.flatMap((name) => models.map((model) => [`${name} ${model}`, macOf(name, model)] as const)));
const strangerOf = (index: number): MacState => strangerLike(macOf('studio-1', 'Mac15,14'), index);
const strangers = [1, 2, 3].map(strangerOf);

const endsOf = (mac: MacState): readonly LinkEnd[] =>
  mac.receptacles.map(({ number }) => ({ node: mac.name, receptacle: number }));

const pairs = (ends: readonly LinkEnd[], count: number): readonly (readonly [LinkEnd, LinkEnd])[] =>
  Array.from({ length: Math.min(count, Math.floor(ends.length / 2)) }).flatMap((_, index) => {
    const [one, other] = [ends[2 * index], ends[2 * index + 1]];
    return one === undefined || other === undefined ? [] : [[one, other] as const];
  });

/** A readable description of a rack for failure messages. */
function rackText({ macs, cables }: SimulatedFleet, declared: readonly Link[]): string {
  const pair = (ends: readonly LinkEnd[]): string => ends.map(linkEndText).join('-');
  const slow = cables.filter(({ gigabitsPerSecond }) => gigabitsPerSecond === 40);
  return [
    macs.map(({ name, model }) => `${name} ${model.id}`).join(', '),
    `declared ${declared.map(({ ends }) => pair(ends)).join(' ')}`,
    `cables ${cables.map(({ ends }) => pair(ends)).join(' ')}`,
    `slow ${slow.map(({ ends }) => pair(ends)).join(' ')}`,
  ].join('; ');
}

/** The size of a random rack. */
export interface RackSize {
  readonly nodes: number;
  readonly links: number;
  readonly cables: number;
  /** True if Thunderbolt 4 Macs may have slow cables, which look like fast ones there. */
  readonly hasHiddenSlow?: boolean;
}

/**
 * Racks of mixed Macs. Half of their cables match links, except for moved ends. The others connect any receptacles:
 * doubled, from a Mac to itself, or to Macs outside the file. Some cables are slow.
 */
export const randomRack = (size: RackSize): fc.Arbitrary<RandomRack> =>
  fc.array(fc.constantFrom(...models), { minLength: 2, maxLength: size.nodes }).chain((chosen) => {
    const macs = chosen.flatMap((model, index) => pool.get(`${names[index]} ${model}`) ?? []);
    const ends = macs.flatMap(endsOf);
    const outside = strangers.flatMap((mac) => endsOf(mac).slice(0, 1));
    const shuffled = (all: readonly LinkEnd[]): fc.Arbitrary<LinkEnd[]> =>
      fc.shuffledSubarray([...all], { minLength: all.length });
    return fc
      .record({
        declared: shuffled(ends),
        linkCount: fc.nat({ max: size.links }),
        kept: fc.array(fc.boolean(), { minLength: size.links, maxLength: size.links }),
        real: shuffled([...ends, ...outside]),
        cableCount: fc.nat({ max: size.cables }),
        slow: fc.array(fc.nat({ max: 5 }), { minLength: 2 * size.cables, maxLength: 2 * size.cables }),
      })
      .map(({ declared, linkCount, kept, real, cableCount, slow }): RandomRack => {
        const wanted = pairs(declared, linkCount);
        const right = wanted.filter((_, index) => kept[index] === true).slice(0, cableCount);
        const taken = new Set(right.flat().map(linkEndText));
        const rest = real.filter((end) => !taken.has(linkEndText(end)));
        const isOutside = ({ node }: LinkEnd): boolean => node.startsWith('outside');
        const other = pairs(rest, cableCount - right.length).filter((both) => !both.every(isOutside));
        const isDetectable = ({ node }: LinkEnd): boolean =>
          macs.find(({ name }) => name === node)?.model.thunderbolt === 5;
        const cables = [...right, ...other].map((both, index): Cable => {
          const canBeSlow = size.hasHiddenSlow === true || both.every(isDetectable);
          return { ends: both, gigabitsPerSecond: canBeSlow && slow[index] === 0 ? 40 : 80 };
        });
        const fleet: SimulatedFleet = { macs, cables, hanging: [], strangers, misdirected: {} };
        const links = wanted.map((both, index) => ({ index, ends: both }));
        return { fleet, declared: links, [fc.toStringMethod]: () => rackText(fleet, links) };
      });
  });

/** The product's view of this rack, from the parsed answer of each Mac. */
export function observe({ fleet, declared }: RandomRack): Cabling {
  const nodes = fleet.macs.map((mac): readonly [string, NodeObservation] => {
    const stdout = appleJson({ SPThunderboltDataType: thunderboltBuses({ fleet, mac }) });
    const read = thunderboltFact.parse(
      [
        {
          probe: 'thunderbolt',
          exit: { kind: 'exited', code: 0 },
          stdout,
          stderr: '',
          isTruncated: false,
          isLate: false,
          isUtf8: true,
        },
      ],
      { sentAtEpochMs: 0, receivedAtEpochMs: 0 },
    );
    const hardware = known({ model: mac.model.id, chip: mac.model.chip, memoryBytes: mac.memoryBytes });
    return [mac.name, { node: mac.name, facts: { thunderbolt: read, hardware } as NodeObservation['facts'] }];
  });
  return judgeCabling(
    declared,
    fleet.macs.map(({ name }) => name),
    Object.fromEntries(nodes),
  );
}

/** The moves that the product reports. */
export const movesOf = (rack: RandomRack): readonly Move[] => findMoves(observe(rack)).flatMap(({ moves }) => moves);

function round(fleet: SimulatedFleet, ends: readonly LinkEnd[]): readonly HandsAct[] {
  const [first, second, ...others] = ends;
  const far = first === undefined ? undefined : farEnd(fleet.cables, first);
  if (first === undefined || second === undefined || far === undefined) throw new Error('no round');
  if (others.length === 0) return [{ kind: 'swap', ends: [first, second] }];
  const held = ends.slice(1).toReversed();
  return [
    { kind: 'unplug', end: first },
    ...held.map(
      (from, index): HandsAct => ({ kind: 'move', from, to: index === 0 ? first : (held[index - 1] ?? first) }),
    ),
    { kind: 'plug', ends: [far, second] },
  ];
}

/** A move as manual steps of the simulator, plug by plug. */
function actsOf(fleet: SimulatedFleet, move: Move): readonly HandsAct[] {
  const out = (end: LinkEnd): readonly HandsAct[] => {
    const far = farEnd(fleet.cables, end);
    return [end, ...(far === undefined ? [] : [far])].map((one) => ({ kind: 'unplug', end: one }));
  };
  switch (move.kind) {
    case 'move-end':
      return [{ kind: 'move', from: move.from, to: move.to }];
    case 'move-outside-end': {
      const from = farEnd(fleet.cables, move.at);
      return from === undefined ? [] : [{ kind: 'move', from, to: move.to }];
    }
    case 'rotate-ends':
      return round(fleet, move.ends);
    case 'add-cable':
      return [{ kind: 'plug', ends: move.ends }];
    case 'remove-cable':
      return move.ends.slice(0, 1).flatMap(out);
    case 'replace-cable':
      return [...out(move.ends[0]), { kind: 'plug', ends: move.ends }];
  }
}

/** The number of plugs that an act unplugs or plugs in. */
function handlingsOf(fleet: SimulatedFleet, act: HandsAct): number {
  switch (act.kind) {
    case 'unplug':
      return 1;
    case 'plug':
      return fleet.hanging.some(({ end }) => act.ends.some((one) => linkEndText(one) === linkEndText(end))) ? 1 : 2;
    case 'move':
      return 2;
    case 'swap':
      return 4;
    case 'update':
      return 0;
  }
}

/** The rack after the work, and the number of plugs that were unplugged or plugged in. */
export interface Work {
  readonly fleet: SimulatedFleet;
  readonly handlings: number;
}

/** Performs moves one after another in the simulator; throws if a move is impossible. */
export function carryOut(start: SimulatedFleet, moves: readonly Move[]): Work {
  let work: Work = { fleet: start, handlings: 0 };
  for (const move of moves) {
    for (const act of actsOf(work.fleet, move)) {
      const result = acted(work.fleet, act);
      if (result.kind === 'refused') throw new Error(result.reason);
      work = { fleet: result.fleet, handlings: work.handlings + handlingsOf(work.fleet, act) };
    }
  }
  return work;
}
