import { jsonObject } from '../model/digest.ts';
import { given } from '../model/given.ts';
import { type LinkEnd, nodeName } from '../model/node.ts';
import { parseLink, parseLinkEnd } from './addresses.ts';
import { replicaName } from './replicas.ts';

/** The usable parts of a runtime in the file. */
export type DraftRuntime = ReturnType<typeof draftRuntime>;

/** The usable parts of a placement in the file, or of its fallback. */
export type DraftPlacement = ReturnType<typeof draftPlacement> & {
  /** Set if {@link draftLayouts} made this from a fallback. */
  readonly isFallback?: true;
  /** The placement in the file, if this is one of its replicas. */
  readonly replicaOf?: DraftPlacement;
};

/** All placements, then the fallback layouts, whose nodes have the same rules; their place is the key `fallback`. */
export const draftLayouts = (placements: readonly DraftPlacement[]): readonly DraftPlacement[] => [
  ...placements,
  ...placements.flatMap((one) => (one.fallback === undefined ? [] : [draftFallback(one, one.fallback)])),
];

function draftFallback(
  { backend, transport, prefill: _, ...rest }: DraftPlacement,
  fallback: NonNullable<DraftPlacement['fallback']>,
): DraftPlacement {
  // A single node has no peers.
  const talk = fallback.nodes.length < 2 ? {} : given({ backend, transport });
  return { ...rest, ...talk, ...fallback, keys: [], endpointPointer: fallback.pointer, isFallback: true };
}

/** The usable parts of a node in the file; its name may be invalid. */
export type DraftNode = ReturnType<typeof draftNode>;

/** One end of a link with its character range in the text of the link. */
export interface DraftEnd extends LinkEnd {
  readonly start: number;
  readonly end: number;
}

/** A well-formed link; its nodes may not exist. */
export interface DraftLink {
  readonly index: number;
  readonly pointer: string;
  readonly text: string;
  readonly ends: readonly [DraftEnd, DraftEnd];
}

/** A receptacle to avoid, on one node or, without `node`, on every node. */
export interface DraftAvoid {
  readonly pointer: string;
  readonly node?: string;
  readonly receptacle: number;
}

/** The usable parts of a cluster file. Rules read them even if the schema finds errors, so that all are reported. */
export type Draft = ReturnType<typeof makeDraft>;

/** The port of an endpoint for which the file sets none. */
export const defaultEndpointPort = 8_080;

/** The schema's limits (`maxProperties`, `maxItems`). The schema refuses a larger file, so the rules skip the rest. */
export const draftLimits = {
  nodes: 256,
  links: 1_024,
  avoid: 1_024,
  pdus: 16,
  runtimes: 64,
  models: 256,
  placements: 64,
  words: 256,
  files: 2_048,
  members: 16,
} as const;

