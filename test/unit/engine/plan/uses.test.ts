import { describe, expect, it } from 'vitest';
import { isUsedBy } from '../../../../src/engine/plan/step-order.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { given } from '../../../../src/model/given.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { type AddressParts, addressed } from '../../../../src/model/subject.ts';
import { gatewayAddress } from '../../../../src/rack/placement/endpoint/resource.ts';
import { placementAddress } from '../../../../src/rack/placement/mesh/rank-states.ts';
import { treeAddress } from '../../../../src/rack/records/trees-reading.ts';
import { fleetOfDriver, rackOfThree } from '../../../rack/placements.ts';

const earlier = (name: string) => ({
  kind: 'accounts',
  property: addressed({ kind: 'accounts', name }),
  nodes: [nodeName('a')],
});

/** The accounts that something needs. */
function accountsFor(
  later: AddressParts,
  driver: string,
  accounts: DesiredFleet['system']['accounts'] = { ranks: '_meshrank', gateway: '_meshgate', transfers: '_meshmove' },
): readonly string[] {
  const fleet = fleetOfDriver(driver);
  const url = { name: 'far', source: { kind: 'url', base: 'https://example.com/' }, files: [] } as const;
  const models = [...fleet.models, url];
  const desired = { ...fleet, models, system: { ...fleet.system, accounts } };
  return ['_meshrank', '_meshgate', '_meshmove'].filter((account) => isUsedBy(later, earlier(account), desired));
}

describe('a placement', () => {
  it('needs its model and its drafter, but no other model', () => {
    const desired = fleetOfDriver('llamacpp-rpc', { placement: { drafter: 'small' } });
    const needs = ['tiny', 'small', 'other'].filter((name) =>
      isUsedBy(
        placementAddress('kimi').about,
        { kind: 'model', property: treeAddress('model', name), nodes: [nodeName('studio-1')] },
        desired,
      ),
    );
    expect(needs).toEqual(['tiny', 'small']);
  });
});

describe('a published placement', () => {
  it('waits for its own runtime, cables and addresses, and for its former gateways', () => {
    const uses = (kind: string, property: ReturnType<typeof gatewayAddress> | undefined, ...nodes: readonly string[]) =>
      isUsedBy(
        placementAddress('qwen').about,
        { kind, ...given({ property }), nodes: nodes.map(nodeName) },
        rackOfThree,
      );
    const [own, former] = [gatewayAddress(8_080), gatewayAddress(8_070)];
    const gateways = [own, former, undefined].map((one) => uses('gateway', one, 'studio-3'));
    expect([...gateways, uses('gateway', own, 'studio-1')]).toEqual([false, true, false, true]);
    const runtimes = [undefined, treeAddress('runtime', 'reference'), treeAddress('runtime', 'other')];
    expect(runtimes.map((one) => uses('runtime', one, 'studio-3'))).toEqual([true, true, false]);
    const addresses = [2, 3, 4].map((at) =>
      uses('link-address', addressed({ kind: 'link-address', receptacle: at }), 'studio-3'),
    );
    expect([uses('link-address', undefined, 'studio-3'), ...addresses]).toEqual([true, false, true, false]);
    const links = [2, 1].map((far) => uses('thunderbolt-link', undefined, `studio-${far}`, 'studio-3'));
    expect([links, isUsedBy(own.about, { kind: 'runtime', nodes: [] }, rackOfThree)]).toEqual([[true, false], true]);
  });
});

describe('an account', () => {
  it.each([
    [placementAddress('chat'), 'exo', ['_meshrank']],
    [gatewayAddress(8_080), 'exo', ['_meshgate']],
    [treeAddress('runtime', 'reference'), 'mlx', ['_meshrank']],
    [treeAddress('runtime', 'reference'), 'llamacpp-rpc', []],
    [addressed({ kind: 'runtime', name: 'reference', part: 'old' }), 'exo', []],
    [treeAddress('runtime', 'node'), 'exo', []],
    [treeAddress('model', 'tiny'), 'mlx', []],
    [treeAddress('model', 'far'), 'mlx', ['_meshmove']],
  ])('is needed by $0.address ($1): $2', ({ about }, driver, needed) => {
    expect(accountsFor(about, driver)).toEqual(needed);
  });

  it('is not needed if the file sets login', () => {
    expect(
      [placementAddress('chat'), gatewayAddress(8_080), treeAddress('model', 'far')].flatMap(({ about }) =>
        accountsFor(about, 'mlx', {}),
      ),
    ).toEqual([]);
  });
});
