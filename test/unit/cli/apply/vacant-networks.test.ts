import { describe, expect, it } from 'vitest';
import { vacantNetworks } from '../../../../src/cli/apply/apply.ts';
import { emptyLock } from '../../../../src/config/lock.ts';
import { desiredFleet, observedFleet, type RackChanges } from '../../../rack/rack.ts';

const link = 'studio-1:5 <-> studio-2:5';
const lock = { ...emptyLock('cluster.lock'), formerNetworks: { '10.99.0.0/30': link, '10.99.0.4/30': link } };
const vacant = (changes: RackChanges): readonly string[] =>
  vacantNetworks(lock, desiredFleet(), observedFleet(changes));

const ipv4 = [{ address: '10.99.0.5', prefixLength: 30 }];
const port = { name: 'en7', isUp: true, mtuBytes: 1_500, ipv4, ipv6: [], status: 'active', members: [] } as const;

describe("a link's former network", () => {
  it('is free if no node has a live or stored address in it', () => {
    expect(vacant({})).toEqual(['10.99.0.0/30', '10.99.0.4/30']);
    expect(vacant({ values: { 'studio-2': { interfaces: [port] } } })).toEqual(['10.99.0.0/30']);
    const address = { address: '10.99.0.1', prefixLength: 30 };
    const kept = { service: 'x', device: 'en7', method: 'manual', address } as const;
    expect(vacant({ values: { 'studio-2': { 'service-addresses': [kept] } } })).toEqual(['10.99.0.4/30']);
  });

  it('is not free until every node is fully observed', () => {
    expect(vacant({ unreachable: ['studio-4'] })).toEqual([]);
    expect(vacant({ unknown: { 'studio-3': { interfaces: 'timed-out' } } })).toEqual([]);
    expect(vacant({ unknown: { 'studio-3': { 'service-addresses': 'empty' } } })).toEqual([]);
  });
});
