import { isDeepStrictEqual } from 'node:util';
import { type FileValue, filePart, first, second } from './converge-file.ts';

/** The result of one edit of the file: refused with these codes, or a plan with these changes and blockers. */
export interface Consequence {
  readonly refused?: readonly string[];
  /** `<node> <address>`, with `*` for numbers of receptacles and names of the file. */
  readonly changes?: readonly string[];
  readonly blockers?: readonly string[];
  /** Codes of notices. */
  readonly notices?: readonly string[];
}

/** One edit of one key. */
export interface KeyEdit extends Consequence {
  readonly key: string;
  readonly what: string;
  readonly change: (file: FileValue) => void;
}

type Entry = Consequence & {
  /** The new value, or a change of the whole file if changing only one key makes no sense. */
  readonly to?: unknown;
  readonly change?: (file: FileValue) => void;
};

const both = (...addresses: readonly string[]): readonly string[] =>
  [first, second].flatMap((node) => addresses.map((address) => `${node} ${address}`));
const restarted = [`${first} placement/*`];
const refused = (...codes: readonly string[]): Entry => ({ refused: codes });
/** The data of the keeper depends on other keys. */
const kept = both('keeper/files');
const missing = refused('schema/missing-key');
const nothing: Entry = {};

const place = (file: FileValue): FileValue => filePart(file, 'placements', 'chat');
const thunderbolt = (file: FileValue): FileValue => filePart(file, 'thunderbolt');

/** Keeps only the first node in the file. */
export function withoutSecond(file: FileValue): void {
  delete filePart(file, 'nodes')[second];
  thunderbolt(file)['links'] = [];
  place(file)['nodes'] = [first];
}

const rename = (names: FileValue, from: string, to: string): void => {
  names[to] = names[from];
  delete names[from];
};

const withoutPlacements = (file: FileValue): void => {
  delete file['placements'];
};

const withoutRuntime = (file: FileValue): void => {
  withoutPlacements(file);
  delete filePart(file, 'runtimes')['reference'];
};

const withoutModel = (file: FileValue): void => {
  withoutPlacements(file);
  delete filePart(file, 'models')['tiny'];
};

const linkAddresses = [
  `${first} link-address/*/kept`,
  `${first} link-address/*/live`,
  `${second} link-address/*/kept`,
  `${second} link-address/*/live`,
];

/**
 * The effect of an edit and of a removal of each key of the example. Names are `*`. Settings of a Mac stay as they
 * are when their key is removed; artifacts marked as meshwright's do not (rule 16).
 */
