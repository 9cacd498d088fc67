import { describe, expect, it } from 'vitest';
import { appleJson } from '../../../../src/sim/tools/system-profiler.ts';
import { answer, broken, desiredRack, pair, simulated } from '../../../rack/rack.ts';
import { captured, layout, wordLines } from '../captures.ts';

const studioAndLaptop = pair({ models: ['Mac15,14', 'Mac17,7'], ends: [2, 1] });
const lastReceptacle = pair({ models: ['Mac15,14', 'Mac15,14'], ends: [6, 6] });
const minis = pair({ models: ['Mac16,11', 'Mac16,11'], ends: [1, 1], bridge: 'keep', hasPool: false });
const preferences =
  '-extract_VirtualNetworkInterfaces.Bridge_json_-o_-_+Library+Preferences+SystemConfiguration+preferences.plist';

const busesOf = (json: string): readonly Record<string, unknown>[] => JSON.parse(json)['SPThunderboltDataType'];

describe('the simulated system_profiler', () => {
  it.each(['sp-thunderbolt-json.m3ultra.pairA-studio.json', 'sp-hardware-json.m2-air.json'])(
    'formats JSON byte for byte like %s',
    (name) => {
      const text = captured(name);
      expect(`${appleJson(JSON.parse(text))}\n`).toBe(text);
    },
  );

  it('prints exactly the hardware keys in the capture', () => {
    const keys = (text: string): string[] => Object.keys(JSON.parse(text)['SPHardwareDataType'][0]);
    const simulated = answer(studioAndLaptop, 'one', 'system_profiler/SPHardwareDataType_-json.out');
    expect(keys(simulated)).toEqual(keys(captured('sp-hardware-json.m2-air.json')));
  });

  it('shows both ends of the captured pair, only one of which has RDMA', () => {
    const fleet = broken(studioAndLaptop, { fault: 'rdma-disabled', target: 'one' });
    const name = 'system_profiler/SPThunderboltDataType_-json.out';
    const cases = [
      ['one', 'sp-thunderbolt-json.m3ultra.pairA-studio.json', ['thunderboltusb4_bus_3']],
      // Only in this capture does a free receptacle, that of bus 2, have a firmware version.
      ['two', 'sp-thunderbolt-json.m5max-mbp.pairA-macbook.json', ['thunderboltusb4_bus_2']],
    ] as const;
    for (const [node, file, others] of cases) {
      const compared = (json: string): readonly unknown[] =>
        busesOf(layout(json)).filter((bus) => !others.some((other) => other === bus['_name']));
      expect(compared(answer(fleet, node, name))).toEqual(compared(captured(file)));
      expect(busesOf(answer(fleet, node, name)).map((bus) => bus['_name'])).toEqual(
        busesOf(captured(file)).map((bus) => bus['_name']),
      );
    }
  });
});

