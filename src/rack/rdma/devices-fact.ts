import type { FactsRdmaDevices } from '../../model/documents.generated.ts';
import type { Gid, RdmaPort } from '../../model/facts/rdma.ts';
import { given } from '../../model/given.ts';
import { ipv6Groups, mappedIpv4 } from '../../model/ip-address.ts';
import { andThen, type Known, known, mapKnown, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readLines, readText } from '../../node/answers/read-answer.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import {
  awaitKernel,
  leftAloneExit,
  notReturnedWords,
  rdmaPortsScript,
  startingWords,
  unseenTool,
} from '../../node/probes/rdma-scripts.ts';
import { defineFact, eachOnce, readEach } from '../fact.ts';
import { rdmaKernel } from './kernel-fact.ts';

/** `ibv_devices`, after the kernel was read. @see Apple TN3205 */
export const ibvDevices = probe(
  'ibv-devices',
  [tool.sh, '-c', `${awaitKernel}${pathWord(tool.ibvDevices)}`],
  10_000,
  16_384,
);

/** `ibv_devinfo -v` of all devices, run after the kernel was read and unless a rank is starting. @see Apple TN3205 */
export const ibvDevinfo = probe('ibv-devinfo', [tool.sh, '-c', rdmaPortsScript], 10_000, 262_144);

/**
 * The Thunderbolt devices of `ibv_devinfo -v`, from blocks such as
 *
 *     hca_id:	rdma_en7
 *     	max_qp:				3
 *     			state:			PORT_ACTIVE (4)
 *     			GID[  2]:		::ffff:192.0.2.10
 *
 * Blocks of other drivers are left out unread. Apple's page shows the output with blanks for tabs, joined lines and omitted
 * lines (`...`), so keys are found by name. In the tool's own output every block ends with an empty line; a last block
 * without it was cut off.
 */
function parseIbvDevinfo(answer: Answer | undefined): Known<readonly RdmaPort[]> {
  if (answer !== undefined && saysNoDevices(answer)) return known([]);
  const alone = leftAlone(answer);
  if (alone !== undefined) return alone;
  const text = readText(answer);
  if (text.kind === 'unknown') return text;
  const [before = '', ...blocks] = text.value.split(/^(?=hca_id:)/m);
  if (before.startsWith('hca_id:')) blocks.unshift(before);
  else if (before.trim() !== '') return garbled(answer, 'did not begin with a device');
  const isToolsOwn = blocks.some((block) => block.includes('\t'));
  if (isToolsOwn && !text.value.endsWith('\n\n'))
    return unknown('truncated', 'The output of ibv_devinfo ends inside a device.');
  const ports: RdmaPort[] = [];
  for (const block of blocks) {
    const device = /^hca_id:[\t ]+([\w.-]+)(?=\s)/.exec(block)?.[1];
    if (device === undefined) return garbled(answer, 'described a device without its name');
    if (!device.startsWith('rdma_')) continue;
    if (!/^rdma_en\d+$/.test(device)) return garbled(answer, 'described a device with an unknown name');
    if (isToolsOwn && !block.split('\n').every(isToolsLine))
      return garbled(answer, 'printed a line that is not a value');
    const port = portOf(device, block);
    if (port === undefined) return garbled(answer, 'described an unreadable device');
    ports.push(port);
  }
  return eachOnce(ports, ({ device }) => device, garbled(answer, 'described one device twice'));
}

/** Without any device, the verbs tools print this text. Their exit code depends on the version. */
function saysNoDevices(answer: Answer): boolean {
  if (answer.missing !== undefined || answer.isLate || answer.isTruncated || answer.exit.kind !== 'exited')
    return false;
  return answer.exit.code !== 127 && /^No IB devices found\n?$/.test(answer.stdout + answer.stderr);
}

/** Values, and lines that the verbose form lists below a value, are indented with tabs. */
const isToolsLine = (line: string): boolean => line === '' || /^(?:hca_id:)?\t+\S/.test(line);