export const keys: Readonly<Record<string, { readonly edit: Entry; readonly remove: Entry }>> = {
  schema: { edit: { to: 2, ...refused('schema/unsupported-version') }, remove: missing },
  name: { edit: { to: 'other-rack' }, remove: missing },
  ssh: { edit: { to: { user: 'rack' } }, remove: nothing },
  'ssh.user': { edit: { to: 'rack' }, remove: nothing },
  macos: { edit: { to: { version: '26.5.1' }, notices: ['macos/not-the-wish'] }, remove: nothing },
  'macos.version': { edit: { to: '26.4', notices: ['macos/not-the-wish'] }, remove: nothing },
  'macos.accept': {
    edit: {
      change: (file) => {
        file['macos'] = { version: '26.6', accept: '>=26.6' };
      },
      blockers: ['macos/outside-accept', 'macos/outside-accept'],
    },
    remove: nothing,
  },
  'macos.updates': { edit: { to: {} }, remove: nothing },
  'macos.updates.automatic': { edit: { to: 'keep' }, remove: nothing },
  power: { edit: { to: { sleep: 30 }, changes: both('power/sleep') }, remove: nothing },
  'power.sleep': { edit: { to: 30, changes: both('power/sleep') }, remove: nothing },
  'power.restartAfterPowerLoss': {
    edit: { to: false, changes: both('power/restart-after-power-loss') },
    remove: nothing,
  },
  system: {
    edit: { to: { wiredLimit: '200GiB' }, changes: [...both('wired-limit'), ...kept] },
    remove: { changes: kept },
  },
  'system.wiredLimit': {
    edit: { to: 'default', changes: [...both('wired-limit'), ...kept] },
    remove: { changes: kept },
  },
  'system.fileVault': {
    edit: { to: 'enabled', blockers: ['filevault/differs', 'filevault/differs'] },
    remove: nothing,
  },
  nodes: { edit: { change: withoutSecond, ...refused('lock/node-left-file') }, remove: missing },
  'nodes.*': {
    edit: {
      change: (file) => {
        rename(filePart(file, 'nodes'), second, 'studio-9');
        thunderbolt(file)['links'] = [`${first}:4 <-> studio-9:2`];
        place(file)['nodes'] = [first, 'studio-9'];
      },
      ...refused('lock/node-left-file'),
    },
    remove: { change: withoutSecond, ...refused('lock/node-left-file') },
  },
  'nodes.*.host': { edit: { to: 'elsewhere.lan' }, remove: missing },
  'nodes.*.user': { edit: { to: 'rack' }, remove: nothing },
  'nodes.*.hardware': { edit: { to: { memory: '512GB' }, blockers: ['identity/wrong-mac'] }, remove: nothing },
  'nodes.*.hardware.model': { edit: { to: 'Mac16,9', blockers: ['identity/wrong-mac'] }, remove: nothing },
  'nodes.*.hardware.memory': { edit: { to: '96GB', blockers: ['identity/wrong-mac'] }, remove: nothing },
  'nodes.*.labels': { edit: { to: {} }, remove: nothing },
  'nodes.*.labels.*': { edit: { to: 'leader' }, remove: nothing },
  thunderbolt: {
    edit: { to: { bridge: 'remove' }, ...refused('placement/mesh-not-complete', 'placement/needs-addressing') },
    remove: {
      change: (file) => {
        withoutPlacements(file);
        delete file['thunderbolt'];
      },
      changes: [...linkAddresses, ...both('placement'), ...kept],
    },
  },
  'thunderbolt.bridge': { edit: { to: 'verify', changes: kept }, remove: nothing },
  'thunderbolt.foreignDaemons': { edit: { to: 'remove' }, remove: nothing },
  'thunderbolt.rdma': { edit: { to: 'auto' }, remove: nothing },
  'thunderbolt.addressing': {
    edit: { to: { pool: '10.78.0.0/24' }, changes: [...linkAddresses, ...restarted, ...kept] },
    remove: refused('placement/needs-addressing'),
  },
  'thunderbolt.addressing.pool': {
    edit: { to: '10.78.0.0/24', changes: [...linkAddresses, ...restarted, ...kept] },
    remove: refused('placement/needs-addressing'),
  },
  'thunderbolt.links': {
    edit: {
      to: [`${first}:4 <-> ${second}:2`, `${first}:3 <-> ${second}:3`],
      changes: [...both('link-address/*/kept'), ...kept],
      blockers: ['cabling/missing'],
    },
    remove: {
      change: (file) => {
        withoutPlacements(file);
        delete thunderbolt(file)['links'];
      },
      changes: [...linkAddresses, ...both('placement'), ...kept],
    },
  },
  runtimes: {
    edit: {
      change: (file) => rename(filePart(file, 'runtimes'), 'reference', 'other'),
      ...refused('placement/unknown-runtime'),
    },
    remove: { change: withoutRuntime, changes: both('placement') },
  },
  'runtimes.*': {
    edit: {
      change: (file) => {
        rename(filePart(file, 'runtimes'), 'reference', 'other');
        place(file)['runtime'] = 'other';
      },
      changes: [...both('runtime/*'), ...restarted],
    },
    remove: { change: withoutRuntime, changes: both('placement') },
  },
  'runtimes.*.driver': { edit: { to: 'magic', ...refused('schema/not-allowed') }, remove: missing },
  'runtimes.*.archive': {
    edit: { to: './dist/newer.tar.gz', changes: [...both('runtime/*'), ...restarted] },
    remove: refused('runtime/key-missing'),
  },
  'runtimes.*.command': {
    edit: {
      change: (file) => {
        const runtime = filePart(file, 'runtimes', 'reference');
        runtime['command'] = [...Object.values(filePart(runtime, 'command')), '--deadline', '4'];
      },
      changes: restarted,
    },
    remove: refused('runtime/key-missing'),
  },
  models: {
    edit: {
      change: (file) => rename(filePart(file, 'models'), 'tiny', 'other'),
      ...refused('placement/unknown-model'),
    },
    remove: { change: withoutModel, changes: both('placement'), notices: ['model/not-declared', 'model/not-declared'] },
  },
  'models.*': {
    edit: {
      change: (file) => {
        rename(filePart(file, 'models'), 'tiny', 'other');
        place(file)['model'] = 'other';
      },
      changes: [...both('model/*'), ...restarted],
      notices: ['model/not-declared', 'model/not-declared'],
    },
    remove: { change: withoutModel, changes: both('placement'), notices: ['model/not-declared', 'model/not-declared'] },
  },
  'models.*.source': {
    edit: {
      to: './models/newer',
      changes: [...both('model/*'), ...restarted],
      notices: ['model/not-declared', 'model/not-declared'],
    },
    remove: missing,
  },
  placements: { edit: { to: {}, changes: both('placement') }, remove: { changes: both('placement') } },
  'placements.*': {
    edit: {
      change: (file) => rename(filePart(file, 'placements'), 'chat', 'talk'),
      changes: [...both('placement'), ...restarted],
    },
    remove: { changes: both('placement') },
  },
  'placements.*.model': { edit: { to: 'unknown', ...refused('placement/unknown-model') }, remove: missing },
  'placements.*.runtime': { edit: { to: 'unknown', ...refused('placement/unknown-runtime') }, remove: missing },
  'placements.*.nodes': { edit: { to: [first], changes: restarted }, remove: missing },
  'placements.*.sharding': {
    edit: { to: 'pipeline', changes: restarted },
    remove: refused('placement/sharding-missing'),
  },
  'placements.*.transport': { edit: { to: 'rdma', changes: restarted }, remove: missing },
  'placements.*.context': { edit: { to: '16k', changes: restarted }, remove: missing },
  'placements.*.endpoint': { edit: { to: { port: 8090 }, changes: restarted }, remove: nothing },
  'placements.*.endpoint.port': { edit: { to: 8090, changes: restarted }, remove: nothing },
  'placements.*.expect': { edit: { to: { firstToken: '9s' }, changes: restarted }, remove: { changes: restarted } },
  'placements.*.expect.firstToken': { edit: { to: '9s', changes: restarted }, remove: { changes: restarted } },
};

