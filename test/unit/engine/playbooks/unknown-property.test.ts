import { describe, expect, it } from 'vitest';
import { kindsByFile, propertiesByFile, unknownProperty, viewOf } from '../../../../src/engine/plan/view.ts';
import { resources } from '../../../../src/engine/resources.ts';
import { desiredFleet, observedFleet } from '../../../rack/rack.ts';

describe('properties in a playbook assertion', () => {
  it('match the properties of an observed rack, for every kind that follows from the file', () => {
    const system = { ...desiredFleet().system, updates: 'manual', backgroundServices: 'stop', names: 'node' } as const;
    const desired = desiredFleet({ system });
    const view = viewOf({ desired, observation: observedFleet(), targets: desired.nodes.map(({ name }) => name) });
    const own = resources.filter(({ kind }) => kindsByFile.includes(kind));
    const seen = own.flatMap((one) => [...one.properties(view), ...(one.readings?.(view) ?? [])]);
    expect(new Set(seen.map(({ address }) => address))).toEqual(new Set(propertiesByFile(desired).keys()));
    expect(seen.length).toBeGreaterThan(20);
  });

  it('are listed if a name resembles none of them', () => {
    expect(unknownProperty('power/zzz', desiredFleet())).toBe(
      'Valid here: power/sleep and power/restart-after-power-loss.',
    );
    expect(unknownProperty('service-order/zzzzzzzz', desiredFleet())).toBe('Valid here: service-order.');
    expect(unknownProperty('power/sleep', desiredFleet())).toBeUndefined();
    expect(unknownProperty('placement/chat', desiredFleet())).toBeUndefined();
  });
});
