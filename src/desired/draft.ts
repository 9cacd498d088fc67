import { type LinkEnd, nodeName } from '../model/node.ts';
import {
  type DraftModel,
  type DraftPlacement,
  type DraftRuntime,
  type DraftText,
  draftModels,
  draftPlacements,
  draftRuntimes,
  list,
  member,
  namesIn,
  optional,
  placementLimits,
  pointerTo,
  type RawText,
  record,
  textOf,
} from './draft-placements.ts';
import { parseLink, parseLinkEnd } from './parse-link.ts';
import { secretPrograms } from './secret-sources.ts';

/** A node of the file, whatever its name looks like; what is not a text is left out. */
export interface DraftNode {
  readonly name: string;
  readonly pointer: string;
  readonly host?: DraftText;
  readonly port?: number;
  readonly model?: DraftText;
  readonly memory?: DraftText;
}

/** One end of a link with the characters of the line in which it stands. */
export interface DraftEnd extends LinkEnd {
  readonly start: number;
  readonly end: number;
}

/** A link whose form is right; its nodes need not exist. */
export interface DraftLink {
  readonly index: number;
  readonly pointer: string;
  readonly text: string;
  readonly ends: readonly [DraftEnd, DraftEnd];
}

/** A receptacle to be avoided, of one node or, without `node`, of every node. */
export interface DraftAvoid {
  readonly pointer: string;
  readonly node?: string;
  readonly receptacle: number;
}

/**
 * A cluster file as the meaning rules see it: only what is sane enough to be judged, so that they can run beside
 * the schema and all problems of a file come back together.
 */
export interface Draft {
  readonly nodes: readonly DraftNode[];
  /** The names of all nodes of the file, also of those that are too many to be judged. */
  readonly nodeNames: ReadonlySet<string>;
  readonly links: readonly DraftLink[];
  /** Whether every entry of the list is among them. */
  readonly hasAllLinks: boolean;
  readonly avoid: readonly DraftAvoid[];
  readonly version?: DraftText;
  readonly accept?: DraftText;
  readonly pool?: DraftText;
  readonly wiredLimit?: DraftText;
  readonly fileVault?: DraftText;
  readonly automaticLogin?: DraftText;
  /** What the file names for ranks and gateway. */
  readonly accounts: { readonly ranks?: DraftText; readonly gateway?: DraftText };
  /** Every account that the file logs in as. */
  readonly users: readonly string[];
  /** Whether there is a pool, be it wrong. */
  readonly hasPool: boolean;
  readonly hasDoorman: boolean;
  /** The word that names the program, of each source of a secret that is one. */
  readonly secretPrograms: readonly DraftText[];
  readonly runtimes: readonly DraftRuntime[];
  readonly models: readonly DraftModel[];
  readonly placements: readonly DraftPlacement[];
  /** The names of all runtimes and models, as of the nodes. */
  readonly runtimeNames: ReadonlySet<string>;
  readonly modelNames: ReadonlySet<string>;
}

/**
 * How much of a file is judged: what the schema allows (`maxProperties`, `maxItems`).
 * The schema refuses a file with more, so the rest need not cost anything.
 */
export const draftLimits = { nodes: 256, links: 1_024, avoid: 1_024, ...placementLimits } as const;

