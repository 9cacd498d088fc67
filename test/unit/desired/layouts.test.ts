import { describe, expect, it } from 'vitest';
import {
  accountsOn,
  downloadsOn,
  everyNode,
  isExchanged,
  layoutOn,
  layoutsOf,
  leadersOf,
  needsFastLink,
  needsRdma,
  nodesToSee,
  onFallback,
} from '../../../src/desired/layouts.ts';
import type { DesiredFleet, DesiredModel } from '../../../src/model/desired.ts';
import { leastExchangeBytes } from '../../../src/model/model-bytes.ts';
import { asLogin, fileAt, placed } from '../../rack/placements.ts';
import { nodes } from '../../rack/plans.ts';
import { desiredFleet, links } from '../../rack/rack.ts';

const model = (name: string, kind: string, sizeBytes = 8) =>
  ({ name, source: { kind }, files: [fileAt('config.json', sizeBytes)] }) as unknown as DesiredModel;
const models = [
  model('large', 'controller', leastExchangeBytes),
  model('small', 'controller', leastExchangeBytes - 1),
  model('there', 'node', leastExchangeBytes),
  model('web', 'url'),
  model('hub', 'hub'),
];
const on = (...numbers: readonly number[]) => ({ nodes: nodes(...numbers), contextTokens: 9 });
const fleetOf = (...placements: DesiredFleet['placements']): DesiredFleet => desiredFleet({ models, placements });
/** What a function returns for each of the four nodes. */
const each = (of: DesiredFleet, act: (of: DesiredFleet, node: never) => unknown) =>
  nodes(1, 2, 3, 4).map((node) => act(of, node as never));

describe('a node in the file', () => {
  it('needs accounts for its ranks, its gateway and its model transfers', () => {
    const publication = { servedName: 'web' };
    const published = placed('web', ['studio-1', 'studio-2'], { model: 'small', publication, fallback: on(4) });
    const drafted = placed('a', ['studio-2'], { model: 'small', drafter: 'web', fallback: on(3) });
    const [ranks, gateway, moved] = ['_meshrank', '_meshgate', ['_meshrank', '_meshmove']];
    expect(each(fleetOf(published), accountsOn)).toEqual([[ranks, gateway], [ranks], [ranks], [ranks, gateway]]);
    expect(each(fleetOf(drafted), accountsOn)).toEqual([[ranks], moved, moved, [ranks]]);
    expect(each(asLogin(fleetOf(published, drafted)), accountsOn)).toEqual([[], [], [], []]);
    expect(each(fleetOf(published, drafted), downloadsOn)).toEqual([[], ['web'], ['web'], []]);
    expect(models.map(isExchanged)).toEqual([true, false, false, true, true]);
  });

  it('is observed with its cable neighbors and the nodes of its placements', () => {
    const fleet = fleetOf(placed('a', ['studio-3'], { fallback: on(1) }));
    const of = { ...fleet, thunderbolt: { ...fleet.thunderbolt, links: links(['studio-4:2 <-> studio-2:2']) } };
    const seen = (...numbers: readonly number[]) => nodesToSee(of, nodes(...numbers)).map(({ name }) => name);
    expect([seen(1), seen(2), seen(4, 3), seen()]).toEqual([nodes(1, 3), nodes(2, 4), nodes(1, 2, 3, 4), []]);
  });

  it('needs RDMA if a placement uses it, or if the Mac has Thunderbolt 5 and the file requires RDMA', () => {
    const of = (rdma: string, ...placements: DesiredFleet['placements']): DesiredFleet => {
      const fleet = fleetOf(...placements);
      const old = fleet.nodes.map((one, at) => (at === 1 ? { ...one, hardware: { model: 'Mac13,2' } } : one));
      return { ...fleet, nodes: old, thunderbolt: { ...fleet.thunderbolt, rdma } as DesiredFleet['thunderbolt'] };
    };
    const over = placed('a', ['studio-3', 'studio-2'], { transport: 'rdma', fallback: on(4, 3) });
    expect(each(of('required'), needsRdma)).toEqual([true, false, true, true]);
    expect(each(of('optional', { ...over, transport: 'tcp' }), needsRdma)).toEqual([false, false, false, false]);
    expect(each(of('optional', over), needsRdma)).toEqual([false, true, true, true]);
    const pairs = [nodes(1, 3), nodes(1, 4), nodes(1, 2), nodes(3, 2)].map((pair) => pair.map((node) => ({ node })));
    expect(pairs.map((ends) => needsFastLink(of('optional', over), ends))).toEqual([true, true, false, false]);
  });
});

describe("a placement's layouts", () => {
  const more = { fallback: on(4, 2), sharding: 'tensor', backend: 'ring', shares: [2, 1], transport: 'rdma' };
  const own = placed('a', ['studio-1', 'studio-2'], more as never);
  const there = onFallback(own);

  it('are its own nodes and its fallback, and the fallback has no shares', () => {
    const { shares: _, fallback: __, ...rest } = own;
    expect(there).toEqual({ ...rest, ...on(4, 2), ownLayout: own });
    const alone = onFallback({ ...own, fallback: on(4) });
    expect([alone.transport, alone.sharding, alone.backend]).toEqual(['tcp', undefined, undefined]);
    const plain = placed('b', ['studio-1']);
    expect([onFallback(plain), layoutsOf(plain), leadersOf(plain)]).toEqual([plain, [plain], nodes(1)]);
    expect([layoutsOf(there), leadersOf(there)]).toEqual([[own, there], nodes(1, 4)]);
    expect([everyNode(own), everyNode(there)]).toEqual([nodes(1, 2, 4), nodes(4, 2, 1)]);
    const isOwn = [nodes(2, 1), nodes(2, 4), nodes(4, 2, 1), nodes(1)].map((some) => layoutOn(own, some) === own);
    expect([...isOwn, layoutOn(there, nodes(3)) === there]).toEqual([true, false, true, true, true]);
  });
});
