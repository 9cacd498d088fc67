import { describe, expect, it } from 'vitest';
import { interfaceLines } from '../../../../src/report/status/network-lines.ts';
import { receptacleLines } from '../../../../src/report/status/thunderbolt-lines.ts';
import { cabledReceptacle, end } from '../../../rack/rack.ts';

describe('line of a receptacle', () => {
  const lineOf = (advertisesRdma: boolean | 'unknown'): string => {
    const own = cabledReceptacle('a', 1, end('b:1'));
    return receptacleLines([{ ...own, peers: own.peers.map((one) => ({ ...one, advertisesRdma })) }]).join();
  };

  it('says RDMA only of a peer that advertises it', () => {
    expect(lineOf(true)).toMatch(/, RDMA$/);
    expect(lineOf(false)).not.toContain('RDMA');
    expect(lineOf('unknown')).toMatch(/, RDMA unknown$/);
  });

  it('says that something is plugged in and nothing answers', () => {
    const own = cabledReceptacle('a', 1, end('b:1'));
    expect(receptacleLines([{ ...own, state: 'silent', peers: [] }]).join()).toMatch(/80 Gb\/s, nothing answers$/);
  });
});

describe('line of an interface', () => {
  const bare = { isUp: true, mtuBytes: 1500, ipv4: [], status: 'active' as const, members: [] };

  it('counts an address that is IPv6 only, but not the one that every interface gives itself', () => {
    const own = { ...bare, name: 'en0', ipv6: ['fe80::1%en0', 'fd00::5'] };
    const local = { ...bare, name: 'en1', ipv6: ['fe80::2%en1', 'FE80::3'] };
    expect(interfaceLines([own, local])).toEqual(['en0 active, fd00::5', 'without address: en1']);
  });
});
