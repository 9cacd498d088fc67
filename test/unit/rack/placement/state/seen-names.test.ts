import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../../src/engine/observe/facts.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { seenNames } from '../../../../../src/rack/placement/state/seen-names.ts';
import { observedFleet } from '../../../../rack/rack.ts';

const at = (name: string, address: string, more = {}) => {
  const ipv4 = [address, '10.9.9.9'].map((one) => ({ address: one, prefixLength: 24 }));
  return { name, isUp: true, mtuBytes: 1_500, ipv4, ipv6: [], members: [], ...more };
};
const route = (device: string, flags: string, address = '0.0.0.0', prefixLength = 0) => ({
  destination: { address, prefixLength },
  flags,
  device,
});
const lan = (interfaces: readonly unknown[], routes: readonly unknown[]): string | undefined => {
  const values = { 'studio-1': { interfaces, routes } as Partial<FactValues> };
  return seenNames({ observation: observedFleet({ values }) }).lan(nodeName('studio-1'));
};

describe("a Mac's address in the office network", () => {
  const [one, two, off] = [at('en0', '10.0.0.1'), at('en1', '10.0.0.2'), at('en8', '10.0.0.8', { isUp: false })];
  const [toTwo, bound] = [route('en1', 'UGSc'), route('en0', 'UGScI')];

  it('comes from the connection, or else from the first default route not bound to an interface', () => {
    const carrier = at('en7', '10.0.0.7', { carriesConnection: true });
    expect(lan([one, two, carrier], [toTwo])).toBe('10.0.0.7');
    expect(lan([one, two, { ...carrier, carriesConnection: false }], [toTwo])).toBe('10.0.0.2');
    expect(lan([one, two], [bound, toTwo, route('en0', 'UGSc')])).toBe('10.0.0.2');
    expect(lan([one, two], [bound])).toBe('10.0.0.1');
    const others = [route('en0', 'U', '10.0.0.0'), route('en0', 'U', '0.0.0.0', 8)];
    expect(lan([one, two], [...others, toTwo])).toBe('10.0.0.2');
    for (const [there, routes] of [
      [[one], others],
      [[one, off], [route('en8', 'U')]],
      [[{ ...two, ipv4: [] }], [toTwo]],
    ] as const)
      expect(lan(there, routes)).toBeUndefined();
    const { lan: of, device } = seenNames({ observation: observedFleet() });
    const ends = [
      ['studio-1', 1],
      ['studio-1', 7],
      ['studio-9', 1],
    ] as const;
    const devices = ends.map(([node, receptacle]) => device({ node: nodeName(node), receptacle }));
    expect([of(nodeName('studio-9')), ...devices]).toEqual([undefined, 'rdma_en2', undefined, undefined]);
  });
});