/** Makes a draft of any file; never fails. */
export function makeDraft(root: unknown, raw: RawText) {
  const file: Spot = { value: root, pointer: '', raw };
  const links = below(file, 'thunderbolt', 'links');
  const read = items(links, draftLimits.links).flatMap(draftLink);
  const pool = below(file, 'thunderbolt', 'addressing', 'pool');
  const system = below(file, 'system');
  const sshPort = numberOf(below(file, 'ssh', 'port'));
  return {
    nodes: entries(file, 'nodes', draftLimits.nodes).map((node) => draftNode(node, sshPort)),
    pdus: entries(file, 'pdus', draftLimits.pdus).map(draftPdu),
    pduNames: namesIn(file, 'pdus'),
    updates: draftUpdates(below(file, 'macos', 'updates')),
    /** All node names in the file, including those beyond the limits. The same applies to all other names. */
    nodeNames: namesIn(file, 'nodes'),
    links: read,
    /** True if every link in the list is usable. */
    hasAllLinks: read.length === list(links).length,
    avoid: items(below(file, 'thunderbolt', 'avoid'), draftLimits.avoid).flatMap(draftAvoid),
    gatewayKeys: keysIn(below(file, 'gateway')),
    /** The first word of each secret source that is a command. */
    secretPrograms: secretPrograms(file),
    runtimes: entries(file, 'runtimes', draftLimits.runtimes).map(draftRuntime),
    models: draftModels(file),
    /** Set if the mirror uses HTTP although the file does not allow it. */
    ...given({ refusedMirror: refusedMirror(file) }),
    placements: entries(file, 'placements', draftLimits.placements).map(draftPlacement).flatMap(draftReplicas),
    /** True if the file has a pool, valid or not. */
    hasPool: pool.value !== undefined,
    runtimeNames: namesIn(file, 'runtimes'),
    modelNames: namesIn(file, 'models'),
    /** The accounts that the file sets for ranks, gateway and model transfers. */
    accounts: given({
      ranks: textOf(below(system, 'accounts', 'ranks')),
      gateway: textOf(below(system, 'accounts', 'gateway')),
      transfers: textOf(below(system, 'accounts', 'transfers')),
    }),
    /** Every SSH user in the file. */
    users: [below(file, 'ssh'), ...entries(file, 'nodes')].flatMap((one) => wordOf(below(one, 'user')) ?? []),
    ...given({
      version: textOf(below(file, 'macos', 'version')),
      accept: textOf(below(file, 'macos', 'accept')),
      wiredLimit: textOf(below(system, 'wiredLimit')),
      fileVault: textOf(below(system, 'fileVault')),
      automaticLogin: textOf(below(system, 'automaticLogin')),
      pool: textOf(pool),
      via: textOf(below(file, 'downloads', 'via')),
    }),
  };
}

function draftRuntime(spot: Entry) {
  return {
    name: spot.name,
    pointer: spot.pointer,
    keys: keysIn(spot),
    /** The words of the command lines that are texts, with their places. */
    command: wordsIn(spot, 'command'),
    leader: wordsIn(spot, 'leader'),
    follower: wordsIn(spot, 'follower'),
    prefill: texts(below(spot, 'roles', 'prefill'), draftLimits.words),
    prepare: wordsIn(spot, 'prepare'),
    env: values(below(spot, 'env')),
    /** All ports in `joined`. */
    joined: values(below(spot, 'joined')),
    ...given({
      driver: textOf(below(spot, 'driver')),
      version: textOf(below(spot, 'version')),
      source: textOf(below(spot, 'source')),
      order: textOf(below(spot, 'order')),
      meeting: textOf(below(spot, 'joined', 'meeting')),
    }),
  };
}

const isHttpAllowed = (file: Spot): boolean => below(file, 'downloads', 'plainHttp').value === 'allowed';

function refusedMirror(file: Spot): DraftText | undefined {
  const mirror = textOf(below(file, 'downloads', 'mirror'));
  return mirror?.isText === true && mirror.text.startsWith('http:') && !isHttpAllowed(file) ? mirror : undefined;
}

function draftModels(file: Spot) {
  return entries(file, 'models', draftLimits.models).map((spot) => {
    const source = textOf(below(spot, 'source'));
    const files = below(spot, 'files');
    return {
      name: spot.name,
      pointer: spot.pointer,
      hasFiles: files.value !== undefined,
      hasInclude: below(spot, 'include').value !== undefined,
      /** True if the source uses HTTP although the file does not allow it. */
      isRefusedHttp: !isHttpAllowed(file) && source?.isText === true && source.text.startsWith('http:'),
      paths: keysIn(files, draftLimits.files),
      ...given({ source }),
    };
  });
}

/** One placement per node for a placement with `replicas`, otherwise the placement itself. */
function draftReplicas(placement: DraftPlacement): readonly DraftPlacement[] {
  const { name, nodes, fallback: _, shareCount: __, prefill: ___, ...rest } = placement;
  if (!rest.keys.includes('replicas')) return [placement];
  const isFirst = ({ text }: DraftText, at: number): boolean => nodes.findIndex((one) => one.text === text) === at;
  return nodes.filter(isFirst).map((node) => ({
    ...rest,
    name: replicaName(name, node.text),
    nodes: [node],
    servedName: rest.servedName ?? name,
    replicaOf: placement,
  }));
}

