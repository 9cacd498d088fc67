import { parsedJson } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { asList, asObject, type JsonObject, textOf } from '../../node/answers/read-answer.ts';

/** An instance in exo's state. Only the instance's own tags count, because labels next to it can contradict them. */
export interface ExoInstance {
  readonly id: string;
  /** `MlxRingInstance` or `MlxJacclInstance`. */
  readonly tag: string;
  readonly modelId: string;
  /** Tags of all shards: `TensorShardMetadata` or `PipelineShardMetadata`. */
  readonly shardTags: readonly string[];
  /** Runner ids by exo's node id. */
  readonly runnerByNode: Readonly<Record<string, string>>;
  /** Addresses at which each node of a TCP ring reaches its neighbors; empty for RDMA, or if unreadable. */
  readonly ring: readonly RingHost[];
}

/** The address at which one node of a ring reaches another, with exo's node ids. */
export interface RingHost {
  readonly from: string;
  readonly to: string;
  readonly ip: string;
}

export type RunnerState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'loading'; readonly layers: number; readonly of: number }
  | { readonly kind: 'warming' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ended' };

/** The nodes that exo counts as alive, and their connections. */
export interface ExoTopology {
  readonly nodes: readonly string[];
  /** `<from> <to>` of every connection over IP or RDMA. */
  readonly sockets: ReadonlySet<string>;
  readonly rdma: ReadonlySet<string>;
}

/** The part of `GET /state` that a placement depends on. */
export interface ExoState {
  readonly topology: ExoTopology;
  readonly instances: readonly ExoInstance[];
  readonly runners: Readonly<Record<string, RunnerState>>;
  /** Nodes that reported their memory. */
  readonly measured: readonly string[];
  /** All nodes, including former ones: exo never forgets an identity (issue 2194). */
  readonly identities: readonly string[];
  /** Failed downloads with exo's message. */
  readonly failedDownloads: readonly { readonly node: string; readonly modelId: string; readonly message: string }[];
  /** Number of events in this session; a new master starts from 0. */
  readonly eventIndex: number;
}

/** One entry of `GET /instance/previews`. */
export interface ExoPreview {
  readonly sharding: string;
  readonly meta: string;
  readonly instance?: ExoInstance;
  /** The instance exactly as received, for posting it. */
  readonly verbatim?: unknown;
  readonly error?: string;
}

/** exo's node id: 32 hexadecimal digits, or a libp2p peer id in release 1.0.71. */
export function parseNodeId(body: string): string | undefined {
  const id = parsedJson(body);
  return typeof id === 'string' && /^[0-9A-Za-z-]{16,128}$/.test(id) ? id : undefined;
}

/** Reads a union as exo writes it: an object with one key, the tag. */
function tagged(value: unknown): { readonly tag: string; readonly of: JsonObject } | undefined {
  const [entry, ...others] = Object.entries(asObject(value) ?? {});
  const of = asObject(entry?.[1]);
  return entry === undefined || of === undefined || others.length > 0 ? undefined : { tag: entry[0], of };
}

/** An object with all its values parsed; `undefined` if one is invalid. */
function each<T>(
  object: JsonObject | undefined,
  parse: (value: unknown) => T | undefined,
): Readonly<Record<string, T>> | undefined {
  const values = object && all(Object.values(object), parse);
  return values && Object.fromEntries(Object.keys(object).flatMap((key, at) => [[key, values[at] as T]]));
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** All values parsed; `undefined` if one is invalid. */
function all<T>(values: readonly unknown[], parse: (value: unknown) => T | undefined): readonly T[] | undefined {
  const parsed = values.map(parse);
  return parsed.every((one) => one !== undefined) ? (parsed as readonly T[]) : undefined;
}

const objectAt = (object: JsonObject, key: string): JsonObject | undefined =>
  Object.hasOwn(object, key) ? asObject(object[key]) : undefined;

/** An instance of either dialect; other keys are ignored. */
function parseInstance(value: unknown): ExoInstance | undefined {
  const instance = tagged(value);
  const id = instance && textOf(instance.of, 'instanceId');
  const shards = instance && objectAt(instance.of, 'shardAssignments');
  const modelId = shards && textOf(shards, 'modelId');
  const shardTags = shards && each(objectAt(shards, 'runnerToShard'), (shard) => tagged(shard)?.tag);
  const runnerByNode = shards && each(objectAt(shards, 'nodeToRunner'), textIn);
  if (instance === undefined || id === undefined || modelId === undefined || !isId(id)) return undefined;
  if (shardTags === undefined || runnerByNode === undefined) return undefined;
  const ring = ringHosts(objectAt(instance.of, 'hostsByNode') ?? {});
  return { id, tag: instance.tag, modelId, shardTags: Object.values(shardTags), runnerByNode, ring };
}

/**
 * Each node lists all nodes in the same order: itself as 0.0.0.0, and nodes that are not its neighbors with port 0. If no
 * node lists itself at a place, the place belongs to the node whose list has that position.
 * @see exo issues 2309 and 2310 for lists with an address at the node's own place
 */
function ringHosts(hostsByNode: JsonObject): readonly RingHost[] {
  const lists = Object.entries(hostsByNode).map(([node, hosts]) => ({
    node,
    hosts: (asList(hosts) ?? []).map((host) => asObject(host) ?? {}),
  }));
  const isOwn = (host: JsonObject = {}): boolean => textOf(host, 'ip') === '0.0.0.0';
  const nodeAt = (at: number): string | undefined =>
    (lists.find(({ hosts }) => isOwn(hosts[at])) ?? lists.find(({ hosts }, own) => own === at && !hosts.some(isOwn)))
      ?.node;
  return lists.flatMap(({ node, hosts }) =>
    hosts.flatMap((host, at) => {
      const [to, ip] = [nodeAt(at), textOf(host, 'ip')];
      return to === undefined || to === node || ip === undefined || host['port'] === 0 ? [] : [{ from: node, to, ip }];
    }),
  );
}

/** An id that is safe in the path of a request. */
const isId = (text: string): boolean => /^[0-9A-Za-z-]{1,128}$/.test(text);

const numberAt = (object: JsonObject, key: string): number => {
  const value = object[key];
  return typeof value === 'number' ? value : 0;
};

/** A runner in an unknown state counts as connecting. */
function parseRunner(value: unknown): RunnerState | undefined {
  const state = tagged(value);
  if (state === undefined) return undefined;
  switch (state.tag) {
    case 'RunnerLoading':
      return { kind: 'loading', layers: numberAt(state.of, 'layersLoaded'), of: numberAt(state.of, 'totalLayers') };
    case 'RunnerLoaded':
    case 'RunnerWarmingUp':
      return { kind: 'warming' };
    case 'RunnerReady':
    case 'RunnerRunning':
      return { kind: 'ready' };
    case 'RunnerFailed':
      return { kind: 'failed', message: textOf(state.of, 'errorMessage') ?? 'no message' };
    case 'RunnerShuttingDown':
    case 'RunnerShutdown':
      return { kind: 'ended' };
    default:
      return { kind: 'connecting' };
  }
}

function parseTopology(value: unknown): ExoTopology | undefined {
  const topology = asObject(value);
  const nodes = all(asList(topology?.['nodes']) ?? [], textIn);
  const connections = topology && objectAt(topology, 'connections');
  if (nodes === undefined || connections === undefined || !Array.isArray(topology?.['nodes'])) return undefined;
  const edges = Object.entries(connections).flatMap(([from, ends]) =>
    Object.entries(asObject(ends) ?? {}).flatMap(([to, ways]) =>
      (asList(ways) ?? []).map((way) => ({ key: `${from} ${to}`, way: asObject(way) ?? {} })),
    ),
  );
  const keysWith = (name: string): ReadonlySet<string> =>
    new Set(edges.filter(({ way }) => Object.hasOwn(way, name)).map(({ key }) => key));
  return { nodes, sockets: keysWith('sinkMultiaddr'), rdma: keysWith('sourceRdmaIface') };
}

function failedDownloads(downloads: JsonObject): ExoState['failedDownloads'] {
  return Object.entries(downloads).flatMap(([node, entries]) =>
    (asList(entries) ?? []).flatMap((entry) => {
      const download = tagged(entry);
      if (download?.tag !== 'DownloadFailed') return [];
      const shard = tagged(download.of['shardMetadata']);
      const card = shard && objectAt(shard.of, 'modelCard');
      const modelId = (card && textOf(card, 'modelId')) ?? '';
      return [{ node, modelId, message: textOf(download.of, 'errorMessage') ?? 'no message' }];
    }),
  );
}

/** `GET /state` of either dialect; `undefined` if invalid. */
export function parseState(body: string): ExoState | undefined {
  const state = asObject(parsedJson(body));
  if (state === undefined) return undefined;
  const topology = parseTopology(state['topology']);
  const instances = each(objectAt(state, 'instances'), parseInstance);
  const runners = each(objectAt(state, 'runners'), parseRunner);
  if (topology === undefined || instances === undefined || runners === undefined) return undefined;
  return {
    topology,
    instances: Object.values(instances),
    runners,
    measured: Object.keys(objectAt(state, 'nodeMemory') ?? {}),
    identities: Object.keys(objectAt(state, 'nodeIdentities') ?? {}),
    failedDownloads: failedDownloads(objectAt(state, 'downloads') ?? {}),
    eventIndex: numberAt(state, 'lastEventAppliedIdx'),
  };
}

function parsePreview(value: unknown): ExoPreview | undefined {
  const preview = asObject(value);
  const sharding = preview && textOf(preview, 'sharding');
  const meta = preview && textOf(preview, 'instance_meta');
  if (preview === undefined || sharding === undefined || meta === undefined) return undefined;
  const verbatim = preview['instance'] ?? undefined;
  const instance = verbatim === undefined ? undefined : parseInstance(verbatim);
  if (verbatim !== undefined && instance === undefined) return undefined;
  const error = textOf(preview, 'error');
  return { sharding, meta, ...(instance === undefined ? {} : { instance, verbatim }), ...given({ error }) };
}

/** `GET /instance/previews`; one invalid entry invalidates the whole response. */
export function parsePreviews(body: string): readonly ExoPreview[] | undefined {
  const list = asList(asObject(parsedJson(body))?.['previews']);
  return list && all(list, parsePreview);
}

/** Ids of `GET /models`. */
export function parseModelIds(body: string): readonly string[] | undefined {
  const list = asList(asObject(parsedJson(body))?.['data']);
  return list && all(list, (model) => textOf(asObject(model) ?? {}, 'id'));
}

/** exo's reason for rejecting a request: its `error.message`, or the fields that FastAPI rejects. */
export function refusalText(body: string): string {
  const answer = asObject(parsedJson(body));
  const message = answer && textOf(objectAt(answer, 'error') ?? {}, 'message');
  if (message !== undefined) return message;
  const fields = (asList(answer?.['detail']) ?? []).map((one) => {
    const detail = asObject(one) ?? {};
    return `${(asList(detail['loc']) ?? []).join('.')}: ${textOf(detail, 'msg') ?? ''}`;
  });
  return fields.length === 0 ? 'no reason given' : fields.join('; ');
}
