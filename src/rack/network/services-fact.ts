import type { FactsHardwarePorts } from '../../model/documents.generated.ts';
import type { NetworkService } from '../../model/facts/fact-values.ts';
import { andThen, type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { isBsdName, isMac, isName } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact, eachOnce, readEach } from '../fact.ts';

/** `networksetup -listallhardwareports`: the only way from a receptacle to its interface. */
const hardwarePortList = probe('hardware-port-list', [tool.networksetup, '-listallhardwareports'], 10_000, 65_536);

/** `networksetup -listnetworkserviceorder`: services with their devices, in order. */
export const serviceOrder = probe('service-order', [tool.networksetup, '-listnetworkserviceorder'], 10_000, 65_536);

/**
 * The network services in the order in which macOS tries them, from pairs of lines such as
 *
 *     (3) Earlier Cluster Bridge
 *     (Hardware Port: Thunderbolt 3, Device: en4)
 *
 * A disabled service has `(*)` in place of its number. One device may have several services, and a service without a
 * device (a VPN) has an empty one. The tool prints no end mark, so only its exit and its frame show that the answer is
 * complete.
 */
export const networkServicesFact = defineFact({
  name: 'network-services',
  from: [serviceOrder],
  parse: ([answer]): Known<readonly NetworkService[]> =>
    andThen(readLines(answer), (lines) => {
      const [notice, ...rest] = lines;
      if (notice !== 'An asterisk (*) denotes that a network service is disabled.') {
        return garbled(answer, 'did not begin with its notice');
      }
      const unread = garbled(answer, 'printed a block that describes no network service');
      return andThen(readEach(blocksOf(rest), serviceOf, unread), (services) => {
        if (services.length === 0) return unknown('empty', 'networksetup listed no network service.');
        if (!isNumbered(services.map(({ mark }) => mark))) return garbled(answer, 'numbered its services with gaps');
        return known(services.map(({ mark: _, ...service }) => service));
      });
    }),
  text: (services) => [
    services.map(({ name, device, isEnabled }) => {
      const where = device === undefined ? '' : ` ${device}`;
      return `${name}${where}${isEnabled ? '' : ' (off)'}`;
    }),
  ],
});

/**
 * The numbers also count disabled services; on older macOS, they count only enabled services. Both reveal a block that
 * is missing in the middle.
 */
function isNumbered(marks: readonly string[]): boolean {
  const isAll = marks.every((mark, at) => mark === '*' || mark === String(at + 1));
  const enabled = marks.filter((mark) => mark !== '*');
  return isAll || enabled.every((mark, at) => mark === String(at + 1));
}

const blocksOf = (lines: readonly string[]): readonly string[] =>
  lines
    .join('\n')
    .split('\n\n')
    .filter((block) => block.trim() !== '');

function serviceOf(block: string): (NetworkService & { readonly mark: string }) | undefined {
  const lines = block.split('\n').filter((line) => line !== '');
  const form = /^\((\d{1,4}|\*)\) (.+)\n\(Hardware Port: (.+), Device: ?(\S*)\)$/;
  const [, mark = '', name = '', port = '', device = ''] = form.exec(lines.join('\n')) ?? [];
  if (!isName(name) || !isName(port)) return undefined;
  const service = { name, port, isEnabled: mark !== '*', mark };
  if (device === '') return service;
  return isBsdName(device) ? { ...service, device } : undefined;
}

/**
 * The hardware ports with their interfaces, from blocks such as
 *
 *     Hardware Port: Thunderbolt 1
 *     Device: en2
 *     Ethernet Address: 02:00:5e:00:53:02
 *
 * The VLAN section ends the list, so a list without it was cut off. `Ethernet Adapter (enN)` are ports of docks and
 * phones; they stay in the list under their own names.
 */
export const hardwarePortsFact = defineFact({
  name: 'hardware-ports',
  from: [hardwarePortList],
  parse: ([answer]): Known<FactsHardwarePorts> =>
    andThen(readLines(answer), (lines) => {
      const end = lines.indexOf('VLAN Configurations');
      if (end < 0 || !/^=+$/.test(lines[end + 1] ?? '')) {
        return unknown('truncated', 'networksetup did not print the end of its list of ports.');
      }
      return portsOf(lines.slice(0, end), answer);
    }),
  text: (ports) => [ports.map(({ port, device }) => `${port} ${device}`)],
});

function portsOf(lines: readonly string[], answer: Answer | undefined): Known<FactsHardwarePorts> {
  const unread = garbled(answer, 'printed a block that describes no hardware port');
  return andThen(readEach(blocksOf(lines), portOf, unread), (ports) =>
    ports.length === 0
      ? unknown('empty', 'networksetup listed no hardware port.')
      : eachOnce(ports, ({ device }) => device, garbled(answer, 'named one device twice')),
  );
}

function portOf(block: string): FactsHardwarePorts[number] | undefined {
  const [first = '', second = '', third, ...rest] = block.trim().split('\n');
  const port = /^Hardware Port: (.+)$/.exec(first)?.[1] ?? '';
  const device = /^Device: (\S+)$/.exec(second)?.[1] ?? '';
  if (!isName(port) || !isBsdName(device) || rest.length > 0) return undefined;
  if (third === undefined) return { port, device };
  const mac = /^Ethernet Address: (\S+)$/.exec(third)?.[1] ?? '';
  // Ports without an address of their own, such as some modems, have N/A.
  if (mac === 'N/A') return { port, device };
  return isMac(mac) ? { port, device, mac } : undefined;
}
