/** A runtime of the file as far as it can be judged. */
export interface DraftRuntime {
  readonly name: string;
  readonly pointer: string;
  readonly driver?: DraftText;
  /** The keys that it has. */
  readonly keys: readonly string[];
  /** Words that are texts, with their places. */
  readonly command: readonly DraftText[];
  readonly listening?: DraftText;
}

/** A model of the file as far as it can be judged. */
export interface DraftModel {
  readonly name: string;
  readonly pointer: string;
  readonly source?: DraftText;
  readonly hasFiles: boolean;
  /** Whether it comes by http, which the file does not allow. */
  readonly isRefusedHttp: boolean;
  /** The keys of `files`. */
  readonly paths: readonly string[];
}

/** A placement of the file as far as it can be judged. */
export interface DraftPlacement {
  readonly name: string;
  readonly pointer: string;
  /** The keys that it has. */
  readonly keys: readonly string[];
  readonly model?: DraftText;
  readonly runtime?: DraftText;
  /** Nodes that are texts, in rank order. */
  readonly nodes: readonly DraftText[];
  /** Whether every entry of the list is among them. */
  readonly hasAllNodes: boolean;
  readonly hasSharding: boolean;
  readonly sharding?: DraftText;
  /** How many shares it has; undefined without that key, or when it is no list. */
  readonly shareCount?: number;
  readonly transport?: DraftText;
  readonly backend?: DraftText;
  /** Of the endpoint, its default included; undefined when it is no number. */
  readonly endpointPort?: number;
  /** Where that port stands, or the placement when it is the default. */
  readonly endpointPointer: string;
  /** The keys of its endpoint. */
  readonly endpointKeys: readonly string[];
  /** Of a list of sources of its keys: each in a form that is compared and never shown. */
  readonly keySources: readonly string[];
  readonly isPublished: boolean;
  readonly isOpenToAnybody: boolean;
  readonly servedName?: string;
  /** Where else it may run. */
  readonly fallback?: Pick<DraftPlacement, 'pointer' | 'nodes' | 'hasAllNodes'>;
  /** Set for what {@link draftLayouts} makes of a fallback. */
  readonly isFallback?: true;
}

/**
 * Every placement, and then each that has a fallback once more as it would run there, at the place of that key: what
 * its nodes have to be, those of the fallback have to be as well.
 */
export const draftLayouts = (placements: readonly DraftPlacement[]): readonly DraftPlacement[] => [
  ...placements,
  ...placements.flatMap((one) => (one.fallback === undefined ? [] : [draftFallback(one, one.fallback)])),
];

function draftFallback(
  { backend, transport, ...rest }: DraftPlacement,
  fallback: NonNullable<DraftPlacement['fallback']>,
): DraftPlacement {
  // One node alone talks to nobody.
  const talk =
    fallback.nodes.length < 2 ? {} : { ...optional('backend', backend), ...optional('transport', transport) };
  return { ...rest, ...talk, ...fallback, keys: [], endpointPointer: fallback.pointer, isFallback: true };
}

/** How much of these sections is judged: what the schema allows. */
export const placementLimits = {
  runtimes: 64,
  models: 256,
  placements: 64,
  words: 256,
  files: 2_048,
  members: 16,
} as const;

/** More keys than any section has. */
const mostKeys = 64;

/** The endpoint of a placement that does not say its port. */
export const defaultEndpointPort = 8_080;

/** The runtimes of whatever a file holds. */
export const draftRuntimes = (root: unknown, raw: RawText): readonly DraftRuntime[] =>
  entriesOf(root, 'runtimes', placementLimits.runtimes).map(([name, value, pointer]) => ({
    name,
    pointer,
    keys: Object.keys(record(value)).slice(0, mostKeys),
    ...optional('driver', textOf(member(value, 'driver'), `${pointer}/driver`, raw)),
    command: texts(member(value, 'command'), `${pointer}/command`, placementLimits.words),
    ...optional('listening', textOf(member(member(value, 'joined'), 'listening'), `${pointer}/joined/listening`, raw)),
  }));

/** The models of whatever a file holds. */
export function draftModels(root: unknown, raw: RawText): readonly DraftModel[] {
  const isHttpAllowed = member(member(root, 'downloads'), 'plainHttp') === 'allowed';
  return entriesOf(root, 'models', placementLimits.models).map(([name, value, pointer]) => {
    const source = textOf(member(value, 'source'), `${pointer}/source`, raw);
    return {
      name,
      pointer,
      hasFiles: member(value, 'files') !== undefined,
      isRefusedHttp: !isHttpAllowed && source?.isText === true && source.text.startsWith('http:'),
      paths: Object.keys(record(member(value, 'files'))).slice(0, placementLimits.files),
      ...optional('source', source),
    };
  });
}