describe('the simulated network tools', () => {
  it("list an M3 Ultra's hardware ports as captured", () => {
    const text = answer(studioAndLaptop, 'one', 'networksetup/-listallhardwareports.out');
    expect(layout(text)).toBe(layout(captured('networksetup-listallhardwareports.m3ultra.no-bridge.txt')));
  });

  it('print the service order with the same lines as the capture', () => {
    const shape = (text: string): Set<string> =>
      new Set(
        text
          .split('\n')
          .map((line) => line.replaceAll(/^\(\d+\) .*$/g, '(N) NAME').replaceAll(/: [^:,]+(?=[,)])/g, ': X')),
      );
    const known = shape(captured('networksetup-listnetworkserviceorder.m3ultra.no-bridge.txt'));
    const text = answer(studioAndLaptop, 'one', 'networksetup/-listnetworkserviceorder.out');
    expect([...shape(text)].filter((line) => !known.has(line))).toEqual([]);
    expect(text.endsWith('\n\n')).toBe(true);
  });

  it('describe a service without a fixed address with the same lines as the capture', () => {
    const keys = (text: string): readonly string[] => text.split('\n').map((line) => line.replace(/:.*/, ''));
    const fleet = pair({ models: ['Mac15,14', 'Mac15,14'], ends: [6, 6], hasPool: false });
    const text = answer(fleet, 'one', 'networksetup/-getinfo_Thunderbolt+6.out');
    expect(keys(text)).toEqual(keys(captured('networksetup-getinfo.m3ultra.thunderbolt6-dhcp.txt')));
    expect(text).toMatch(/^IP address: 169\.254\./m);
  });

  it('print the routes of a cable to a Mac that shares its internet connection as captured', () => {
    const fleet = broken(pair({ models: ['Mac15,14', 'Mac15,14'], ends: [6, 6] }), {
      fault: 'internet-sharing',
      target: 'one:6',
    });
    const known = captured('netstat-rn-inet.m3ultra.default-via-peer.txt').split('\n');
    const text = answer(fleet, 'one', 'netstat/-rn_-f_inet.out').split('\n');
    const shape = (line: string): string =>
      line
        .replaceAll(/link#\d+/g, 'link#')
        .replaceAll(/\d+(?:\.\d+)+/g, '')
        .replaceAll(/ +/g, ' ')
        .replace(/en[01] /, 'en ');
    expect(text.slice(0, 4)).toEqual(known.slice(0, 4));
    const shapes = known.map(shape);
    const own = text.filter((line) => /en7|lo0|^default/.test(line));
    expect(own.filter((line) => !shapes.includes(shape(line)))).toEqual([]);
    expect(new Set(text.slice(4, -1).map((line) => line.length))).toEqual(
      new Set(known.slice(4, -1).map((line) => line.length)),
    );
    expect(own.filter((line) => line.startsWith('default') && line.includes('en7'))).toHaveLength(1);
  });

  it("print a cable's DHCP packet with the same lines as the captured Ethernet packet", () => {
    const fleet = broken(lastReceptacle, { fault: 'internet-sharing', target: 'one:6' });
    const shape = (text: string): string =>
      text
        .replaceAll(/\d+(?:\.\d+){3}/g, '<ipv4>')
        .replace(/^chaddr = .*$/m, 'chaddr = <mac>')
        .replace(/^xid = 0x[1-9a-f][0-9a-f]*$/m, 'xid = <number>')
        .replace(/^sname = .+$/m, 'sname = <name>')
        .replace(/^ciaddr = <ipv4>$/m, 'ciaddr = 0.0.0.0');
    const known = shape(captured('ipconfig-getpacket.en0.macos26.5.2.txt'));
    const text = answer(fleet, 'one', 'ipconfig/getpacket_en7.out');
    expect(shape(text)).toBe(known);
    expect(shape(answer(fleet, 'one', 'ipconfig/getpacket_en0.out'))).toBe(known.replace('<name>', ''));
    expect(text).toMatch(/^yiaddr = 192\.168\.2\.7\nsiaddr = 192\.168\.2\.1$/m);
    expect(text).toMatch(/^server_identifier \(ip\): 192\.168\.2\.1$/m);
  });

  it('do not print a DHCP packet for a cable to a Mac without Internet Sharing', () => {
    expect(answer(lastReceptacle, 'one', 'ipconfig/getpacket_en7.out')).toBe('');
  });

  it('print every interface with the lines in the published list', () => {
    const text = layout(answer(lastReceptacle, 'one', 'ifconfig/-a.out'));
    const blocks = layout(captured('ifconfig-a.m3ultra.en7-own-address.modelled.txt')).split(/^(?=\S)/m);
    expect(blocks.map((block) => block.split(':')[0]).join(' ')).toBe('lo0 en0 en2 en3 en4 en5 en6 en7 nan0');
    for (const block of blocks.slice(1)) expect(text).toContain(block);
    expect(text).toContain(blocks[0]?.split('\n')[0]);
  });

  it("print one interface as in Apple's technote", () => {
    const text = answer(pair({ models: ['Mac16,11', 'Mac16,11'], ends: [1, 1] }), 'one', 'ifconfig/en2.out');
    expect(wordLines(layout(text))).toEqual(wordLines(layout(captured('ifconfig-en2.tn3205.txt'))));
  });

  it("print a Mac mini's bridge with the lines in Apple's technote", () => {
    const text = wordLines(answer(minis, 'one', 'ifconfig/bridge0.out'));
    const known = wordLines(captured('ifconfig-bridge0.m4pro-mini.tn3205-elided.txt'));
    expect(known.filter((line) => !line.includes('0port')).filter((line) => !text.includes(line))).toEqual([]);
    expect(text.filter((line) => line.startsWith('member:'))).toHaveLength(3);
  });

  it('print the bridges in the preferences byte for byte', () => {
    const laptops = pair({ models: ['Mac17,7', 'Mac17,7'], ends: [1, 1], bridge: 'keep' });
    expect(answer(laptops, 'one', `plutil/${preferences}.out`)).toBe(
      captured('plutil-virtualnetworkinterfaces-bridge.mbp.bridge-present.json'),
    );
    expect(answer(studioAndLaptop, 'one', `plutil/${preferences}.out`)).toBe(
      captured('plutil-virtualnetworkinterfaces-bridge.m3ultra.bridge-deleted.json'),
    );
  });
});

describe('the simulated RDMA tools', () => {
  it("list an M3 Ultra's devices as captured", () => {
    const text = answer(lastReceptacle, 'one', 'ibv_devices/no-arguments.out');
    expect(layout(text)).toBe(layout(captured('ibv_devices.m3ultra.six-ports.txt')));
  });

  it('print six devices with the last one active as published', () => {
    const text = answer(lastReceptacle, 'one', 'ibv_devinfo/no-arguments.out');
    expect(layout(text)).toBe(layout(captured('ibv_devinfo.m3ultra.en7-active.modelled.txt')));
  });

  it('print limits and GIDs with the lines in the published block', () => {
    const text = layout(answer(lastReceptacle, 'one', 'ibv_devinfo/-v_-d_rdma_en7.out')).split('\n');
    const known = layout(captured('ibv_devinfo-v.rdma_en7.mapped-gid.modelled.txt'))
      .replace('max_qp:\t\t\t\t3', 'max_qp:\t\t\t\t11')
      .split('\n')
      .filter((line) => !line.includes('GID['));
    expect(known.filter((line) => !text.includes(line))).toEqual([]);
    const gids = text.filter((line) => line.includes('GID[')).map((line) => line.replace(/:\t\t.*/, ''));
    expect(gids).toEqual(['\t\t\tGID[  0]', '\t\t\tGID[  1]', '\t\t\tGID[  2]']);
  });

  it('print the state and the refusal byte for byte', () => {
    expect(answer(studioAndLaptop, 'one', 'rdma_ctl/status.out')).toBe(captured('rdma_ctl-status.m3ultra.enabled.txt'));
    expect(answer(studioAndLaptop, 'one', 'rdma_ctl/enable.err')).toBe(
      captured('rdma_ctl-enable.outside-recovery.stderr.txt'),
    );
  });
});