/** Makes a draft of whatever a file holds; never fails. */
export function makeDraft(root: unknown, raw: RawText): Draft {
  const macos = member(root, 'macos');
  const thunderbolt = member(root, 'thunderbolt');
  const ssh = portOf(member(root, 'ssh'));
  const pool = member(member(thunderbolt, 'addressing'), 'pool');
  const text = (value: unknown, pointer: string) => textOf(value, pointer, raw);
  const nodes = Object.entries(record(member(root, 'nodes')));
  const links = list(member(thunderbolt, 'links')).slice(0, draftLimits.links).flatMap(draftLink);
  return {
    nodes: nodes.slice(0, draftLimits.nodes).map(([name, node]) => draftNode(name, node, ssh, raw)),
    nodeNames: new Set(nodes.map(([name]) => name)),
    links,
    hasAllLinks: links.length === list(member(thunderbolt, 'links')).length,
    avoid: list(member(thunderbolt, 'avoid')).slice(0, draftLimits.avoid).flatMap(draftAvoid),
    hasDoorman: member(root, 'doorman') !== undefined,
    secretPrograms: secretPrograms(root, raw),
    runtimes: draftRuntimes(root, raw),
    models: draftModels(root, raw),
    placements: draftPlacements(root, raw),
    hasPool: pool !== undefined,
    runtimeNames: namesIn(root, 'runtimes'),
    modelNames: namesIn(root, 'models'),
    ...optional('version', text(member(macos, 'version'), '/macos/version')),
    ...optional('accept', text(member(macos, 'accept'), '/macos/accept')),
    ...optional('wiredLimit', text(member(member(root, 'system'), 'wiredLimit'), '/system/wiredLimit')),
    ...optional('fileVault', text(member(member(root, 'system'), 'fileVault'), '/system/fileVault')),
    accounts: draftAccounts(root, text),
    users: draftUsers(root),
    ...optional('automaticLogin', text(member(member(root, 'system'), 'automaticLogin'), '/system/automaticLogin')),
    ...optional('pool', text(pool, '/thunderbolt/addressing/pool')),
  };
}

function draftAccounts(
  root: unknown,
  text: (value: unknown, pointer: string) => DraftText | undefined,
): Draft['accounts'] {
  const named = member(member(root, 'system'), 'accounts');
  return {
    ...optional('ranks', text(member(named, 'ranks'), '/system/accounts/ranks')),
    ...optional('gateway', text(member(named, 'gateway'), '/system/accounts/gateway')),
  };
}

/** Every account that the file logs in as. */
const draftUsers = (root: unknown): readonly string[] =>
  [member(root, 'ssh'), ...Object.values(record(member(root, 'nodes')))].flatMap((one) => {
    const user = member(one, 'user');
    return typeof user === 'string' ? [user] : [];
  });

function portOf(value: unknown): number | undefined {
  const port = member(value, 'port');
  return typeof port === 'number' ? port : undefined;
}

function draftNode(name: string, node: unknown, sshPort: number | undefined, raw: RawText): DraftNode {
  const pointer = pointerTo('/nodes', name);
  const hardware = member(node, 'hardware');
  const model = textOf(member(hardware, 'model'), `${pointer}/hardware/model`, raw);
  const memory = textOf(member(hardware, 'memory'), `${pointer}/hardware/memory`, raw);
  return {
    name,
    pointer,
    ...optional('host', textOf(member(node, 'host'), `${pointer}/host`, raw)),
    ...optional('port', portOf(node) ?? sshPort),
    ...optional('model', model),
    ...optional('memory', memory),
  };
}

function draftLink(value: unknown, index: number): readonly DraftLink[] {
  const ends = typeof value === 'string' ? parseLink(value) : undefined;
  if (typeof value !== 'string' || ends === undefined) return [];
  const second = value.lastIndexOf('>') + 1;
  const start = second + (value.slice(second).length - value.slice(second).trimStart().length);
  const [from, to] = ends;
  const firstEnd = { ...from, start: 0, end: value.slice(0, value.indexOf('<->')).trimEnd().length };
  return [
    {
      index,
      pointer: `/thunderbolt/links/${index}`,
      text: value,
      ends: [firstEnd, { ...to, start, end: value.length }],
    },
  ];
}

function draftAvoid(value: unknown, index: number): readonly DraftAvoid[] {
  const pointer = `/thunderbolt/avoid/${index}`;
  if (typeof value === 'number') return [{ pointer, receptacle: value }];
  const end = typeof value === 'string' ? parseLinkEnd(value) : undefined;
  return end === undefined ? [] : [{ pointer, ...end }];
}

/** The nodes of a draft by name. */
export const draftNodesByName = (draft: Draft): ReadonlyMap<string, DraftNode> =>
  new Map(draft.nodes.map((node) => [nodeName(node.name), node]));