/** The placements of whatever a file holds. */
export const draftPlacements = (root: unknown, raw: RawText): readonly DraftPlacement[] =>
  entriesOf(root, 'placements', placementLimits.placements).map(([name, value, pointer]) => {
    const text = (key: string): DraftText | undefined => textOf(member(value, key), `${pointer}/${key}`, raw);
    const endpoint = member(value, 'endpoint');
    const port = member(endpoint, 'port') ?? defaultEndpointPort;
    const hasPort = member(endpoint, 'port') !== undefined;
    const servedName = member(endpoint, 'servedName');
    const nodes = texts(member(value, 'nodes'), `${pointer}/nodes`, placementLimits.members);
    return {
      name,
      pointer,
      keys: Object.keys(record(value)).slice(0, mostKeys),
      nodes,
      hasAllNodes: nodes.length === list(member(value, 'nodes')).length,
      hasSharding: member(value, 'sharding') !== undefined,
      endpointPointer: hasPort ? `${pointer}/endpoint/port` : pointer,
      endpointKeys: Object.keys(record(endpoint)).slice(0, mostKeys),
      keySources: list(member(endpoint, 'apiKey'))
        .slice(0, mostKeys)
        .map((one) => JSON.stringify(one)),
      isPublished: member(endpoint, 'listen') === 'lan',
      isOpenToAnybody: member(endpoint, 'access') === 'anybody',
      ...optional('servedName', typeof servedName === 'string' ? servedName : undefined),
      ...optional('model', text('model')),
      ...optional('runtime', text('runtime')),
      ...optional('sharding', text('sharding')),
      ...optional(
        'shareCount',
        Array.isArray(member(value, 'shares')) ? list(member(value, 'shares')).length : undefined,
      ),
      ...optional('transport', text('transport')),
      ...optional('backend', text('backend')),
      ...optional('endpointPort', typeof port === 'number' ? port : undefined),
      ...optional('fallback', fallbackOf(member(value, 'fallback'), `${pointer}/fallback`)),
    };
  });

function fallbackOf(value: unknown, pointer: string): DraftPlacement['fallback'] {
  const nodes = texts(member(value, 'nodes'), `${pointer}/nodes`, placementLimits.members);
  if (nodes.length === 0) return undefined;
  return { pointer, nodes, hasAllNodes: nodes.length === list(member(value, 'nodes')).length };
}

type Entry = readonly [name: string, value: unknown, pointer: string];

const entriesOf = (root: unknown, section: string, limit: number): readonly Entry[] =>
  Object.entries(record(member(root, section)))
    .slice(0, limit)
    .map(([name, value]) => [name, value, pointerTo(`/${section}`, name)]);

const texts = (value: unknown, pointer: string, limit: number): readonly DraftText[] =>
  list(value)
    .slice(0, limit)
    .flatMap((item, index) =>
      typeof item === 'string' ? [{ pointer: `${pointer}/${index}`, text: item, isText: true }] : [],
    );

/** The names of everything in a section, also of what is too much to be judged. */
export const namesIn = (root: unknown, section: string): ReadonlySet<string> =>
  new Set(Object.keys(record(member(root, section))));
/** A scalar of the file with its place. */
export interface DraftText {
  readonly pointer: string;
  /** The value, or for a number the text as the file writes it. */
  readonly text: string;
  readonly isText: boolean;
}

/** The text of a scalar as the file writes it, by JSON pointer. */
export type RawText = (pointer: string) => string | undefined;

/** An object with one key, or without any when there is no value for it. */
export function optional<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  const made: { [P in K]?: T } = {};
  if (value !== undefined) made[key] = value;
  return made;
}

/** A value as a map; an empty one for anything else. */
export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** A value as a list; an empty one for anything else. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value of a key of its own that a map has; undefined for anything else. */
export function member(value: unknown, key: string): unknown {
  const map = record(value);
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** A text or a number with its place; undefined for anything else. */
export function textOf(value: unknown, pointer: string, raw: RawText): DraftText | undefined {
  if (typeof value === 'string') return { pointer, text: value, isText: true };
  return typeof value === 'number' ? { pointer, text: raw(pointer) ?? String(value), isText: false } : undefined;
}

/** The JSON pointer of a key below another pointer (RFC 6901). */
export const pointerTo = (parent: string, key: string): string =>
  `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
