import { describe, expect, it } from 'vitest';
import { thunderboltFact } from '../../../../src/rack/cables/fact.ts';
import { interfacesFact } from '../../../../src/rack/network/interfaces-fact.ts';
import { valueLines } from '../../../../src/report/facts-text.ts';
import { cabledReceptacle, end } from '../../../rack/rack.ts';

describe("a receptacle's line", () => {
  const lineOf = (advertisesRdma: boolean | 'unknown'): string => {
    const own = cabledReceptacle('a', 1, end('b:1'));
    return valueLines(
      thunderboltFact,
      [{ ...own, peers: own.peers.map((one) => ({ ...one, advertisesRdma })) }],
      true,
    ).join();
  };

  it('shows RDMA only for a peer that advertises it', () => {
    expect(lineOf(true)).toMatch(/, RDMA$/);
    expect(lineOf(false)).not.toContain('RDMA');
    expect(lineOf('unknown')).toMatch(/, RDMA unknown$/);
  });

  it('shows a plugged-in cable on which nothing answers', () => {
    const own = cabledReceptacle('a', 1, end('b:1'));
    expect(valueLines(thunderboltFact, [{ ...own, state: 'silent', peers: [] }], true).join()).toMatch(
      /80 Gb\/s, nothing answers$/,
    );
  });
});

describe("an interface's line", () => {
  const bare = { isUp: true, mtuBytes: 1500, ipv4: [], status: 'active' as const, members: [] };

  it('shows IPv6 addresses but not link-local ones', () => {
    const own = { ...bare, name: 'en0', ipv6: ['fe80::1%en0', 'fd00::5'] };
    const local = { ...bare, name: 'en1', ipv6: ['fe80::2%en1', 'FE80::3'] };
    expect(valueLines(interfacesFact, [own, local], true)).toEqual(['en0 active, fd00::5', 'without address: en1']);
  });
});
