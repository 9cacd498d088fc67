import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadCluster } from '../../src/engine/load-cluster.ts';
import { runs } from '../runs.ts';
import { sampleOf } from '../sample.ts';

const file = 'cluster.yaml';
const text = readFileSync('docs/cluster.full.yaml', 'utf8');

type Path = readonly (string | number)[];

/** Every path in a value, except the root. */
function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [[...path, key], ...pathsIn(Reflect.get(value, key), [...path, key])]);
}

const original: unknown = parse(text);
const paths = pathsIn(original);

/** A copy of the file's value with one change. */
function changed(path: Path, change: (parent: object, key: string | number) => void): unknown {
  const root = structuredClone(original);
  let parent: unknown = root;
  for (const key of path.slice(0, -1)) parent = Reflect.get(parent as object, key);
  change(parent as object, path.at(-1) ?? '');
  return root;
}

const whole = loadCluster(text, file).fleet;

const missing = (pointer: string): readonly string[] => [`schema/missing-key ${pointer}`];
const linksOf = (...places: readonly string[]): readonly string[] =>
  places.map((place) => `topology/unknown-node /thunderbolt/${place}`);
const inPlacements = (kind: string, ...places: readonly string[]): readonly string[] =>
  places.map((place) => `placement/unknown-${kind} /placements/${place}`);
const noMesh = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `placement/mesh-not-complete /placements/${name}/sharding`);
const noFallbackMesh = ['placement/mesh-not-complete /placements/chat/fallback/nodes'];
const unaddressedFallback = 'placement/needs-addressing /placements/chat/fallback/nodes';
const noRing = ['placement/ring-not-complete /placements/wide/sharding'];
const unaddressed = (name: string): string => `placement/needs-addressing /placements/${name}/nodes`;
const noPool = [
  unaddressed('chat'),
  unaddressedFallback,
  unaddressed('pair'),
  unaddressed('wide'),
  unaddressed('helped'),
];
const fieldEmpty = (place: string): readonly string[] => [`runtime/field-without-value /runtimes/pairwise/${place}`];
const roleUnknown = ['placement/role-unknown /placements/helped/roles/prefill'];
const roleNode = ['placement/role-node /placements/helped/roles/prefill'];
const keyMissing = (runtime: string): readonly string[] => [`runtime/key-missing /runtimes/${runtime}`];
const sharesDiffer = ['placement/shares-differ /placements/wide/shares'];
const notPublished = (place: string): readonly string[] => [`placement/endpoint-not-published /placements/${place}`];
const unguarded = (name: string): readonly string[] => [
  `placement/endpoint-unguarded /placements/${name}/endpoint/listen`,
];
const needsOfPlacement = ['model', 'runtime', 'nodes', 'transport', 'context'];
const badUpdate = (key: string): readonly string[] => [`upgrade/bad-command /macos/updates/${key}`];
const samePort = ['placement/endpoint-taken /placements/alone'];

/** Required keys by section. */
const needed: Readonly<Record<string, readonly string[]>> = {
  'nodes.studio-1.hold': ['reason'],
  'runtimes.reference': ['driver'],
  'runtimes.server': ['driver'],
  'runtimes.pairwise': ['driver'],
  'runtimes.llamacpp': ['driver'],
  'runtimes.built': ['driver'],
  'runtimes.mlx': ['driver'],
  'runtimes.fork': ['driver'],
  'runtimes.exo': ['driver'],
  'models.tiny': ['source'],
  'models.shelf': ['source'],
  'models.shelf.files.config.json': ['sha256', 'size'],
  'models.shelf.files.tokenization_shelf.py': ['sha256', 'size'],
  'models.shelf.files.weights/part-1.bin': ['sha256', 'size'],
  'models.fetched': ['source'],
  'models.fetched.files.config.json': ['sha256', 'size'],
  'placements.chat': needsOfPlacement,
  'placements.chat.fallback': ['nodes'],
  'placements.pair': needsOfPlacement,
  'placements.wide': needsOfPlacement,
  'placements.drafted': needsOfPlacement,
  'placements.alone': needsOfPlacement,
  'placements.helped': needsOfPlacement,
  'placements.copies': needsOfPlacement,
};

/** The pointers of sections with dots or slashes in their names. */
const pointers: Readonly<Record<string, string>> = {
  'models.shelf.files.config.json': '/models/shelf/files/config.json',
  'models.shelf.files.tokenization_shelf.py': '/models/shelf/files/tokenization_shelf.py',
  'models.shelf.files.weights/part-1.bin': '/models/shelf/files/weights~1part-1.bin',
  'models.fetched.files.config.json': '/models/fetched/files/config.json',
};

