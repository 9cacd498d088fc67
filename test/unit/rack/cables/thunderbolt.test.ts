import { describe, expect, it } from 'vitest';
import { thunderboltFact as thunderboltItself } from '../../../../src/rack/cables/fact.ts';
import { answer, asked } from '../../engine/observe/fact-cases.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const thunderbolt = { ...thunderboltItself, parse: onPage(thunderboltItself.parse) };

const busUuid = '57AE1A4C-B830-48D1-90DD-A3EDB8AC8DFC';
const peerUuid = '817DCFA4-B481-4100-80FC-91C7AA969F0B';

const connected = {
  receptacle_id_key: '1',
  receptacle_status_key: 'receptacle_connected',
  current_speed_key: '80 Gb/s',
};
const empty = {
  receptacle_id_key: '1',
  receptacle_status_key: 'receptacle_no_devices_connected',
  current_speed_key: 'Up to 120 Gb/s',
};
const peer = { _name: 'MacBook Pro', device_name_key: 'Mac17,7', domain_uuid_key: peerUuid, services_title: [] };
const disk = {
  _name: 'Envoy Ultra',
  switch_uid_key: '0x1',
  vendor_name_key: 'Other World Computing',
  mode_key: 'usb_four',
};

function read(tag: object, items?: readonly object[]) {
  const bus = {
    _name: 'thunderboltusb4_bus_0',
    domain_uuid_key: busUuid,
    receptacle_1_tag: tag,
    ...(items === undefined ? {} : { _items: items }),
  };
  const stdout = `${JSON.stringify({ SPThunderboltDataType: [bus] })}\n`;
  return thunderbolt.parse([answer('thunderbolt-profile', { stdout })], asked);
}

const seen = (tag: object, items?: readonly object[]) => {
  const fact = read(tag, items);
  return fact.kind === 'known' ? fact.value[0] : fact.reason;
};

describe('the thunderbolt fact', () => {
  it('reports a receptacle as silent when it has a cable but macOS lists no device', () => {
    for (const items of [undefined, []]) {
      expect(seen(connected, items)).toMatchObject({
        state: 'silent',
        peers: [],
        devices: [],
        linkBitsPerSecond: 80e9,
      });
    }
    const { current_speed_key: _, ...withoutSpeed } = connected;
    expect(seen(withoutSpeed)).not.toHaveProperty('linkBitsPerSecond');
    expect(seen(connected, [peer])).toMatchObject({ state: 'connected' });
    expect(seen(empty)).toMatchObject({ state: 'empty', maxBitsPerSecond: 120e9 });
  });

  it('is unknown when a receptacle contradicts itself', () => {
    expect(seen(empty, [peer])).toBe('garbled');
    expect(seen(empty, [disk])).toBe('garbled');
    expect(seen({ ...empty, current_speed_key: '80 Gb/s' })).toBe('garbled');
    expect(seen({ ...connected, current_speed_key: 'Up to 80 Gb/s' }, [peer])).toBe('garbled');
  });

  it('is unknown when a cable speed is missing or unreadable', () => {
    const { current_speed_key: _, ...withoutSpeed } = connected;
    expect(seen(withoutSpeed, [peer])).toBe('garbled');
    for (const speed of ['', 'fast', '80', '80 Gb', '80000 Gb/s', 80, null]) {
      expect([speed, seen({ ...connected, current_speed_key: speed }, [peer])]).toEqual([speed, 'garbled']);
    }
    expect(seen({ ...connected, current_speed_key: '40 Gb/s x1' }, [peer])).toMatchObject({ linkBitsPerSecond: 40e9 });
  });

  it('keeps the receptacles of other buses when one bus is unreadable', () => {
    const bus = (number: number, change: object) => ({
      _name: `thunderboltusb4_bus_${number}`,
      domain_uuid_key: busUuid.replace('57', `0${number}`),
      receptacle_1_tag: { ...empty, receptacle_id_key: String(number) },
      ...change,
    });
    const from = (change: object) => {
      const stdout = `${JSON.stringify({ SPThunderboltDataType: [bus(1, {}), bus(2, change)] })}\n`;
      const fact = thunderbolt.parse([answer('thunderbolt-profile', { stdout })], asked);
      return fact.kind === 'known' ? fact.value.map(({ receptacle, state }) => `${receptacle} ${state}`) : fact.reason;
    };
    expect(from({ domain_uuid_key: undefined })).toEqual(['1 empty', '2 unknown']);
    expect(from({ _name: undefined })).toEqual(['1 empty', '2 unknown']);
    expect(from({ _items: [peer] })).toEqual(['1 empty', '2 unknown']);
    // The receptacle is unknown.
    expect(from({ receptacle_1_tag: {} })).toBe('garbled');
    expect(from({ domain_uuid_key: busUuid.replace('57', '01') })).toBe('garbled');
  });

  it('accepts malformed vendor names', () => {
    const devices = (change: object) => {
      const value = seen(connected, [{ ...disk, ...change }, peer]);
      return typeof value === 'object' ? [...value.devices, value.peers.length] : value;
    };
    const whole = { name: 'Envoy Ultra', vendor: 'Other World Computing', mode: 'usb_four' };
    expect(devices({ vendor_name_key: 'Other World Computing ' })).toEqual([whole, 1]);
    expect(devices({ _name: ' Envoy Ultra' })).toEqual([whole, 1]);
    expect(devices({ vendor_name_key: '\u001b[31m' })).toEqual([{ name: 'Envoy Ultra', mode: 'usb_four' }, 1]);
    expect(devices({ vendor_name_key: 7, mode_key: ' ' })).toEqual([{ name: 'Envoy Ultra' }, 1]);
    expect(devices({ _name: '\u0000' })).toEqual([{ ...whole, name: 'unknown' }, 1]);
    expect(devices({ switch_uid_key: undefined })).toBe('garbled');
  });

  it('identifies a Mac by its domain UUID without a name or model', () => {
    const peers = (change: object) => {
      const value = seen(connected, [{ ...peer, ...change }]);
      return typeof value === 'object' ? value.peers : value;
    };
    const base = { domainUuid: peerUuid, name: 'MacBook Pro', advertisesRdma: 'unknown', hubsBetween: 0 };
    expect(peers({ device_name_key: undefined })).toEqual([{ ...base, model: 'unknown' }]);
    expect(peers({ _name: undefined, device_name_key: 'Mac17,7 ' })).toEqual([
      { ...base, model: 'Mac17,7', name: 'unknown' },
    ]);
    expect(peers({ domain_uuid_key: 'x' })).toBe('garbled');
  });
});

onOnePage('thunderbolt');