describe('the other simulated tools', () => {
  const locked = pair({ models: ['Mac17,7', 'Mac15,14'], ends: [1, 1], fileVault: 'enabled' });

  it.each([
    ['fdesetup/status.out', 'fdesetup-status.on.txt'],
    ['csrutil/status.out', 'csrutil-status.enabled.txt'],
    ['socketfilterfw/--getglobalstate.out', 'socketfilterfw-getglobalstate.disabled.txt'],
    ['socketfilterfw/--getstealthmode.out', 'socketfilterfw-getstealthmode.off.txt'],
  ])('print %s byte for byte like %s', (name, file) => {
    expect(answer(locked, 'one', name)).toBe(captured(file));
  });

  it("print versions with the capture's tabs", () => {
    const numbers = (text: string): string => text.replaceAll(/[0-9][0-9A-Z.]+/g, 'N');
    expect(numbers(answer(locked, 'one', 'sw_vers/no-arguments.out'))).toBe(numbers(captured('sw_vers.macos27.txt')));
  });

  it('list Safari, the macOS 26 update and macOS 27 byte for byte as captured', () => {
    expect(answer(studioAndLaptop, 'one', 'softwareupdate/--list_--no-scan.out')).toBe(
      captured('softwareupdate-list.macos26.6.safari-tahoe-and-27.txt'),
    );
  });

  it.each([
    ['26.7', ['Safari27.0TahoeAuto-27.0', 'macOS 27-26A428']],
    ['27.0', ['Safari27.0TahoeAuto-27.0', 'macOS 27.0.1-26A434']],
    ['27.0.1', []],
    ['27.2', []],
  ])('offer macOS %s only newer releases', (version, labels) => {
    const fleet = simulated({ ...desiredRack, macos: { version } });
    const name = 'softwareupdate/--list_--no-scan';
    const text = answer(fleet, 'studio-1', `${name}.out`);
    expect([...text.matchAll(/^\* Label: (.*)$/gm)].map(([, label]) => label)).toEqual(labels);
    const nothing = labels.length === 0 ? 'No new software available.\n' : '';
    expect(answer(fleet, 'studio-1', `${name}.err`)).toBe(nothing);
  });

  it("print a laptop's power settings as captured, apart from values from the file", () => {
    const masked = (text: string): string => text.replaceAll(/(disksleep +)\d+/g, '$1N');
    expect(masked(answer(locked, 'one', 'pmset/-g_custom.out'))).toBe(masked(captured('pmset-g-custom.mbp.txt')));
  });

  it("list a desktop's capabilities as in the capture, including autorestart", () => {
    const [head, ...known] = captured('pmset-g-cap.desktop-intel.txt').split('\n');
    const [simulatedHead, ...names] = answer(locked, 'two', 'pmset/-g_cap.out').split('\n');
    expect(simulatedHead).toBe(head);
    expect(names).toContain(' autorestart');
    expect(names.filter((name) => !known.includes(name))).toEqual([' tcpkeepalive', ' powermode']);
    expect(answer(locked, 'one', 'pmset/-g_cap.out')).not.toContain('autorestart');
  });

  it("align df's nine columns with their headings", () => {
    const [head = '', row = ''] = answer(locked, 'two', 'df/-k_+System+Volumes+Data.out').split('\n');
    const [knownHead = '', , knownRow = ''] = captured('df-k.m3ultra-8tb.modelled.txt').split('\n');
    expect(wordLines(head)).toEqual(wordLines(knownHead));
    expect(row.split(/\s+/)).toHaveLength(knownRow.split(/\s+/).length);
    for (const column of ['1024-blocks', 'Used', 'Available', 'ifree']) {
      const end = head.indexOf(column) + column.length;
      expect(row.slice(end - 1, end + 1)).toMatch(/^\d $/);
    }
    expect(row.indexOf('/System')).toBe(head.indexOf('Mounted'));
  });

  it('describe the loaded sshd with the same lines as the capture', () => {
    const text = wordLines(layout(answer(locked, 'one', 'launchctl/print_system+com.openssh.sshd.out')));
    const known = wordLines(layout(captured('launchctl-print.sshd.on.elided.txt')));
    expect(known.filter((line) => !text.includes(line))).toEqual([]);
  });
});