/** The diagnostics by the path of the removed key; every other key is optional. */
const consequences: Readonly<Record<string, readonly string[]>> = {
  schema: missing(''),
  name: missing(''),
  nodes: missing(''),
  pdus: ['outlet/unknown-pdu /nodes/studio-1/outlet', 'outlet/unknown-pdu /nodes/studio-3/outlet'],
  'pdus.rack-pdu': ['outlet/unknown-pdu /nodes/studio-1/outlet', 'outlet/unknown-pdu /nodes/studio-3/outlet'],
  'macos.updates.driver': badUpdate('command'),
  'macos.updates.command': badUpdate('driver'),
  'macos.updates.command.0': badUpdate('command'),
  'macos.updates.command.1': badUpdate('command'),
  'pdus.rack-pdu.driver': missing('/pdus/rack-pdu'),
  'pdus.rack-pdu.powerOn': missing('/pdus/rack-pdu'),
  'pdus.rack-pdu.powerOff': missing('/pdus/rack-pdu'),
  'pdus.rack-pdu.powerState': missing('/pdus/rack-pdu'),
  'pdus.rack-pdu.powerOn.2': ['outlet/bad-command /pdus/rack-pdu/powerOn'],
  'pdus.rack-pdu.powerOff.2': ['outlet/bad-command /pdus/rack-pdu/powerOff'],
  'pdus.rack-pdu.powerState.2': ['outlet/bad-command /pdus/rack-pdu/powerState'],
  'nodes.studio-1': [
    ...linksOf('links/0', 'links/1'),
    'topology/unknown-node /downloads/via',
    ...inPlacements(
      'node',
      'chat/nodes/1',
      'chat/fallback/nodes/1',
      'pair/nodes/0',
      'wide/nodes/0',
      'drafted/nodes/0',
      'helped/nodes/1',
    ),
  ],
  'nodes.studio-2': [
    ...linksOf('avoid/1', 'links/0', 'links/2'),
    ...inPlacements('node', 'chat/nodes/0', 'chat/fallback/nodes/0', 'pair/nodes/1', 'copies/nodes/0'),
  ],
  'nodes.studio-3': [
    ...linksOf('links/1', 'links/2'),
    ...inPlacements('node', 'chat/nodes/2', 'wide/nodes/1', 'alone/nodes/0', 'helped/nodes/0', 'copies/nodes/1'),
  ],
  // No part of a password source is ever printed, so the diagnostic is about the whole source.
  'ssh.password.env': ['secret/not-a-source /ssh/password'],
  'nodes.studio-2.password.command': ['secret/not-a-source /nodes/studio-2/password'],
  'nodes.studio-1.host': missing('/nodes/studio-1'),
  'nodes.studio-2.host': missing('/nodes/studio-2'),
  'nodes.studio-3.host': missing('/nodes/studio-3'),
  thunderbolt: [
    unaddressed('chat'),
    ...noMesh('chat'),
    unaddressedFallback,
    ...noFallbackMesh,
    unaddressed('pair'),
    ...noMesh('pair'),
    unaddressed('wide'),
    ...noRing,
    unaddressed('helped'),
    ...noMesh('helped'),
  ],
  'thunderbolt.addressing': noPool,
  'thunderbolt.addressing.pool': noPool,
  'thunderbolt.links': [...noMesh('chat'), ...noFallbackMesh, ...noMesh('pair'), ...noRing, ...noMesh('helped')],
  'thunderbolt.links.0': [...noMesh('chat'), ...noFallbackMesh, ...noMesh('pair')],
  'thunderbolt.links.1': [...noMesh('chat'), ...noRing, ...noMesh('helped')],
  'thunderbolt.links.2': noMesh('chat'),
  runtimes: inPlacements(
    'runtime',
    'chat/runtime',
    'pair/runtime',
    'wide/runtime',
    'drafted/runtime',
    'alone/runtime',
    'helped/runtime',
    'copies/runtime',
  ),
  'runtimes.reference': inPlacements('runtime', 'chat/runtime'),
  'runtimes.pairwise': inPlacements('runtime', 'helped/runtime'),
  'runtimes.pairwise.roles': roleUnknown,
  'runtimes.pairwise.roles.prefill': roleUnknown,
  'runtimes.pairwise.roles.prefill.0': ['runtime/program-not-found /runtimes/pairwise/roles/prefill/0'],
  'runtimes.pairwise.prepare.0': ['runtime/program-not-found /runtimes/pairwise/prepare/0'],
  'runtimes.pairwise.leader.0': ['runtime/program-not-found /runtimes/pairwise/leader/0'],
  'runtimes.pairwise.follower.0': ['runtime/program-not-found /runtimes/pairwise/follower/0'],
  'runtimes.pairwise.leader': ['runtime/key-missing /runtimes/pairwise/follower'],
  'runtimes.pairwise.follower': ['runtime/key-missing /runtimes/pairwise/leader'],
  'runtimes.reference.archive': keyMissing('reference'),
  'runtimes.pairwise.archive': keyMissing('pairwise'),
  'runtimes.server.archive': keyMissing('server'),
  'runtimes.llamacpp.archive': keyMissing('llamacpp'),
  'runtimes.reference.command': keyMissing('reference'),
  'runtimes.reference.command.0': ['runtime/program-not-found /runtimes/reference/command/0'],
  'runtimes.server': inPlacements('runtime', 'alone/runtime', 'copies/runtime'),
  'runtimes.server.command': keyMissing('server'),
  'runtimes.llamacpp': inPlacements('runtime', 'wide/runtime', 'drafted/runtime'),
  'runtimes.mlx': inPlacements('runtime', 'pair/runtime'),
  'runtimes.built.source': keyMissing('built'),
  'runtimes.mlx.requirements': keyMissing('mlx'),
  'runtimes.fork.source': keyMissing('fork'),
  'runtimes.exo.version': keyMissing('exo'),
  models: inPlacements(
    'model',
    'chat/model',
    'pair/model',
    'wide/model',
    'drafted/model',
    'drafted/drafter',
    'alone/model',
    'helped/model',
    'copies/model',
  ),
  'secrets.huggingface.env': ['secret/not-a-source /secrets/huggingface'],
  'models.kimi.source': missing('/models/kimi'),
  'models.tiny.adopt.0': ['schema/not-allowed /models/tiny/adopt'],
  'models.tiny': inPlacements('model', 'drafted/drafter'),
  'models.shelf': inPlacements('model', 'chat/model', 'pair/model', 'wide/model', 'drafted/model'),
  'models.shelf.trustRemoteCode.tokenization_shelf.py': ['schema/out-of-range /models/shelf/trustRemoteCode'],
  'models.fetched': inPlacements('model', 'alone/model', 'helped/model', 'copies/model'),
  'downloads.plainHttp': ['model/plain-http /downloads/mirror'],
  'models.fetched.files.config.json': ['schema/out-of-range /models/fetched/files'],
  'placements.chat.sharding': ['chat', 'chat/fallback'].map((name) => `placement/sharding-missing /placements/${name}`),
  'placements.chat.endpoint': samePort,
  'placements.chat.endpoint.port': samePort,
  'placements.chat.endpoint.listen': notPublished('chat/endpoint/servedName'),
  'placements.chat.endpoint.apiKey': unguarded('chat'),
  'placements.chat.endpoint.apiKey.0.env': ['secret/not-a-source /placements/chat/endpoint/apiKey'],
  'placements.chat.endpoint.apiKey.1.env': ['secret/not-a-source /placements/chat/endpoint/apiKey'],
  'placements.chat.nodes.2': ['placement/fallback-same-nodes /placements/chat/fallback/nodes'],
  'placements.pair.sharding': ['placement/sharding-missing /placements/pair'],
  'placements.wide.sharding': ['placement/sharding-missing /placements/wide'],
  'placements.wide.nodes.0': sharesDiffer,
  'placements.wide.nodes.1': sharesDiffer,
  'placements.wide.shares.0': sharesDiffer,
  'placements.wide.shares.1': sharesDiffer,
  'placements.wide.endpoint': samePort,
  'placements.wide.endpoint.port': samePort,
  'placements.wide.endpoint.listen': notPublished('wide/endpoint/access'),
  'placements.wide.endpoint.access': unguarded('wide'),
  'placements.helped.nodes.0': [...fieldEmpty('follower/2'), ...roleNode],
  'placements.helped.nodes.1': [...fieldEmpty('follower/2'), ...roleNode],
  'placements.helped.roles': fieldEmpty('roles/prefill/1'),
  'placements.helped.roles.prefill': fieldEmpty('roles/prefill/1'),
  'placements.helped.sharding': ['placement/sharding-missing /placements/helped'],
  'placements.helped.endpoint': ['placement/endpoint-taken /placements/helped'],
  'placements.helped.endpoint.port': ['placement/endpoint-taken /placements/helped'],
  'placements.copies.replicas': ['placement/sharding-missing /placements/copies'],
  'placements.copies.endpoint': [
    'placement/endpoint-taken /placements/copies',
    'placement/replicas-not-published /placements/copies/replicas',
  ],
  'placements.copies.endpoint.port': ['placement/endpoint-taken /placements/copies'],
  'placements.copies.endpoint.listen': [
    'placement/replicas-not-published /placements/copies/replicas',
    ...notPublished('copies/endpoint/access'),
  ],
  'placements.copies.endpoint.access': unguarded('copies'),
  'placements.drafted.nodes.0': ['schema/out-of-range /placements/drafted/nodes'],
  'placements.alone.nodes.0': ['schema/out-of-range /placements/alone/nodes'],
  ...Object.fromEntries(
    Object.entries(needed).flatMap(([section, keys]) =>
      keys.map((key) => [`${section}.${key}`, missing(pointers[section] ?? `/${section.replaceAll('.', '/')}`)]),
    ),
  ),
  'placements.wide.nodes': [...missing('/placements/wide'), ...sharesDiffer],
  'placements.helped.nodes': [...fieldEmpty('follower/2'), ...missing('/placements/helped'), ...roleNode],
  'placements.helped.transport': [...fieldEmpty('follower/2'), ...missing('/placements/helped')],
};

