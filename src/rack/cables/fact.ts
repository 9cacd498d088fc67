import type { ThunderboltDevice, ThunderboltPeer, ThunderboltReceptacle } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { allKnown, andThen, type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { speedText } from '../../model/text/units.ts';
import { isName, isUuid, wholeNumber } from '../../node/answers/grammar.ts';
import { asList, asObject, garbled, type JsonObject, readJson, textOf } from '../../node/answers/read-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact } from '../fact.ts';

/** `system_profiler SPThunderboltDataType -json`: buses, receptacles, peers. */
const thunderboltProfile = probe(
  'thunderbolt-profile',
  [tool.systemProfiler, 'SPThunderboltDataType', '-json'],
  20_000,
  524_288,
);

interface Attached {
  readonly peers: readonly ThunderboltPeer[];
  readonly devices: readonly ThunderboltDevice[];
}

/** The protocol with which a Mac announces that RDMA is on. Its name and key are garbage on macOS 26. */
const rdmaProtocol = 64_087;
/** Thunderbolt allows six devices in a chain, so no Mac reports deeper nesting. */
const maxDepth = 8;

/**
 * The Macs and devices on a bus, including those behind hubs: each hub adds one level. `undefined` if an item is neither
 * a Mac (with its own domain UUID) nor a device (with a switch UID).
 */
function attachedTo(bus: JsonObject): Attached | undefined {
  const peers: ThunderboltPeer[] = [];
  const devices: ThunderboltDevice[] = [];
  const walk = (parent: JsonObject, depth: number): boolean => {
    const items = parent['_items'] === undefined ? [] : asList(parent['_items']);
    if (items === undefined || depth > maxDepth) return false;
    return items.every((one) => {
      const item = asObject(one);
      if (item === undefined) return false;
      if (item['domain_uuid_key'] !== undefined) return push(peers, peerOf(item, depth));
      return push(devices, deviceOf(item)) && walk(item, depth + 1);
    });
  };
  return walk(bus, 0) ? { peers, devices } : undefined;
}

function push<T>(list: T[], value: T | undefined): boolean {
  if (value === undefined) return false;
  list.push(value);
  return true;
}

function peerOf(item: JsonObject, hubsBetween: number): ThunderboltPeer | undefined {
  const domainUuid = textOf(item, 'domain_uuid_key') ?? '';
  if (!isUuid(domainUuid)) return undefined;
  const model = nameAt(item, 'device_name_key') ?? 'unknown';
  const name = nameAt(item, '_name') ?? 'unknown';
  return { domainUuid, model, name, advertisesRdma: advertisesRdma(item['services_title']), hubsBetween };
}

/** Strips the blanks that vendors add to a name; undefined if it cannot be shown. Only UUIDs identify a Mac. */
function nameAt(item: JsonObject, key: string): string | undefined {
  const name = textOf(item, key)?.trim();
  return name !== undefined && isName(name) ? name : undefined;
}

/** RDMA counts as absent only if every service could be read. Without a list of services, it is unknown. */
function advertisesRdma(services: unknown): boolean | 'unknown' {
  const protocols = asList(services)?.map((one) => asObject(one)?.['protocol_id_key']);
  if (protocols === undefined) return 'unknown';
  if (protocols.includes(rdmaProtocol)) return true;
  return protocols.length > 0 && protocols.every((one) => typeof one === 'number') ? false : 'unknown';
}

function deviceOf(item: JsonObject): ThunderboltDevice | undefined {
  if (textOf(item, 'switch_uid_key') === undefined) return undefined;
  const name = nameAt(item, '_name') ?? 'unknown';
  const vendor = nameAt(item, 'vendor_name_key');
  const mode = nameAt(item, 'mode_key');
  return { name, ...given({ vendor, mode }) };
}

/**
 * Every receptacle of the node and what it sees, in the tool's order (highest bus first). The number is
 * `receptacle_id_key` inside the tag, because the tag itself is always called `receptacle_1_tag`. An unreadable bus
 * does not make the others unknown as long as its receptacle has a number.
 */
export const thunderboltFact = defineFact({
  name: 'thunderbolt',
  from: [thunderboltProfile],
  parse: ([answer]): Known<readonly ThunderboltReceptacle[]> =>
    andThen(readJson(answer), (json) => {
      const buses = asList(asObject(json)?.['SPThunderboltDataType']);
      if (buses === undefined) return garbled(answer, 'described no Thunderbolt buses');
      // Every Apple silicon Mac has buses, so an empty list cannot be right.
      if (buses.length === 0) return unknown('empty', 'system_profiler listed no Thunderbolt bus.');
      if (buses.some((bus) => textOf(asObject(bus) ?? {}, 'Thunderbolt') === 'no_hardware'))
        return unknown('empty', 'macOS reports no Thunderbolt hardware, as in a virtual machine.');
      return andThen(allKnown(buses.map((bus) => receptacleOf(asObject(bus), answer))), (found) => {
        if (found.every(({ state }) => state === 'unknown')) return garbled(answer, 'described no readable bus');
        return isUnambiguous(found) ? known(found) : garbled(answer, 'named one bus or receptacle twice');
      });
    }),
  text: (receptacles) =>
    receptacles
      .toSorted((a, b) => a.receptacle - b.receptacle)
      .map((one) => `${one.receptacle}  ${busText(one.domainUuid)}  ${contentText(one)}`),
});

/** The first group of a domain UUID is enough to tell buses apart. The JSON output has the whole UUID. */
const busText = (domainUuid = 'unknown'): string => `bus ${domainUuid.split('-')[0] ?? ''}`;

function peerText({ model, domainUuid, advertisesRdma, hubsBetween }: ThunderboltPeer): string {
  const hubs = hubsBetween === 0 ? '' : ` behind ${hubsBetween} ${hubsBetween === 1 ? 'hub' : 'hubs'}`;
  const rdma = advertisesRdma === 'unknown' ? ', RDMA unknown' : advertisesRdma ? ', RDMA' : '';
  return `${model} on ${busText(domainUuid)}${hubs}${rdma}`;
}

function contentText({ state, linkBitsPerSecond, maxBitsPerSecond, peers, devices }: ThunderboltReceptacle): string {
  if (state === 'unknown') return 'unknown, macOS did not describe it';
  if (state === 'empty') {
    return maxBitsPerSecond === undefined ? 'empty' : `empty, up to ${speedText(maxBitsPerSecond)}`;
  }
  const speed = linkBitsPerSecond === undefined ? 'connected' : speedText(linkBitsPerSecond);
  const names = devices.map(({ vendor, name }) => [vendor, name].filter(Boolean).join(' '));
  const quiet = state === 'silent' ? ['nothing answers'] : [];
  return [speed, ...quiet, ...names, ...peers.map(peerText)].join(', ');
}

function isUnambiguous(all: readonly ThunderboltReceptacle[]): boolean {
  const uuids = all.flatMap(({ domainUuid }) => domainUuid ?? []);
  return new Set(uuids).size === uuids.length && new Set(all.map(({ receptacle }) => receptacle)).size === all.length;
}

function receptacleOf(bus: JsonObject | undefined, answer: Answer | undefined): Known<ThunderboltReceptacle> {
  const tag = bus === undefined ? undefined : asObject(bus['receptacle_1_tag']);
  if (bus === undefined || tag === undefined) return garbled(answer, 'described a bus without its receptacle');
  const receptacle = wholeNumber(textOf(tag, 'receptacle_id_key'));
  if (receptacle === undefined || receptacle === 0)
    return garbled(answer, 'described a bus without a receptacle number');
  return known(described(bus, tag, receptacle) ?? unreadable(bus, receptacle));
}

/** For an unreadable bus, only the number of its receptacle is known. */
function unreadable(bus: JsonObject, receptacle: number): ThunderboltReceptacle {
  const name = textOf(bus, '_name') ?? '';
  return { bus: isName(name) ? name : 'unknown', receptacle, state: 'unknown', peers: [], devices: [] };
}

/** Undefined if the name or domain UUID is missing, an item has no known kind, or state or speed is invalid. */
function described(bus: JsonObject, tag: JsonObject, receptacle: number): ThunderboltReceptacle | undefined {
  const name = textOf(bus, '_name') ?? '';
  const domainUuid = textOf(bus, 'domain_uuid_key') ?? '';
  const attached = attachedTo(bus);
  if (!isName(name) || !isUuid(domainUuid) || attached === undefined) return undefined;
  const state = stateOf(tag, attached);
  const speed = state === undefined ? undefined : speedOf(tag, state);
  return state === undefined || speed === undefined
    ? undefined
    : { bus: name, domainUuid, receptacle, state, ...speed, ...attached };
}

/** A connected receptacle without listed items is silent. Listed items contradict an empty receptacle. */
function stateOf(tag: JsonObject, { peers, devices }: Attached): ThunderboltReceptacle['state'] | undefined {
  const hasItems = peers.length + devices.length > 0;
  const status = textOf(tag, 'receptacle_status_key');
  if (status === 'receptacle_connected') return hasItems ? 'connected' : 'silent';
  return status === 'receptacle_no_devices_connected' && !hasItems ? 'empty' : undefined;
}

type Speed = Pick<ThunderboltReceptacle, 'linkBitsPerSecond' | 'maxBitsPerSecond'>;

/**
 * `80 Gb/s` is the speed of a cable, `Up to 120 Gb/s` that of a free receptacle; older macOS adds ` x1`. A cable to a
 * listed item always has a speed. `undefined` if that speed is missing, or if the text is for the other state.
 */
function speedOf(tag: JsonObject, state: ThunderboltReceptacle['state']): Speed | undefined {
  if (tag['current_speed_key'] === undefined) return state === 'connected' ? undefined : {};
  const text = textOf(tag, 'current_speed_key') ?? '';
  const [, upTo, number] = /^(Up to )?(\d{1,4}(?:\.\d)?) Gb\/s(?: x\d)?$/.exec(text) ?? [];
  if (number === undefined || (upTo === undefined) === (state === 'empty')) return undefined;
  const bitsPerSecond = Math.round(Number(number) * 1e9);
  return state === 'empty' ? { maxBitsPerSecond: bitsPerSecond } : { linkBitsPerSecond: bitsPerSecond };
}
