import type { HardwarePort } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { isBsdName, isMac, isName } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { hardwarePortList } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';

/**
 * The hardware ports with their interfaces, from blocks such as
 *
 *     Hardware Port: Thunderbolt 1
 *     Device: en2
 *     Ethernet Address: 02:00:5e:00:53:02
 *
 * The VLAN section ends the list, so a list without it was cut. `Ethernet Adapter (enN)` are ports of docks and
 * phones; they stay in the list under their own name.
 */
export const hardwarePortsFact = defineFact({
  name: 'hardware-ports',
  from: [hardwarePortList],
  parse: ([answer]): Known<readonly HardwarePort[]> => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    const end = lines.value.indexOf('VLAN Configurations');
    if (end < 0 || !/^=+$/.test(lines.value[end + 1] ?? '')) {
      return unknown('truncated', 'networksetup did not print the end of its list of ports.');
    }
    return portsOf(lines.value.slice(0, end), answer);
  },
});

function portsOf(lines: readonly string[], answer: Answer | undefined): Known<readonly HardwarePort[]> {
  const ports: HardwarePort[] = [];
  for (const block of lines.join('\n').split('\n\n')) {
    if (block.trim() === '') continue;
    const port = portOf(block.trim().split('\n'));
    if (port === undefined) return garbled(answer, 'printed a block that is no hardware port');
    ports.push(port);
  }
  if (ports.length === 0) return unknown('empty', 'networksetup listed no hardware port.');
  const isUnambiguous = new Set(ports.map(({ device }) => device)).size === ports.length;
  return isUnambiguous ? known(ports) : garbled(answer, 'named one device twice');
}

function portOf(block: readonly string[]): HardwarePort | undefined {
  const [first = '', second = '', third, ...rest] = block;
  const port = /^Hardware Port: (.+)$/.exec(first)?.[1] ?? '';
  const device = /^Device: (\S+)$/.exec(second)?.[1] ?? '';
  if (!isName(port) || !isBsdName(device) || rest.length > 0) return undefined;
  if (third === undefined) return { port, device };
  const mac = /^Ethernet Address: (\S+)$/.exec(third)?.[1] ?? '';
  // Ports without an address of their own, such as some modems, say N/A.
  if (mac === 'N/A') return { port, device };
  return isMac(mac) ? { port, device, mac } : undefined;
}
