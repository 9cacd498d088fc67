import { describe, expect, it } from 'vitest';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { desiredFleet, type RackChanges } from '../../../rack/rack.ts';
import { findingsOf, told } from '../../engine/diagnose/told.ts';
import { onOnePage } from '../../one-page.ts';

const wish = (foreignDaemons: 'adopt' | 'remove' | 'stop'): Partial<DesiredFleet> => ({
  thunderbolt: { ...desiredFleet().thunderbolt, foreignDaemons },
});
const seen = (isLoaded: boolean, isDisabled: boolean): RackChanges => ({
  values: { 'studio-3': { 'foreign-daemons': [{ label: 'io.exo.networksetup', isLoaded, isDisabled }] } },
});
const [loaded, comesBack, stopped] = [seen(true, false), seen(false, false), seen(false, true)];

describe('a foreign network daemon', () => {
  it('causes an error that lists the three possible settings if the file does not mention it', () => {
    const [finding, ...others] = findingsOf(loaded);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      code: 'network/foreign-daemon',
      severity: 'error',
      subject: nodeSubject('studio-3'),
    });
    expect(finding?.detail).toContain('io.exo.networksetup of exo is loaded; it removes the Thunderbolt Bridge');
    for (const word of ['stop', 'remove', 'adopt']) expect(finding?.hint).toContain(word);
    expect(told(comesBack)).toEqual(['error network/foreign-daemon node studio-3']);
  });

  it('is accepted when unloaded and disabled, unless the file requires its removal', () => {
    expect(told(stopped)).toEqual([]);
    expect(told(stopped, wish('stop'))).toEqual([]);
    expect(told(stopped, wish('remove'))).toEqual(['error network/foreign-daemon-there node studio-3']);
  });

  it('causes an error while it should be stopped', () => {
    expect(told(loaded, wish('stop'))).toEqual(['error network/foreign-daemon-there node studio-3']);
    expect(told(comesBack, wish('stop'))).toEqual(['error network/foreign-daemon-there node studio-3']);
  });

  it("causes a notice when adopted, and its node's cables are not checked", () => {
    const bridged = { ...loaded.values?.['studio-3'], 'network-services': [] };
    const preferences = [{ name: 'bridge0', interfaces: ['en2'], auto: 'thunderbolt-bridge' }];
    const changes = { values: { 'studio-3': { ...bridged, 'bridge-preferences': preferences } } };
    expect(told(changes, wish('adopt'))).toEqual(['notice network/foreign-daemon-adopted node studio-3']);
    expect(told(changes, wish('stop'))).toContain('error bridge/comes-back node studio-3');
  });

  it("blocks a placement that needs its cables' addresses when adopted", () => {
    const [placement] = desiredFleet().placements;
    expect(placement).toBeUndefined();
    const chat = { name: 'chat', nodes: ['studio-2', 'studio-3'], state: 'serving' };
    const fleet = { ...wish('adopt'), placements: [chat] as unknown as DesiredFleet['placements'] };
    expect(told(loaded, fleet)).toContain('error network/cables-adopted node studio-3');
  });

  it('is ignored when the file configures no cable network', () => {
    const thunderbolt = {
      bridge: 'keep',
      rdma: 'auto',
      avoid: [],
      links: [],
      networks: {},
      formerNetworks: [],
    } as const;
    expect(told(loaded, { thunderbolt }).filter((one) => one.includes('daemon'))).toEqual([]);
  });
});

onOnePage('rules-foreign-daemons');
