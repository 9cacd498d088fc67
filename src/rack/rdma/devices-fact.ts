import type { Gid, RdmaPort } from '../../model/facts/rdma.ts';
import { given } from '../../model/given.ts';
import { andThen, type Known, known, mapKnown, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { ipv6Groups, mappedIpv4, wholeNumber } from '../../node/answers/grammar.ts';
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

/** `ibv_devices`, once the kernel was read. @see Apple TN3205 */
export const ibvDevices = probe(
  'ibv-devices',
  [tool.sh, '-c', `${awaitKernel}${pathWord(tool.ibvDevices)}`],
  10_000,
  16_384,
);

/** `ibv_devinfo -v` of all devices, with limits and GIDs, once the kernel was read and unless a rank is starting. @see Apple TN3205 */
export const ibvDevinfo = probe('ibv-devinfo', [tool.sh, '-c', rdmaPortsScript], 10_000, 262_144);

/**
 * The Thunderbolt devices of `ibv_devinfo -v`, from blocks such as
 *
 *     hca_id:	rdma_en7
 *     	max_qp:				3
 *     			state:			PORT_ACTIVE (4)
 *     			GID[  2]:		::ffff:192.0.2.10
 *
 * A block of another driver is left out before anything else of it is read, whatever it holds.
 * Apple's page prints the same with blanks for tabs, lines joined and lines left out (`...`), so keys are found by
 * name. In the tool's own form every block ends with an empty line; a last block without it was cut.
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
  if (isToolsOwn && !text.value.endsWith('\n\n')) return unknown('truncated', 'ibv_devinfo ended inside a device.');
  const ports: RdmaPort[] = [];
  for (const block of blocks) {
    const device = /^hca_id:[\t ]+([\w.-]+)(?=\s)/.exec(block)?.[1];
    if (device === undefined) return garbled(answer, 'described a device without its name');
    if (!device.startsWith('rdma_')) continue;
    if (!/^rdma_en\d+$/.test(device)) return garbled(answer, 'described a device of a name that is not known');
    if (isToolsOwn && !block.split('\n').every(isToolsLine)) return garbled(answer, 'printed a line that is no value');
    const port = portOf(device, block);
    if (port === undefined) return garbled(answer, 'described a device that cannot be read');
    ports.push(port);
  }
  return eachOnce(ports, ({ device }) => device, garbled(answer, 'described one device twice'));
}

/** What the verbs tools say where there is no device at all; the exit code then differs between their versions. */
function saysNoDevices(answer: Answer): boolean {
  if (answer.missing !== undefined || answer.isLate || answer.isTruncated || answer.exit.kind !== 'exited')
    return false;
  return answer.exit.code !== 127 && /^No IB devices found\n?$/.test(answer.stdout + answer.stderr);
}

/** Values, and whatever the verbose form lists below one, stand behind tabs. */
const isToolsLine = (line: string): boolean => line === '' || /^(?:hca_id:)?\t+\S/.test(line);

function portOf(device: string, block: string): RdmaPort | undefined {
  const [, name, number] = /\sstate:\s+PORT_([A-Z_]+) \((\d)\)(?=\s)/.exec(block) ?? [];
  const gids = gidsOf(block);
  const maxQueuePairs = limitOf(block, 'max_qp');
  const maxProtectionDomains = limitOf(block, 'max_pd');
  if (name === undefined || gids === undefined) return undefined;
  if (maxQueuePairs === null || maxProtectionDomains === null) return undefined;
  return {
    device,
    state: stateOf(`${name} ${number}`),
    gids,
    ...given({ maxQueuePairs, maxProtectionDomains }),
  };
}

const stateOf = (state: string): RdmaPort['state'] =>
  state === 'ACTIVE 4' ? 'active' : state === 'DOWN 1' ? 'down' : 'other';

/** The word behind `key:`; `undefined` when the key is not there exactly once. */
function wordBehind(block: string, key: string): string | undefined {
  const all = [...block.matchAll(new RegExp(`\\s${key}:\\s+(\\S+)(?=\\s)`, 'g'))];
  return all.length === 1 ? all[0]?.[1] : undefined;
}

/** A limit, `undefined` when it is not printed and `null` when it is no number. */
function limitOf(block: string, key: string): number | undefined | null {
  if (!new RegExp(`\\s${key}:`).test(block)) return undefined;
  return wholeNumber(wordBehind(block, key)) ?? null;
}

/** Indexes are what applications use, and no entry counts twice; their order has no meaning. */
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

/** One line of `ibv_devices`. */
export interface RdmaDevice {
  readonly name: string;
  readonly guid: string;
}

/**
 * The devices of `ibv_devices`, from two header lines and lines such as
 *
 *     rdma_en2        d0b5e9ab23cfac05
 *
 * Only those of Thunderbolt count (`rdma_en…`): other drivers may add their own. No device at all is a true answer:
 * RDMA is switched off, or the Mac has no Thunderbolt 5.
 */
function parseIbvDevices(answer: Answer | undefined): Known<readonly RdmaDevice[]> {
  return mapKnown(parseAllDevices(answer), (all) => all.filter(({ name }) => isOfReceptacle(name)));
}

/** Whether a device is one that macOS makes for a Thunderbolt receptacle. */
const isOfReceptacle = (name: string): boolean => /^rdma_en\d+$/.test(name);

/** Every device that is listed, whoever made it. */
function parseAllDevices(answer: Answer | undefined): Known<readonly RdmaDevice[]> {
  const alone = leftAlone(answer);
  if (alone !== undefined) return alone;
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  const [first = '', second = '', ...rest] = lines.value;
  if (!/^\s*device\s+node GUID\s*$/.test(first) || !/^\s*-+\s+-+\s*$/.test(second)) {
    return garbled(answer, 'did not begin with its two header lines');
  }
  return andThen(readEach(rest, deviceOf, garbled(answer, 'printed a line that is no device')), (devices) =>
    eachOnce(devices, ({ name }) => name, garbled(answer, 'named one device twice')),
  );
}

function deviceOf(line: string): RdmaDevice | undefined {
  const [, name = '', guid = ''] = /^\s*(\S+)\s+([0-9a-f]{16})\s*$/.exec(line) ?? [];
  return guid === '' ? undefined : { name, guid };
}

const areSame = (ports: readonly RdmaPort[], devices: readonly RdmaDevice[]): boolean => {
  const [described, named] = [ports.map(({ device }) => device), devices.map(({ name }) => name)];
  return described.sort().join() === named.sort().join();
};

/** State, GIDs and limits of each RDMA device; checked against the list of `ibv_devices` where that could be read. */
export const rdmaPortsFact = defineFact({
  name: 'rdma-ports',
  from: [ibvDevinfo, ibvDevices, rdmaKernel],
  parse: ([info, list]): Known<readonly RdmaPort[]> => {
    const ports = parseIbvDevinfo(info);
    if (ports.kind === 'unknown') return ports;
    const devices = parseIbvDevices(list);
    if (devices.kind === 'unknown') return ports;
    return areSame(ports.value, devices.value) ? ports : garbled(info, 'and ibv_devices name other devices');
  },
  source: 'ibv_devinfo -v',
  /** Of each device its state, the IPv4 addresses among its GIDs, its limits (queue pairs, protection domains). */
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

/** RDMA devices of somebody else, such as a network card in an enclosure: nothing of ours runs over them. */
export const otherRdmaDevicesFact = defineFact({
  name: 'other-rdma-devices',
  from: [ibvDevices, rdmaKernel],
  parse: ([answer]): Known<readonly string[]> => {
    return mapKnown(parseAllDevices(answer), (all) =>
      all.map(({ name }) => name.slice(0, 100)).filter((name) => !isOfReceptacle(name)),
    );
  },
  source: 'ibv_devices',
  text: (names) => [names],
});

/**
 * The RDMA devices of this Mac's Thunderbolt receptacles. `ibv_devices` prints no end, so `ibv_devinfo`, where it
 * could be read, must name the same ones; where it could not, a list without any device is not taken for "none".
 */
export const rdmaDevicesFact = defineFact({
  name: 'rdma-devices',
  from: [ibvDevices, ibvDevinfo, rdmaKernel],
  parse: ([list, info]): Known<readonly RdmaDevice[]> => {
    const devices = parseIbvDevices(list);
    if (devices.kind === 'unknown') return devices;
    const ports = parseIbvDevinfo(info);
    if (ports.kind === 'unknown' && devices.value.length > 0) return devices;
    if (ports.kind === 'unknown') {
      return unknown(ports.reason, `ibv_devices lists no device, and nothing confirms it: ${ports.detail}`);
    }
    return areSame(ports.value, devices.value) ? devices : garbled(list, 'and ibv_devinfo name other devices');
  },
  source: 'ibv_devices',
  text: (devices) => [devices.map(({ name }) => name)],
});

/** Why our probe did not ask a verbs tool: a rank opens the devices now, or a program has not returned from them. */
function leftAlone(answer: Answer | undefined): Known<never> | undefined {
  if (answer?.exit.kind !== 'exited' || answer.exit.code !== leftAloneExit) return undefined;
  const said = answer.stderr.trimEnd();
  if (said === `${unseenTool} ${notReturnedWords}`) {
    return unknown('busy', 'Not asked: the node could not see whether a program has not returned from RDMA.');
  }
  const isOurs = [startingWords, notReturnedWords].some((words) => said.endsWith(` ${words}`));
  return isOurs ? unknown('busy', `Not asked: ${said}.`) : undefined;
}
