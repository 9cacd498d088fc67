import { describe, expect, it } from 'vitest';
import { bridgePreferencesFact as bridgePreferencesItself } from '../../../../src/rack/bridge/fact.ts';
import { serviceAddressesFact as serviceAddressesItself } from '../../../../src/rack/network/service-addresses-fact.ts';
import {
  hardwarePortsFact as hardwarePortsItself,
  networkServicesFact as networkServicesItself,
} from '../../../../src/rack/network/services-fact.ts';
import { answer, asked } from '../../engine/observe/fact-cases.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const bridgePreferences = { ...bridgePreferencesItself, parse: onPage(bridgePreferencesItself.parse) };
const hardwarePorts = { ...hardwarePortsItself, parse: onPage(hardwarePortsItself.parse) };
const networkServices = { ...networkServicesItself, parse: onPage(networkServicesItself.parse) };
const serviceAddresses = { ...serviceAddressesItself, parse: onPage(serviceAddressesItself.parse) };

describe('the network-services fact', () => {
  /** Reads services with these numbers; a star marks a disabled one. */
  const read = (marks: string) => {
    const blocks = [...marks].map((mark, at) => `(${mark}) S${at}\n(Hardware Port: P${at}, Device: en${at})\n\n`);
    const stdout = `An asterisk (*) denotes that a network service is disabled.\n${blocks.join('')}`;
    return networkServices.parse([answer('service-order', { stdout })], asked);
  };

  it.each(['1*3', '1*2', '**1', '*2*', '12*'])('accepts numbering with or without disabled services: %s', (marks) => {
    expect(read(marks).kind).toBe('known');
  });

  it.each(['1*3*4', '1*2*5', '13', '23', '11', '1*4'])(
    'is unknown if its numbers are mixed or skip one: %s',
    (marks) => {
      expect(read(marks)).toMatchObject({ reason: 'garbled' });
    },
  );
});

describe('the service-addresses fact', () => {
  const fixed = { Addresses: ['10.77.0.1'], ConfigMethod: 'Manual', SubnetMasks: ['255.255.255.252'] };
  const read = (...ipv4: readonly object[]) => {
    const services = ipv4.map((one, at) => [
      `0000000${at}-1B2C-4D3E-8F40-0123456789AB`,
      { IPv4: one, Interface: { DeviceName: 'en3' }, UserDefinedName: 'Thunderbolt 2' },
    ]);
    const stdout = JSON.stringify(Object.fromEntries(services));
    const order =
      'An asterisk (*) denotes that a network service is disabled.\n(1) Thunderbolt 2\n(Hardware Port: Thunderbolt 2, Device: en3)\n\n';
    return serviceAddresses.parse([answer('services', { stdout }), answer('service-order', { stdout: order })], asked);
  };

  it('reads disabled IPv4 as off and ignores the previous address', () => {
    const off = [{ service: 'Thunderbolt 2', device: 'en3', method: 'off' }];
    expect(read({ ...fixed, __INACTIVE__: 1 })).toEqual({ kind: 'known', value: off });
    expect(read({ __INACTIVE__: 1 })).toEqual({ kind: 'known', value: off });
    expect(read(fixed)).toMatchObject({ value: [{ method: 'manual' }] });
  });

  it('is unknown when two descriptions of one service differ', () => {
    expect(read(fixed, fixed)).toMatchObject({ kind: 'known' });
    for (const other of [
      { ...fixed, Router: '10.77.0.2' },
      { ...fixed, Addresses: ['10.77.0.2'] },
      { ...fixed, SubnetMasks: ['255.255.255.0'] },
      { ConfigMethod: 'DHCP' },
    ]) {
      expect([other, read(fixed, other)]).toMatchObject([other, { kind: 'unknown', reason: 'garbled' }]);
    }
  });
});

describe('the hardware-ports fact', () => {
  const read = (device: string) => {
    const stdout = `\nHardware Port: FT232R USB UART\nDevice: ${device}\nEthernet Address: N/A\n\nVLAN Configurations\n===================\n`;
    return hardwarePorts.parse([answer('hardware-port-list', { stdout })], asked);
  };

  it('accepts a serial adapter with a long name', () => {
    for (const device of ['usbserial-AI06J8P5', 'usbmodem14201', 'a'.repeat(63)]) {
      expect(read(device)).toEqual({ kind: 'known', value: [{ port: 'FT232R USB UART', device }] });
    }
    for (const device of ['a'.repeat(64), '-x', '/dev/null']) expect(read(device)).toMatchObject({ reason: 'garbled' });
  });
});

describe('the bridge-preferences fact', () => {
  const refused = (stderr: string) => bridgePreferences.parse([answer('bridge-key', { stderr, code: 1 })], asked);
  const path = '/Library/Preferences/SystemConfiguration/preferences.plist';

  it('reports no bridge only if the error names the requested key', () => {
    const words = 'Could not extract value, error: No value at that key path or invalid key path';
    expect(refused(`${path}: ${words}: VirtualNetworkInterfaces.Bridge\n`)).toEqual({ kind: 'known', value: [] });
    for (const stderr of [
      `${path}: ${words}\n`,
      `${path}: ${words}: VirtualNetworkInterfaces.Bri\n`,
      `${path}: ${words}: Other.Key\n`,
      `dyld: warning\n${path}: ${words}: VirtualNetworkInterfaces.Bridge\n`,
      'No value at that key path\n',
    ]) {
      expect([stderr, refused(stderr)]).toMatchObject([stderr, { kind: 'unknown', reason: 'failed' }]);
    }
  });
});

onOnePage('network-lists');
