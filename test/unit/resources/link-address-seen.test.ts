import { describe, expect, it } from 'vitest';
import { serviceOf } from '../../../src/resources/link-address-seen.ts';

const service = (name: string, device: string, isEnabled: boolean) => ({ name, port: name, device, isEnabled });

describe('the network service of a device', () => {
  it('is the first enabled one, else the first, and none of another device', () => {
    const off = service('Thunderbolt 2', 'en3', false);
    const on = service('Thunderbolt 2 2', 'en3', true);
    const later = service('Thunderbolt 2 3', 'en3', true);
    const other = service('Thunderbolt 1', 'en2', true);
    expect(serviceOf([other, off, on, later], 'en3')).toBe(on);
    expect(serviceOf([other, off], 'en3')).toBe(off);
    expect(serviceOf([other], 'en3')).toBeUndefined();
  });
});
