import type { ThunderboltDevice, ThunderboltPeer } from '../model/fact-values.ts';
import { isName, isUuid } from './grammar.ts';
import { asList, asObject, type JsonObject, textOf } from './json-value.ts';

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
  const model = textOf(item, 'device_name_key') ?? '';
  const name = textOf(item, '_name') ?? '';
  if (!isUuid(domainUuid) || !isName(model) || !isName(name)) return undefined;
  return { domainUuid, model, name, advertisesRdma: advertisesRdma(item['services_title']), hubsBetween };
}

/** Absence counts only when every service could be read: a list that is missing says nothing. */
function advertisesRdma(services: unknown): boolean | 'unknown' {
  const protocols = asList(services)?.map((one) => asObject(one)?.['protocol_id_key']);
  if (protocols === undefined) return 'unknown';
  if (protocols.includes(rdmaProtocol)) return true;
  return protocols.length > 0 && protocols.every((one) => typeof one === 'number') ? false : 'unknown';
}

function deviceOf(item: JsonObject): ThunderboltDevice | undefined {
  const name = textOf(item, '_name') ?? '';
  const vendor = textOf(item, 'vendor_name_key');
  const mode = textOf(item, 'mode_key');
  if (textOf(item, 'switch_uid_key') === undefined || !isName(name)) return undefined;
  if (vendor !== undefined && !isName(vendor)) return undefined;
  if (mode !== undefined && !isName(mode)) return undefined;
  return { name, ...(vendor === undefined ? {} : { vendor }), ...(mode === undefined ? {} : { mode }) };
}