function draftPlacement(spot: Entry) {
  const { name, pointer } = spot;
  const text = (key: string): DraftText | undefined => textOf(below(spot, key));
  const endpoint = below(spot, 'endpoint');
  const port = below(endpoint, 'port');
  const { value: shares } = below(spot, 'shares');
  const fallback = below(spot, 'fallback');
  const members = membersIn(fallback);
  return {
    name,
    pointer,
    keys: keysIn(spot),
    env: values(below(spot, 'env')),
    ...membersIn(spot),
    hasSharding: below(spot, 'sharding').value !== undefined,
    /** The place of the port, or of the placement if the port is the default. */
    endpointPointer: port.value === undefined ? pointer : port.pointer,
    endpointKeys: keysIn(endpoint),
    /** The sources in a list of API keys, in a form that is compared but never shown. */
    keySources: items(below(endpoint, 'apiKey'), mostKeys).map(({ value }) => JSON.stringify(value)),
    isPublished: below(endpoint, 'listen').value === 'lan',
    isOpenToAnybody: below(endpoint, 'access').value === 'anybody',
    ...given({
      servedName: wordOf(below(endpoint, 'servedName')),
      model: text('model'),
      drafter: text('drafter'),
      runtime: text('runtime'),
      sharding: text('sharding'),
      /** The number of shares; undefined if the file has no list of shares. */
      shareCount: Array.isArray(shares) ? shares.length : undefined,
      transport: text('transport'),
      backend: text('backend'),
      /** The node with the role prefill. */
      prefill: textOf(below(spot, 'roles', 'prefill')),
      /** The endpoint's port or the default port; undefined if the file's value is not a number. */
      endpointPort: numberOf({ ...port, value: port.value ?? defaultEndpointPort }),
      fallback: members.nodes.length === 0 ? undefined : { pointer: fallback.pointer, ...members },
    }),
  };
}

/** The nodes that are texts, in rank order, and a flag that is set if every entry of the list is usable. */
function membersIn(spot: Spot) {
  const all = below(spot, 'nodes');
  const nodes = texts(all, draftLimits.members);
  return { nodes, hasAllNodes: nodes.length === list(all).length };
}

function draftNode(spot: Entry, sshPort: number | undefined) {
  return {
    name: spot.name,
    pointer: spot.pointer,
    ...given({
      host: textOf(below(spot, 'host')),
      port: numberOf(below(spot, 'port')) ?? sshPort,
      model: textOf(below(spot, 'hardware', 'model')),
      memory: textOf(below(spot, 'hardware', 'memory')),
      outlet: textOf(below(spot, 'outlet')),
    }),
  };
}

/** Who installs macOS updates, and with which command. */
const draftUpdates = (spot: Spot) => ({
  commandPointer: pointerTo(spot.pointer, 'command'),
  command: wordsIn(spot, 'command'),
  ...given({ driver: textOf(below(spot, 'driver')) }),
});

/** The usable commands of a PDU. */
const draftPdu = (spot: Entry) => ({
  name: spot.name,
  pointer: spot.pointer,
  commands: ['powerOn', 'powerOff', 'powerState'].flatMap((key) => {
    const words = wordsIn(spot, key);
    return words.length === 0 ? [] : [{ pointer: pointerTo(spot.pointer, key), words }];
  }),
});

function draftLink({ value, pointer }: Spot, index: number): readonly DraftLink[] {
  const ends = typeof value === 'string' ? parseLink(value) : undefined;
  if (typeof value !== 'string' || ends === undefined) return [];
  const second = value.lastIndexOf('>') + 1;
  const start = second + (value.slice(second).length - value.slice(second).trimStart().length);
  const [from, to] = ends;
  const firstEnd = { ...from, start: 0, end: value.slice(0, value.indexOf('<->')).trimEnd().length };
  return [{ index, pointer, text: value, ends: [firstEnd, { ...to, start, end: value.length }] }];
}

