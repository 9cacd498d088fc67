import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import type { DesiredFleet, DesiredNode } from '../../../src/model/desired.ts';
import type { MacState } from '../../../src/sim/model/fleet.ts';
import { modelIds } from '../../../src/sim/model/hardware.ts';
import { servicesIn } from '../../../src/sim/model/network.ts';
import { simulateFleet } from '../../../src/sim/simulate-fleet.ts';
import { answer, desiredNode, desiredRack, links, simulated } from '../../rack/rack.ts';

const { pool, ...withoutPool } = desiredRack.thunderbolt;

const oneNode = (hardware: DesiredNode['hardware'], changes: Partial<DesiredFleet> = {}): DesiredFleet => ({
  ...desiredRack,
  nodes: [desiredNode('single', hardware)],
  thunderbolt: { ...desiredRack.thunderbolt, links: [] },
  ...changes,
});

function only(desired: DesiredFleet): MacState {
  const [mac] = simulated(desired).macs;
  if (mac === undefined) throw new Error('the fleet has no Mac');
  return mac;
}

function refusals(desired: DesiredFleet): readonly string[] {
  const result = simulateFleet(desired, 'test');
  return result.kind === 'fleet' ? [] : result.diagnostics.map(({ code, detail }) => `${code}: ${plainText(detail)}`);
}

describe('a simulated fleet', () => {
  it('depends only on the file and the seed', () => {
    expect(simulateFleet(desiredRack, 'test')).toEqual(simulateFleet(desiredRack, 'test'));
    const serials = (seed: string): readonly string[] => {
      const result = simulateFleet(desiredRack, seed);
      return result.kind === 'fleet' ? result.fleet.macs.map(({ serial }) => serial) : [];
    };
    expect(new Set([...serials('one'), ...serials('two')]).size).toBe(8);
    for (const serial of serials('one')) expect(serial).toMatch(/^[A-Z0-9]{10}$/);
  });

  it('gives every Mac a unique identity', () => {
    const { macs } = simulated();
    const identities = macs.flatMap((mac) => [
      mac.serial,
      mac.hardwareUuid,
      mac.bootSession.uuid,
      mac.lan.address,
      ...mac.ports.map(({ macAddress }) => macAddress),
      ...mac.receptacles.flatMap((one) => [one.domainUuid, one.switchUid, one.macAddress, one.linkLocal]),
    ]);
    expect(new Set(identities).size).toBe(identities.length);
  });

  it("keeps a receptacle's identity when other nodes join", () => {
    const smaller = simulated({
      ...desiredRack,
      nodes: desiredRack.nodes.slice(2),
      thunderbolt: { ...desiredRack.thunderbolt, links: [] },
    });
    const uuids = (mac: MacState | undefined): readonly string[] => mac?.receptacles.map((one) => one.domainUuid) ?? [];
    expect(uuids(smaller.macs[0])).toEqual(uuids(simulated().macs[2]));
  });

  it('gives each link a /30 from the pool in declared order', () => {
    const addresses = simulated().macs.map((mac) =>
      mac.receptacles.map(({ device }) => {
        const ipv4 = servicesIn(mac.preferences).find((service) => service.device === device)?.ipv4;
        return ipv4?.kind === 'manual' ? `${ipv4.address}/${ipv4.prefixLength}` : '-';
      }),
    );
    expect(addresses).toEqual([
      ['-', '10.77.0.1/30', '10.77.0.5/30', '10.77.0.9/30', '-', '-'],
      ['-', '10.77.0.2/30', '10.77.0.13/30', '10.77.0.17/30', '-', '-'],
      ['-', '10.77.0.6/30', '10.77.0.14/30', '10.77.0.21/30', '-', '-'],
      ['-', '10.77.0.10/30', '10.77.0.18/30', '10.77.0.22/30', '-', '-'],
    ]);
  });

  it('has self-assigned addresses on cabled interfaces without a pool', () => {
    const fleet = simulated({ ...desiredRack, thunderbolt: withoutPool });
    expect(answer(fleet, 'studio-1', 'ifconfig/en3.out')).toMatch(/inet 169\.254\.\d+\.\d+ netmask 0xffff0000/);
    expect(answer(fleet, 'studio-1', 'ifconfig/en2.out')).not.toContain('inet ');
  });

  it('uses an office address set in the file', () => {
    const [first] = desiredRack.nodes;
    const desired = oneNode({});
    const named = { ...desired, nodes: desired.nodes.map((node) => ({ ...node, host: '192.168.1.20' })) };
    expect(only(named).lan.address).toBe('192.168.1.20');
    expect(only(desired).lan.address).toBe('198.18.0.10');
    expect(first?.host).toBe('studio-1.lan');
  });

  it('has a bridge of all receptacles if the file keeps it', () => {
    const fleet = simulated({ ...desiredRack, thunderbolt: { ...desiredRack.thunderbolt, bridge: 'keep' } });
    expect(answer(fleet, 'studio-1', 'ifconfig/bridge0.out').match(/member: en[2-7] /g)).toHaveLength(6);
    expect(answer(fleet, 'studio-1', 'ifconfig/en3.out')).not.toContain('inet');
    expect(answer(fleet, 'studio-1', 'networksetup/-listallnetworkservices.out')).not.toContain('Thunderbolt 1');
    expect(answer(fleet, 'studio-1', 'networksetup/-getinfo_Thunderbolt+Bridge.out')).toContain('169.254.');
    expect(answer(fleet, 'studio-1', 'ibv_devinfo/-v.out')).not.toContain('::ffff:');
  });
});

