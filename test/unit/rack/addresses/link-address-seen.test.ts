import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { Facts } from '../../../../src/model/facts/fact-values.ts';
import { known, unknown } from '../../../../src/model/known.ts';
import { storedAddress } from '../../../../src/rack/addresses/reading.ts';
import { serviceOf } from '../../../../src/rack/network/services-reading.ts';
import { settledFacts } from '../../../rack/rack.ts';

const service = (name: string, device: string, isEnabled: boolean) => ({ name, port: name, device, isEnabled });

describe("a device's network service", () => {
  it("is the device's first enabled service or, if none is enabled, its first service", () => {
    const off = service('Thunderbolt 2', 'en3', false);
    const on = service('Thunderbolt 2 2', 'en3', true);
    const later = service('Thunderbolt 2 3', 'en3', true);
    const other = service('Thunderbolt 1', 'en2', true);
    expect(serviceOf([other, off, on, later], 'en3')).toBe(on);
    expect(serviceOf([other, off], 'en3')).toBe(off);
    expect(serviceOf([other], 'en3')).toBeUndefined();
  });
});

describe("a device's address in the network preferences", () => {
  const values = Object.entries(settledFacts('studio-1')).map(([name, value]) => [name, known(value)]);
  const facts = Object.fromEntries(values) as Facts;
  type Kept = FactValues['service-addresses'][number];
  const own = service('Thunderbolt 2', 'en3', true);
  const address = { address: '10.77.0.1', prefixLength: 30 };
  const keptOf = (service: typeof own | undefined, ...all: readonly Partial<Kept>[]) =>
    storedAddress(
      {
        ...facts,
        'network-services': known(service === undefined ? [] : [service]),
        'service-addresses': known(
          all.map((one): Kept => ({ service: 'Thunderbolt 2', device: 'en3', method: 'manual', ...one })),
        ),
      },
      'en3',
    );

  it.each([
    ['manual', known({ kind: 'manual', address })],
    ['dhcp', known({ kind: 'dhcp' })],
    ['off', known({ kind: 'off' })],
    ['other', known({ kind: 'other' })],
  ] as const)('is %s as configured in its service', (method, kept) => {
    expect(keptOf(own, { method, address })).toEqual(kept);
    // These are entries for a different device and for an older service of this device.
    const others = [
      { device: 'en4', method: 'off' },
      { service: 'Thunderbolt 2 2', method: 'off' },
    ] as const;
    expect(keptOf(own, ...others, { method, address })).toEqual(kept);
    expect(keptOf(own, ...others)).toEqual(known({ kind: 'other' }));
  });

  it('is absent if no service is enabled, and unknown if a list could not be read', () => {
    expect(keptOf(undefined, { address })).toEqual(known({ kind: 'none' }));
    expect(keptOf({ ...own, isEnabled: false }, { address })).toEqual(known({ kind: 'none' }));
    expect(keptOf(own, { method: 'manual' })).toEqual(known({ kind: 'other' }));
    for (const list of ['network-services', 'service-addresses'] as const) {
      const lost = unknown('timed-out', list);
      expect(storedAddress({ ...facts, 'network-services': known([own]), [list]: lost }, 'en3')).toBe(lost);
    }
  });
});