function draftAvoid({ value, pointer }: Spot): readonly DraftAvoid[] {
  if (typeof value === 'number') return [{ pointer, receptacle: value }];
  const end = typeof value === 'string' ? parseLinkEnd(value) : undefined;
  return end === undefined ? [] : [{ pointer, ...end }];
}

function secretPrograms(file: Spot): readonly DraftText[] {
  const keys = entries(file, 'placements').flatMap((placement) => {
    const key = below(placement, 'endpoint', 'apiKey');
    return Array.isArray(key.value) ? items(key) : [key];
  });
  const passwords = [below(file, 'ssh'), ...entries(file, 'nodes')].map((one) => below(one, 'password'));
  return [...passwords, ...keys].flatMap((one) => {
    const [first] = items(below(one, 'command'));
    return (first && textOf(first)) ?? [];
  });
}

export const draftNodesByName = (draft: Draft): ReadonlyMap<string, DraftNode> =>
  new Map(draft.nodes.map((node) => [nodeName(node.name), node]));

/** A scalar of the file with its place. */
export interface DraftText {
  readonly pointer: string;
  /** The value as text; for a number, its source text. */
  readonly text: string;
  readonly isText: boolean;
}

/** Returns a scalar's source text by its JSON pointer. */
type RawText = (pointer: string) => string | undefined;

/** Any value of the file with its place. */
interface Spot {
  readonly value: unknown;
  readonly pointer: string;
  readonly raw: RawText;
}

interface Entry extends Spot {
  readonly name: string;
}

/** The JSON pointer to a key or index below another pointer (RFC 6901). */
export const pointerTo = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

const record = ({ value }: Spot): Readonly<Record<string, unknown>> => jsonObject(value) ?? {};

const list = ({ value }: Spot): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the value below these keys; undefined if one of them is not an own property. */
const below = (spot: Spot, ...keys: readonly string[]): Spot =>
  keys.reduce((at, key) => {
    const map = record(at);
    const value = Object.hasOwn(map, key) ? map[key] : undefined;
    return { value, pointer: pointerTo(at.pointer, key), raw: at.raw };
  }, spot);

const items = (spot: Spot, most?: number): readonly Spot[] =>
  list(spot)
    .slice(0, most)
    .map((value, index) => ({ ...spot, value, pointer: `${spot.pointer}/${index}` }));

const entries = (file: Spot, section: string, most = Number.POSITIVE_INFINITY): readonly Entry[] =>
  keysIn(below(file, section), most).map((name) => ({ ...below(file, section, name), name }));

/** All names in a section, including those beyond the limits. */
const namesIn = (file: Spot, section: string): ReadonlySet<string> =>
  new Set(Object.keys(record(below(file, section))));

/** Every section has fewer keys than this. */
const mostKeys = 64;

const keysIn = (spot: Spot, most = mostKeys): readonly string[] => Object.keys(record(spot)).slice(0, most);

const texts = (spot: Spot, most: number): readonly DraftText[] =>
  items(spot, most).flatMap((item) => (typeof item.value === 'string' ? (textOf(item) ?? []) : []));

const wordsIn = (spot: Spot, key: string): readonly DraftText[] => texts(below(spot, key), draftLimits.words);

/** The values of a map that are texts, with their places. */
const values = (map: Spot): readonly DraftText[] =>
  keysIn(map).flatMap((key) => {
    const one = below(map, key);
    return typeof one.value === 'string' ? (textOf(one) ?? []) : [];
  });

const numberOf = ({ value }: Spot): number | undefined => (typeof value === 'number' ? value : undefined);

const wordOf = ({ value }: Spot): string | undefined => (typeof value === 'string' ? value : undefined);

/** Returns a text or a number with its place; undefined for any other value. */
function textOf({ value, pointer, raw }: Spot): DraftText | undefined {
  if (typeof value === 'string') return { pointer, text: value, isText: true };
  return typeof value === 'number' ? { pointer, text: raw(pointer) ?? String(value), isText: false } : undefined;
}