describe('a simulated Mac', () => {
  it('is by default a Mac15,14 with the least memory', () => {
    const mac = only(oneNode({}, { macos: {}, power: {}, system: { fileVault: 'any', accounts: {} } }));
    expect([mac.model.id, mac.memoryBytes, mac.macos.version, mac.macos.build]).toEqual([
      'Mac15,14',
      96 * 2 ** 30,
      '26.5',
      '25F71',
    ]);
    expect([mac.isFileVaultOn, mac.wiredLimitMegabytes, mac.power.sleepMinutes]).toEqual([false, 0, 0]);
  });

  it('has the settings in the file', () => {
    const mac = only(
      oneNode(
        { model: 'Mac16,9', memoryBytes: 2 ** 37, serial: 'ABC123' },
        {
          macos: { version: '26.4.1' },
          power: { sleepMinutes: 15, restartAfterPowerLoss: true },
          system: { fileVault: 'enabled', accounts: {}, wiredLimit: { kind: 'bytes', bytes: 100 * 2 ** 30 } },
        },
      ),
    );
    expect(mac).toMatchObject({
      memoryBytes: 2 ** 37,
      serial: 'ABC123',
      macos: { version: '26.4.1', build: '25E253' },
      power: { sleepMinutes: 15, restartsAfterPowerLoss: true },
      isFileVaultOn: true,
      wiredLimitMegabytes: 102_400,
    });
  });

  it.each([
    [2 ** 39, 491_520],
    [2 ** 36, 57_344],
  ])('leaves the larger of 8 GiB and a sixteenth of %i bytes unwired by default', (memoryBytes, megabytes) => {
    expect(only(oneNode({ memoryBytes })).wiredLimitMegabytes).toBe(megabytes);
  });

  it('has a build number in the usual form for an unpublished version', () => {
    expect(only(oneNode({}, { macos: { version: '28.3.2' } })).macos.build).toMatch(/^27D\d{2,3}$/);
  });

  it.each([
    ['Mac15,14', ['en2', 'en3', 'en4', 'en5', 'en6', 'en7']],
    ['Mac16,9', ['en2', 'en3', 'en4', 'en5']],
    ['Mac16,11', ['en2', 'en3', 'en4']],
    ['Mac16,10', ['en2', 'en3', 'en4']],
    ['Mac17,6', ['en1', 'en6', 'en2']],
    ['Mac17,7', ['en1', 'en6', 'en2']],
  ])('has interfaces in receptacle order on model %s', (model, devices) => {
    const mac = only(oneNode({ model }));
    expect(mac.receptacles.map(({ device }) => device)).toEqual(devices);
    expect(mac.receptacles.map(({ number }) => number)).toEqual(devices.map((_, index) => index + 1));
  });

  it.each(modelIds)('has no duplicate device on model %s', (model) => {
    const mac = only(oneNode({ model }));
    const devices = [...mac.ports, ...mac.receptacles].map(({ device }) => device);
    expect(new Set(devices).size).toBe(devices.length);
    expect(devices).toContain(mac.lan.device);
  });

  it('reports RDMA as enabled but has no device with Thunderbolt 4', () => {
    const fleet = simulated({
      ...oneNode({ model: 'Mac16,10' }),
      nodes: ['one', 'two'].map((name) => desiredNode(name, { model: 'Mac16,10' })),
      thunderbolt: { ...desiredRack.thunderbolt, links: links(['one:1 <-> two:1']) },
    });
    expect(answer(fleet, 'one', 'rdma_ctl/status.out')).toBe('enabled\n');
    expect(answer(fleet, 'one', 'ibv_devices/no-arguments.out').split('\n')).toHaveLength(3);
    const buses = answer(fleet, 'one', 'system_profiler/SPThunderboltDataType_-json.out');
    expect(buses).toContain('"40 Gb/s"');
    expect(buses).toContain('"Up to 40 Gb/s"');
    expect(buses).not.toContain('64087');
  });
});

describe('a file that cannot be simulated', () => {
  it('is rejected for an unknown model', () => {
    expect(refusals(oneNode({ model: 'Mac99,1' }))).toEqual([
      'sim/unknown-model: single is declared as Mac99,1, whose receptacles and interfaces are unknown.',
    ]);
    expect(refusals(oneNode({ model: 'constructor' }))).toHaveLength(1);
  });

  it('is rejected for every cable that cannot be plugged in', () => {
    const impossible = links([
      'studio-1:2 <-> studio-2:2',
      'studio-1:2 <-> studio-3:2',
      'studio-1:7 <-> studio-4:2',
      'studio-1:0 <-> studio-9:1',
    ]);
    const thunderbolt = { ...desiredRack.thunderbolt, links: impossible };
    expect(refusals({ ...desiredRack, thunderbolt })).toEqual([
      'sim/unusable-link: The cable studio-1:2 <-> studio-3:2 cannot be plugged in: receptacle 2 of studio-1 already has a different cable.',
      'sim/unusable-link: The cable studio-1:7 <-> studio-4:2 cannot be plugged in: studio-1 is a Mac15,14 with receptacles 1 to 6.',
      'sim/unusable-link: The cable studio-1:0 <-> studio-9:1 cannot be plugged in: studio-1 is a Mac15,14 with receptacles 1 to 6.',
      'sim/unusable-link: The cable studio-1:0 <-> studio-9:1 cannot be plugged in: node studio-9 does not exist.',
    ]);
  });

  it('is rejected if the pool has too few addresses for its links', () => {
    const small = { address: '10.77.0.0', prefixLength: 28 };
    expect(refusals({ ...desiredRack, thunderbolt: { ...desiredRack.thunderbolt, pool: small } })).toEqual([
      'sim/pool-too-small: 10.77.0.0/28 has room for 4 links of four addresses; 6 are declared.',
    ]);
    expect(pool?.prefixLength).toBe(24);
  });
});
