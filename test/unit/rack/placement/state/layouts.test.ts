import { describe, expect, it } from 'vitest';
import type { TokenResult } from '../../../../../src/model/facts/fact-values.ts';
import {
  areSeen,
  awayNodes,
  fallbackUnseen,
  ownRanksOn,
  runsOnFallback,
  whereTheyRanLast,
} from '../../../../../src/rack/placement/state/layouts.ts';
import { type MeshRack, meshFleet, observeMesh, type RankCase } from '../../../../rack/placements.ts';
import { digestIn, fleetWithFallback, kimi, nodes } from '../../../../rack/plans.ts';

const fleet = fleetWithFallback({ fallback: { nodes: nodes(4), contextTokens: 2_048 } });
const [placement, other] = [kimi(fleet), { ...kimi(fleet), nodes: nodes(4), contextTokens: 2_048 }];
const late: TokenResult = { kind: 'silent', reason: 'no answer in time', isTimeout: true };
const silent: TokenResult = { kind: 'silent', reason: 'status 503' };

/** Ranks of the placement on these of its own nodes. */
const own = (numbers: readonly number[], one: Partial<RankCase> = {}): MeshRack['ranks'] =>
  Object.fromEntries(numbers.map((at) => [`studio-${at}`, [{ state: 'joined', rank: at - 1, ...one }] as const]));
/** The one rank of the fallback. */
const there = (one: Partial<RankCase> = {}): MeshRack['ranks'] => {
  const { changes, ...more } = one;
  const digest = digestIn(fleet, { ...other, ownLayout: placement, transport: 'tcp' } as never);
  return { 'studio-4': [{ state: 'joined', generation: 5, digest, changes: { size: 1, ...changes }, ...more }] };
};

const whole = [1, 2, 3];
const part = own([1, 2], { token: silent });
/** Ranks with a digest of a different file. */
const changed = { digest: 'cd'.repeat(32), token: silent };

/** `F` or the number of own ranks that run, and where the placement ran last: `f` or `o`. */
const markOf = (here: MeshRack['ranks'], away: MeshRack['ranks'], of = fleet): string => {
  const observed = observeMesh(fleet, { ranks: { ...here, ...away } }).nodes;
  const count = ownRanksOn(kimi(of), of, observed).length;
  const last = whereTheyRanLast(of, observed).placements[0]?.nodes.length === 1 ? 'f' : 'o';
  return `${runsOnFallback(kimi(of), of, observed) ? 'F' : count}${last}`;
};

describe('the running layout of a placement with a fallback', () => {
  it('is the layout that answers or, if neither does, the layout that was started last', () => {
    const older = { generation: 4, token: silent };
    const away = [{}, { token: late }, { token: silent }, older].map(there);
    const rows = [own(whole, { token: late }), own(whole, { token: silent }), part];
    const marks = rows.map((here) => away.map((one) => markOf(here, one)).join(' '));
    expect(marks).toEqual(['Ff Ff 3o 3o', 'Ff Ff Ff 3o', 'Ff Ff Ff Ff']);
    expect([
      markOf({}, {}),
      markOf({}, there({ state: 'exited' })),
      markOf({}, there(changed)),
      markOf({}, there({ ...changed, changes: { size: 2 } })),
      markOf(own(whole), {}),
      markOf(own(whole, { state: 'exited' }), {}),
      markOf(own(whole, { generation: 6, token: silent }), there({ token: silent })),
      markOf(own(whole, changed), there({ token: silent })),
      markOf(own(whole), there(), meshFleet()),
    ]).toEqual(['0o', '0f', 'Ff', '0o', '3o', '0o', '3o', 'Ff', '0o']);
  });

  it('is unknown if the fallback was not observed, unless one start runs on all own nodes', () => {
    const unseen = (here: MeshRack['ranks'], unreachable: readonly string[] = ['studio-4']) => {
      const observed = observeMesh(fleet, { ranks: here, unreachable });
      const found = fallbackUnseen(placement, fleet, observed.nodes);
      return [found?.detail, areSeen(nodes(1, 4), observed), areSeen(nodes(1), observed)];
    };
    const unknown = 'its fallback may run on studio-4: it was not observed';
    expect(unseen({}, [])).toEqual([undefined, true, true]);
    expect(unseen({}, ['studio-1'])).toEqual([undefined, false, false]);
    for (const here of [{}, own([1, 2]), own([1, 2, 3], { state: 'stopped' })]) {
      expect(unseen(here)).toEqual([unknown, false, true]);
    }
    const mixed = { ...own([1, 2, 3]), ...own([3], { generation: 3 }) };
    expect(unseen(mixed)[0]).toBe(unknown);
    for (const state of ['joined', 'exited'] as const) expect(unseen(own([1, 2, 3], { state }))[0]).toBeUndefined();
    expect(unseen({ ...own([1, 2, 3], { state: 'stopped' }), ...own([2]) })[0]).toBeUndefined();
    const lost = { nodes: {}, failures: { 'studio-1': [{}], 'studio-2': [] } } as never;
    expect(awayNodes(nodes(1, 2, 3), lost)).toEqual(nodes(1));
    const unclear = (name: string) => ({ services: [{ label: `dev.meshwright.${name}`, state: 'unknown' as const }] });
    const values = { 'studio-1': unclear('rank.kimi'), 'studio-2': unclear('keeper') };
    expect(awayNodes(nodes(1, 2, 3), observeMesh(fleet, { ranks: own(whole), values }))).toEqual(nodes(1));
  });
});
