import type { ThunderboltDevice, ThunderboltPeer } from '../../model/facts/fact-values.ts';
import { isName, isUuid } from '../../node/answers/grammar.ts';
import { asList, asObject, type JsonObject, textOf } from '../../node/answers/read-answer.ts';

/** What hangs on one bus. */
export interface Attached {
  readonly peers: readonly ThunderboltPeer[];
  readonly devices: readonly ThunderboltDevice[];
}

/** The protocol by which a Mac with RDMA switched on announces it. Its name and key are garbage on macOS 26. */
const rdmaProtocol = 64_087;
/** Thunderbolt allows six devices in a chain; deeper nesting is no Mac's. */
const maxDepth = 8;

/**
 * The Macs and devices on a bus, hubs walked through: a Mac behind a hub stands one level deeper. `undefined` when an
 * item is neither a Mac (a domain UUID of its own) nor a device (a switch UID).
 */
export function attachedTo(bus: JsonObject): Attached | undefined {
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

/** A name without the blanks that vendors put around it; undefined when none can be shown. Only UUIDs identify. */
function nameAt(item: JsonObject, key: string): string | undefined {
  const name = textOf(item, key)?.trim();
  return name !== undefined && isName(name) ? name : undefined;
}

/** Absence counts only when every service could be read: a list that is missing says nothing. */
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
  return { name, ...(vendor === undefined ? {} : { vendor }), ...(mode === undefined ? {} : { mode }) };
}
