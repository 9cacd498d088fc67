import { describe, expect, it } from 'vitest';
import type { DesiredFleet } from '../../../src/model/desired.ts';
import { nodeName } from '../../../src/model/node.ts';
import { isUsedBy } from '../../../src/plan/uses.ts';
import { fleetOf } from '../mesh/driver-fleets.ts';

const earlier = (account: string) => ({ kind: 'accounts', address: `accounts/${account}`, nodes: [nodeName('a')] });

/** Which of both accounts something needs. */
function accountsFor(
  address: string,
  driver: string,
  accounts: DesiredFleet['system']['accounts'] = { ranks: '_meshrank', gateway: '_meshgate' },
): readonly string[] {
  const fleet = fleetOf(driver);
  const url = { name: 'far', source: { kind: 'url', base: 'https://example.com/' }, files: [] } as const;
  const models = [...fleet.models, url];
  const desired = { ...fleet, models, system: { ...fleet.system, accounts } };
  return ['_meshrank', '_meshgate'].filter((account) => isUsedBy({ address }, earlier(account), desired));
}

describe('an account', () => {
  it.each([
    ['placement/chat', 'exo', ['_meshrank']],
    ['doorman/8080', 'exo', ['_meshgate']],
    ['runtime/reference', 'mlx', ['_meshrank']],
    ['runtime/reference', 'llamacpp-rpc', []],
    ['runtime/reference/old', 'exo', []],
    ['runtime/node', 'exo', []],
    ['model/tiny', 'mlx', []],
    ['model/far', 'mlx', ['_meshrank']],
  ])('is needed by %s (%s): %j', (address, driver, needed) => {
    expect(accountsFor(address, driver)).toEqual(needed);
  });

  it('is needed by nothing where the file says login', () => {
    expect(['placement/chat', 'doorman/8080', 'model/far'].flatMap((one) => accountsFor(one, 'mlx', {}))).toEqual([]);
  });
});
