import { describe, expect, it } from 'vitest';
import { bridgeIn, servicesIn } from '../../../../src/sim/model/network.ts';
import { outOfBox } from '../../../../src/sim/simulate-fleet.ts';
import { simulated } from '../../../rack/rack.ts';

describe('a Mac fresh out of the box', () => {
  const [mac] = simulated().macs;
  if (mac === undefined) throw new Error('the fleet has no Mac');
  const boxed = outOfBox(mac);

  it('has every receptacle in the Thunderbolt Bridge, and DHCP on each service', () => {
    const devices = mac.receptacles.map(({ device }) => device);
    expect([boxed.live, bridgeIn(boxed.preferences)]).toEqual([{ bridge: devices, addresses: {} }, devices]);
    const services = servicesIn(boxed.preferences);
    expect(services.map(({ name }) => name)).toEqual(['Ethernet', 'Wi-Fi', 'Thunderbolt Bridge']);
    expect(services.every(({ ipv4, isEnabled }) => isEnabled && ipv4.kind === 'dhcp')).toBe(true);
  });

  it("has macOS's default settings, and no settings from enroll or apply", () => {
    expect(boxed).toMatchObject({
      isRdmaEnabled: false,
      wiredLimitMegabytes: 0,
      power: { restartsAfterPowerLoss: false },
      hasKey: false,
      sudo: 'needs-password',
    });
    expect([boxed.power.sleepMinutes > 0, boxed.indexed.length > 0]).toEqual([true, true]);
  });

  it('has only the account of the person who set it up', () => {
    const { users } = mac.directory;
    const used = outOfBox({
      ...mac,
      directory: { ...mac.directory, users: { ...users, _meshrank: { UniqueID: '450' } } },
    });
    expect(Object.keys(used.directory.users)).toEqual(Object.keys(users));
  });

  it('keeps its identity and hardware', () => {
    const { serial, hardwareUuid, receptacles, password, isFileVaultOn } = mac;
    expect(boxed).toMatchObject({ serial, hardwareUuid, receptacles, password, isFileVaultOn });
  });
});