function portOf(device: string, block: string): RdmaPort | undefined {
  const [, name, number] = /\sstate:\s+PORT_([A-Z_]+) \((\d)\)(?=\s)/.exec(block) ?? [];
  const gids = gidsOf(block);
  const maxQueuePairs = limitOf(block, 'max_qp');
  const maxProtectionDomains = limitOf(block, 'max_pd');
  if (name === undefined || gids === undefined) return undefined;
  if (maxQueuePairs === null || maxProtectionDomains === null) return undefined;
  return { device, state: stateOf(`${name} ${number}`), gids, ...given({ maxQueuePairs, maxProtectionDomains }) };
}

const stateOf = (state: string): RdmaPort['state'] =>
  state === 'ACTIVE 4' ? 'active' : state === 'DOWN 1' ? 'down' : 'other';

/** The word after `key:`; `undefined` unless the key occurs exactly once. */
function wordBehind(block: string, key: string): string | undefined {
  const [first, ...others] = block.matchAll(new RegExp(`\\s${key}:\\s+(\\S+)(?=\\s)`, 'g'));
  return others.length === 0 ? first?.[1] : undefined;
}

/** A limit; `undefined` if it is not printed, `null` if it is not a number. */
function limitOf(block: string, key: string): number | undefined | null {
  if (!new RegExp(`\\s${key}:`).test(block)) return undefined;
  return wholeNumber(wordBehind(block, key)) ?? null;
}