/** Sections whose keys are names that the user chose. */
const named: readonly string[] = ['nodes', 'runtimes', 'models', 'placements', 'nodes.*.labels'];

const isSection = (value: unknown): value is FileValue =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every path of keys in a file; the last node represents all nodes. */
export function keyPaths(
  value: FileValue,
  at: readonly string[] = [],
  pattern = '',
): ReadonlyMap<string, readonly string[]> {
  const own = Object.entries(value).flatMap(([key, one]): (readonly [string, readonly string[]])[] => {
    const path = [...at, key];
    const name = `${pattern === '' ? '' : `${pattern}.`}${named.includes(pattern) ? '*' : key}`;
    return [[name, path], ...(isSection(one) ? keyPaths(one, path, name) : [])];
  });
  return new Map(own);
}

function editAt(path: readonly string[], { to }: Entry): (file: FileValue) => void {
  const key = path.at(-1) ?? '';
  return (file) => {
    const section = filePart(file, ...path.slice(0, -1));
    if (to === undefined) delete section[key];
    else section[key] = to;
  };
}

/** All edits in the table for the keys of a file. */
export const keyEdits = (file: FileValue): readonly KeyEdit[] =>
  [...keyPaths(file)].flatMap(([key, path]) => {
    const entry = keys[key];
    const edits = entry === undefined ? [] : Object.entries(entry);
    return edits.map(([what, { to, change, ...consequence }]) => ({
      ...consequence,
      key,
      what: what === 'remove' ? 'removed' : 'edited',
      change: change ?? editAt(path, { to }),
    }));
  });

/** True if an edit changes the file. */
export function isEdit(file: FileValue, { change }: KeyEdit): boolean {
  const edited = structuredClone(file);
  change(edited);
  return !isDeepStrictEqual(edited, file);
}