/** Keys whose value equals the default. */
const isSameAsDefault: readonly string[] = [
  'system.accounts',
  'system.accounts.gateway',
  'system.accounts.ranks',
  'system.accounts.transfers',
  'system.keeper',
  'thunderbolt.bridge',
  'runtimes.mlx.python',
  'runtimes.llamacpp.server',
  'runtimes.llamacpp.worker',
  'runtimes.exo.program',
  'gateway.program',
];

/** Notices are omitted, as the file has unequal Macs on purpose. */
const load = (value: unknown) => {
  const loaded = loadCluster(stringify(value, { aliasDuplicateObjects: false, version: '1.1' }), file);
  return { ...loaded, diagnostics: loaded.diagnostics.filter(({ severity }) => severity !== 'notice') };
};

const rubbish = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', ' ', '-x', 'a b', '../x', 'no', '26.10', [], {}, [null], {
    a: 1,
  }),
  fc.string({ maxLength: 80 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Maps that accept any name as a key. */
const freeNames: readonly string[] = [
  'labels',
  'nodes',
  'runtimes',
  'models',
  'pdus',
  'placements',
  'files',
  'env',
  'trustRemoteCode',
];

describe('a single edit to a valid cluster file', () => {
  it('never causes a crash or a diagnostic without a place', () => {
    fc.assert(
      fc.property(fc.constantFrom(...paths), rubbish, (path, value) => {
        const { fleet, diagnostics } = load(changed(path, (parent, key) => Reflect.set(parent, key, value)));
        expect(diagnostics.every((one) => one.where !== undefined)).toBe(true);
        expect(fleet === undefined).toBe(diagnostics.some((one) => one.severity === 'error'));
      }),
      { numRuns: runs(600) },
    );
  });

  it('is reported if it removes a required key; removing any other key changes the meaning', () => {
    for (const path of sampleOf(paths, { few: runs(paths.length), oneIn: 4 })) {
      const { fleet, diagnostics } = load(
        changed(path, (parent, key) => {
          if (Array.isArray(parent)) parent.splice(Number(key), 1);
          else Reflect.deleteProperty(parent, key);
        }),
      );
      const name = path.join('.');
      const expected = consequences[name] ?? [];
      expect([name, diagnostics.map((one) => `${one.code} ${one.where?.pointer}`)]).toEqual([name, expected]);
      expect([name, fleet === undefined]).toEqual([name, expected.length > 0]);
      if (fleet === undefined || isSameAsDefault.includes(name)) continue;
      expect([name, fleet]).not.toEqual([name, whole]);
    }
  });

  it('has entries in the table of consequences only for keys that exist', () => {
    const names = paths.map((path) => path.join('.'));
    expect([...Object.keys(consequences), ...isSameAsDefault].filter((name) => !names.includes(name))).toEqual([]);
    for (const name of isSameAsDefault) {
      const path = paths.find((one) => one.join('.') === name) ?? [];
      expect([name, load(changed(path, (parent, key) => Reflect.deleteProperty(parent, key))).fleet]).toEqual([
        name,
        whole,
      ]);
    }
  });

  it('is always reported at the unknown key that it adds', () => {
    const maps = [[], ...paths].filter((path) => {
      const value = path.reduce<unknown>((now, key) => Reflect.get(now as object, key), original);
      // Keys of a password are never named, as one may be the password itself.
      const isSource = ['password', 'apiKey', 'huggingface'].some((key) => path.includes(key));
      const hasFreeNames = isSource || freeNames.includes(String(path.at(-1)));
      return typeof value === 'object' && !Array.isArray(value) && !hasFreeNames;
    });
    expect(maps.length).toBeGreaterThan(8);
    for (const path of sampleOf(maps, { few: runs(maps.length), oneIn: 4 })) {
      const { diagnostics } = load(changed([...path, 'zzz'], (parent, key) => Reflect.set(parent, key, 1)));
      expect([path, diagnostics.map((one) => one.code)]).toEqual([path, ['schema/unknown-key']]);
      expect(diagnostics[0]?.where?.pointer).toBe(
        `/${[...path, 'zzz'].map((key) => String(key).replaceAll('/', '~1')).join('/')}`,
      );
    }
  });
});
