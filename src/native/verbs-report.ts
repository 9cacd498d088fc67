import { parsedJson } from '../model/digest.ts';
import { given } from '../model/given.ts';
import { type Known, known, type UnknownReason, unknown } from '../model/known.ts';
import { loadNative } from './load-native.ts';

/** An entry of a port's GID table. */
export interface VerbsGid {
  readonly index: number;
  /** In the notation of an IPv6 address. */
  readonly gid: string;
  /** The IPv4 address, if the GID contains one. */
  readonly ipv4?: string;
}

/** A port, as described by the verbs library. */
export interface VerbsPort {
  readonly port: number;
  readonly state: 'active' | 'down' | 'other';
  readonly stateCode: number;
  readonly maxMtuBytes: number;
  readonly activeMtuBytes: number;
  readonly linkLayerCode: number;
  readonly activeWidthCode: number;
  readonly activeSpeedCode: number;
  readonly gidTableLength: number;
  /** The entries of the GID table that are not empty. */
  readonly gids: readonly VerbsGid[];
  /** The index of the first GID that contains an IPv4 address. */
  readonly mappedGidIndex?: number;
}

/** The limits and ports of a device that the verbs library could open. */
export interface VerbsDeviceDetails {
  readonly nodeGuid: string;
  readonly maxQueuePairs: number;
  readonly maxCompletionQueues: number;
  readonly maxProtectionDomains: number;
  readonly maxMemoryRegions: number;
  readonly ports: readonly VerbsPort[];
}

/** A device, as listed by the verbs library. */
export interface VerbsDevice {
  /** Absent if the library gave no valid name. */
  readonly name?: string;
  readonly guid: string;
  readonly transportCode?: number;
  readonly details: Known<VerbsDeviceDetails>;
}

/** The RDMA devices of this computer, and the library that listed them. */
export interface VerbsReport {
  readonly library: string;
  readonly devices: readonly VerbsDevice[];
}

/** Each word of the native probe for an unknown value, and ours. */
const reasons = {
  'no-library': 'tool-missing',
  'no-symbol': 'tool-missing',
  failed: 'failed',
  garbled: 'garbled',
} as const satisfies Record<string, UnknownReason>;

/** Replaces a value that the native probe does not know. */
interface Missing {
  readonly unknown: keyof typeof reasons;
  readonly detail: string;
}

type PrintedDevice = Omit<VerbsDevice, 'name' | 'details'> & { readonly device?: string } & (
    | VerbsDeviceDetails
    | Missing
  );

/** The fields of an object, none of which is checked yet. */
const fieldsOf = <T>(value: unknown): { readonly [Key in keyof T]?: unknown } =>
  typeof value === 'object' && value !== null ? value : {};

const isText = (value: unknown): boolean => typeof value === 'string';
const isTextOrAbsent = (value: unknown): boolean => value === undefined || isText(value);
const isNumberOrAbsent = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value);
const areNumbers = (...values: readonly unknown[]): boolean => values.every(Number.isSafeInteger);
const isListOf = <T>(values: unknown, isItem: (value: unknown) => value is T): values is readonly T[] =>
  Array.isArray(values) && values.every(isItem);

function isMissing(value: unknown): value is Missing {
  const one = fieldsOf<Missing>(value);
  return typeof one.unknown === 'string' && Object.hasOwn(reasons, one.unknown) && isText(one.detail);
}

function isGid(value: unknown): value is VerbsGid {
  const one = fieldsOf<VerbsGid>(value);
  return areNumbers(one.index) && isText(one.gid) && isTextOrAbsent(one.ipv4);
}

function isPort(value: unknown): value is VerbsPort {
  const one = fieldsOf<VerbsPort>(value);
  return (
    ['active', 'down', 'other'].some((state) => state === one.state) &&
    areNumbers(one.port, one.stateCode, one.maxMtuBytes, one.activeMtuBytes, one.gidTableLength) &&
    areNumbers(one.linkLayerCode, one.activeWidthCode, one.activeSpeedCode) &&
    isNumberOrAbsent(one.mappedGidIndex) &&
    isListOf(one.gids, isGid)
  );
}

function areDetails(value: unknown): value is VerbsDeviceDetails {
  const one = fieldsOf<VerbsDeviceDetails>(value);
  return (
    isText(one.nodeGuid) &&
    areNumbers(one.maxQueuePairs, one.maxCompletionQueues, one.maxProtectionDomains, one.maxMemoryRegions) &&
    isListOf(one.ports, isPort)
  );
}

function isPrintedDevice(value: unknown): value is PrintedDevice {
  const one = fieldsOf<PrintedDevice>(value);
  const isNamed = isTextOrAbsent(one.device) && isText(one.guid) && isNumberOrAbsent(one.transportCode);
  return isNamed && (isMissing(value) || areDetails(value));
}

const reasonOf = ({ unknown: word, detail }: Missing): Known<never> => unknown(reasons[word], detail);

const deviceOf = ({ device, guid, transportCode, ...details }: PrintedDevice): VerbsDevice => ({
  ...given({ name: device, transportCode }),
  guid,
  details: isMissing(details) ? reasonOf(details) : known(details),
});

/** The report in the JSON that the native probe prints. Any other text is garbled. */
export function readVerbsReport(text: string): Known<VerbsReport> {
  const printed = parsedJson(text);
  if (printed === undefined) return unknown('garbled', 'The native probe printed invalid JSON.');
  if (isMissing(printed)) return reasonOf(printed);
  const { library, value } = fieldsOf<{ library: string; value: readonly PrintedDevice[] }>(printed);
  if (typeof library !== 'string' || !isListOf(value, isPrintedDevice))
    return unknown('garbled', 'The native probe printed a different JSON document.');
  return known({ library, devices: value.map(deviceOf) });
}

/**
 * Reads the RDMA devices of this computer from the verbs library, which only the native addon can call. Opens no
 * protection domain and no queue pair. Without the addon, the report is unknown.
 */
export async function probeVerbs(loaded = loadNative()): Promise<Known<VerbsReport>> {
  if (loaded.addon === undefined) return unknown('tool-missing', loaded.reason);
  try {
    return readVerbsReport(await loaded.addon.probe());
  } catch (error) {
    return unknown('failed', `The native addon failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
