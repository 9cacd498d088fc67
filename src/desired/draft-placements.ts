import { type DraftText, list, member, optional, pointerTo, type RawText, record, textOf } from './draft-values.ts';

/** A runtime of the file as far as it can be judged. */
export interface DraftRuntime {
  readonly name: string;
  readonly pointer: string;
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
  /** The keys of `files`. */
  readonly paths: readonly string[];
}

/** A placement of the file as far as it can be judged. */
export interface DraftPlacement {
  readonly name: string;
  readonly pointer: string;
  readonly model?: DraftText;
  readonly runtime?: DraftText;
  /** Nodes that are texts, in rank order. */
  readonly nodes: readonly DraftText[];
  /** Whether every entry of the list is among them. */
  readonly hasAllNodes: boolean;
  readonly hasSharding: boolean;
  readonly sharding?: DraftText;
  readonly transport?: DraftText;
  /** Of the endpoint, its default included; undefined when it is no number. */
  readonly endpointPort?: number;
  /** Where that port stands, or the placement when it is the default. */
  readonly endpointPointer: string;
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

/** The endpoint of a placement that does not say its port. */
export const defaultEndpointPort = 8_080;

/** The runtimes of whatever a file holds. */
export const draftRuntimes = (root: unknown, raw: RawText): readonly DraftRuntime[] =>
  entriesOf(root, 'runtimes', placementLimits.runtimes).map(([name, value, pointer]) => ({
    name,
    pointer,
    command: texts(member(value, 'command'), `${pointer}/command`, placementLimits.words),
    ...optional('listening', textOf(member(member(value, 'joined'), 'listening'), `${pointer}/joined/listening`, raw)),
  }));

/** The models of whatever a file holds. */
export const draftModels = (root: unknown, raw: RawText): readonly DraftModel[] =>
  entriesOf(root, 'models', placementLimits.models).map(([name, value, pointer]) => ({
    name,
    pointer,
    hasFiles: member(value, 'files') !== undefined,
    paths: Object.keys(record(member(value, 'files'))).slice(0, placementLimits.files),
    ...optional('source', textOf(member(value, 'source'), `${pointer}/source`, raw)),
  }));

/** The placements of whatever a file holds. */
export const draftPlacements = (root: unknown, raw: RawText): readonly DraftPlacement[] =>
  entriesOf(root, 'placements', placementLimits.placements).map(([name, value, pointer]) => {
    const text = (key: string): DraftText | undefined => textOf(member(value, key), `${pointer}/${key}`, raw);
    const port = member(member(value, 'endpoint'), 'port') ?? defaultEndpointPort;
    const hasPort = member(member(value, 'endpoint'), 'port') !== undefined;
    const nodes = texts(member(value, 'nodes'), `${pointer}/nodes`, placementLimits.members);
    return {
      name,
      pointer,
      nodes,
      hasAllNodes: nodes.length === list(member(value, 'nodes')).length,
      hasSharding: member(value, 'sharding') !== undefined,
      endpointPointer: hasPort ? `${pointer}/endpoint/port` : pointer,
      ...optional('model', text('model')),
      ...optional('runtime', text('runtime')),
      ...optional('sharding', text('sharding')),
      ...optional('transport', text('transport')),
      ...optional('endpointPort', typeof port === 'number' ? port : undefined),
    };
  });

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