/** Applications use the indexes, so each index may occur only once. The order is not significant. */
function gidsOf(block: string): readonly Gid[] | undefined {
  const gids: Gid[] = [];
  for (const [, at, gid = ''] of block.matchAll(/\sGID\[ *(\d{1,5})\]:\s+([^\s,]+)/g)) {
    const index = wholeNumber(at);
    if (index === undefined || ipv6Groups(gid) === undefined || gids.some((other) => other.index === index))
      return undefined;
    const ipv4 = mappedIpv4(gid);
    gids.push({ index, gid, ...given({ ipv4 }) });
  }
  return gids.length === [...block.matchAll(/\sGID\[/g)].length ? gids : undefined;
}

/**
 * The devices of `ibv_devices`, from two header lines and lines such as
 *
 *     rdma_en2        d0b5e9ab23cfac05
 *
 * Only Thunderbolt devices count (`rdma_en…`); other drivers may add their own. An empty list is a valid answer: RDMA is
 * switched off, or the Mac has no Thunderbolt 5.
 */
const parseIbvDevices = (answer: Answer | undefined): Known<FactsRdmaDevices> =>
  mapKnown(parseAllDevices(answer), (all) => all.filter(({ name }) => isOfReceptacle(name)));

/** True if macOS created the device for a Thunderbolt receptacle. */
const isOfReceptacle = (name: string): boolean => /^rdma_en\d+$/.test(name);

function parseAllDevices(answer: Answer | undefined): Known<FactsRdmaDevices> {
  const alone = leftAlone(answer);
  if (alone !== undefined) return alone;
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  const [first = '', second = '', ...rest] = lines.value;
  if (!/^\s*device\s+node GUID\s*$/.test(first) || !/^\s*-+\s+-+\s*$/.test(second)) {
    return garbled(answer, 'did not begin with its two header lines');
  }
  return andThen(readEach(rest, deviceOf, garbled(answer, 'printed a line that is not a device')), (devices) =>
    eachOnce(devices, ({ name }) => name, garbled(answer, 'named one device twice')),
  );
}

function deviceOf(line: string): FactsRdmaDevices[number] | undefined {
  const [, name = '', guid = ''] = /^\s*(\S+)\s+([0-9a-f]{16})\s*$/.exec(line) ?? [];
  return guid === '' ? undefined : { name, guid };
}

const areSame = (ports: readonly RdmaPort[], devices: FactsRdmaDevices): boolean => {
  const [described, named] = [ports.map(({ device }) => device), devices.map(({ name }) => name)];
  return described.sort().join() === named.sort().join();
};

/** State, GIDs and limits of each RDMA device. If `ibv_devices` is readable, both must list the same devices. */
export const rdmaPortsFact = defineFact({
  name: 'rdma-ports',
  from: [ibvDevinfo, ibvDevices, rdmaKernel],
  parse: ([info, list]): Known<readonly RdmaPort[]> => {
    const ports = parseIbvDevinfo(info);
    if (ports.kind === 'unknown') return ports;
    const devices = parseIbvDevices(list);
    if (devices.kind === 'unknown') return ports;
    return areSame(ports.value, devices.value) ? ports : garbled(info, 'and ibv_devices name different devices');
  },
  source: 'ibv_devinfo -v',
  /** For each device: its state, the IPv4 addresses among its GIDs, its limits (queue pairs, protection domains). */
  text: (ports) =>
    ports.map(({ device, state, gids, maxQueuePairs, maxProtectionDomains }) => {
      const mapped = gids.flatMap(({ index, ipv4 }) => (ipv4 === undefined ? [] : [`GID ${index} is ${ipv4}`]));
      const limits = [
        ...(maxQueuePairs === undefined ? [] : [`QP ${maxQueuePairs}`]),
        ...(maxProtectionDomains === undefined ? [] : [`PD ${maxProtectionDomains}`]),
      ];
      return [`${device} ${state}`, ...(mapped.length === 0 ? ['no IPv4 GID'] : mapped), ...limits].join(', ');
    }),
});

/** RDMA devices of other drivers, for example of a network card in an enclosure. meshwright does not use them. */
export const otherRdmaDevicesFact = defineFact({
  name: 'other-rdma-devices',
  from: [ibvDevices, rdmaKernel],
  parse: ([answer]): Known<readonly string[]> =>
    mapKnown(parseAllDevices(answer), (all) =>
      all.map(({ name }) => name.slice(0, 100)).filter((name) => !isOfReceptacle(name)),
    ),
  source: 'ibv_devices',
  text: (names) => [names],
});

/**
 * The RDMA devices of this Mac's Thunderbolt receptacles. `ibv_devices` prints no end mark, so `ibv_devinfo` must name
 * the same devices if it is readable. If `ibv_devinfo` is not readable, an empty list counts as unknown.
 */
export const rdmaDevicesFact = defineFact({
  name: 'rdma-devices',
  from: [ibvDevices, ibvDevinfo, rdmaKernel],
  parse: ([list, info]): Known<FactsRdmaDevices> => {
    const devices = parseIbvDevices(list);
    if (devices.kind === 'unknown') return devices;
    const ports = parseIbvDevinfo(info);
    if (ports.kind === 'unknown' && devices.value.length > 0) return devices;
    if (ports.kind === 'unknown') {
      return unknown(ports.reason, `ibv_devices lists no device, and ibv_devinfo does not confirm it: ${ports.detail}`);
    }
    return areSame(ports.value, devices.value) ? devices : garbled(list, 'and ibv_devinfo name different devices');
  },
  source: 'ibv_devices',
  text: (devices) => [devices.map(({ name }) => name)],
});

/** The reason why the probe ran no verbs tool: a rank is opening the devices, or a program still hangs in them. */
function leftAlone(answer: Answer | undefined): Known<never> | undefined {
  if (answer?.exit.kind !== 'exited' || answer.exit.code !== leftAloneExit) return undefined;
  const said = answer.stderr.trimEnd();
  if (said === `${unseenTool} ${notReturnedWords}`) {
    return unknown('busy', 'Not queried: it is unknown whether a program has not returned from RDMA.');
  }
  const isOurs = [startingWords, notReturnedWords].some((words) => said.endsWith(` ${words}`));
  return isOurs ? unknown('busy', `Not queried: ${said}.`) : undefined;
}
