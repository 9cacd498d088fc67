import { expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import { healthyFacts, meshOfFour, type RackChanges, receptacles } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';
import { findingsOf } from './told.ts';

const healthy = healthyFacts('studio-3', receptacles('studio-3', 6, meshOfFour));
const only = (values: Partial<FactValues>): RackChanges => ({ values: { 'studio-3': values } });

it('bridge/receptacle-bridged names the macOS bridge if a member is not a receptacle', () => {
  const members = ['en0', 'en2', 'en3'];
  const mixed = { name: 'bridge0', isUp: true, mtuBytes: 1500, ipv4: [], ipv6: [], members };
  const marked = [{ name: 'bridge0', interfaces: members, auto: 'thunderbolt-bridge' }];
  const changes = { interfaces: [...healthy.interfaces, mixed], 'bridge-preferences': marked };
  const detail = findingsOf(only(changes)).find(({ code }) => code === 'bridge/receptacle-bridged')?.detail;
  expect(detail).toMatch(
    /^The bridge of macOS has a Thunderbolt receptacle and a member that is not a receptacle: bridge0 /,
  );
});

it('fact/unknown names the receptacles with an unreadable bus', () => {
  const unread = { bus: 'unknown', receptacle: 5, state: 'unknown', peers: [], devices: [] } as const;
  const thunderbolt = healthy.thunderbolt.map((one) => (one.receptacle === 5 ? unread : one));
  const [finding, ...others] = findingsOf(only({ thunderbolt }));
  expect(others).toEqual([]);
  expect(finding?.detail).toBe('Unknown: thunderbolt (no readable bus for receptacle 5).');
});

onOnePage('rules-partly-read');
