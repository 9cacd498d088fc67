import type { Gid, RdmaPort } from '../../model/facts/rdma.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { ipv6Groups, mappedIpv4, wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readText } from '../../node/answers/read-answer.ts';
import { leftAlone } from './left-alone.ts';

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
export function parseIbvDevinfo(answer: Answer | undefined): Known<readonly RdmaPort[]> {
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
  const isUnambiguous = new Set(ports.map(({ device }) => device)).size === ports.length;
  return isUnambiguous ? known(ports) : garbled(answer, 'described one device twice');
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
    ...(maxQueuePairs === undefined ? {} : { maxQueuePairs }),
    ...(maxProtectionDomains === undefined ? {} : { maxProtectionDomains }),
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
    gids.push({ index, gid, ...(ipv4 === undefined ? {} : { ipv4 }) });
  }
  return gids.length === [...block.matchAll(/\sGID\[/g)].length ? gids : undefined;
}
