import { existsSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Verb } from '../../src/cli/verb.ts';
import { verbs } from '../../src/cli/verbs.ts';
import { codesOf, json, meshwrightHere } from './meshwright.ts';
import { makePlace } from './place.ts';

const place = makePlace();
afterAll(() => place.remove());

/** Files that must not be read: reading them changes the time of their last access. */
const bait = join(place.root, 'bait');
const baits = [bait, join(place.root, 'tree/model.safetensors')];
const never = new Date(0);
const isRead = (): boolean => baits.some((path) => statSync(path).atimeMs > never.getTime());

let connections = 0;
let trap: Server;
const touch = (name: string): string => `[sh, -c, "touch ${join(place.root, name)}; echo aaaaaaaaaaaaaaaaaaaaaaaa"]`;
const touched = ['token', 'password', 'key'].map((name) => join(place.root, name));

beforeAll(async () => {
  trap = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  const { port } = trap.address() as AddressInfo;
  writeFileSync(bait, 'root:$6$SALT:secret\nAWS=other people\n', { mode: 0o600 });
  for (const folder of ['tree', 'rack/model']) {
    mkdirSync(join(place.root, folder));
    if (folder !== 'tree') symlinkSync(bait, join(place.root, folder, 'config.json'));
    writeFileSync(join(place.root, folder, 'model.safetensors'), 'SALT of a model');
  }
  place.write(
    'cluster.yaml',
    `schema: 1
name: rack
ssh: { user: mesh, port: ${port}, identityFile: ${bait}, password: { command: ${touch('password')} } }
secrets: { huggingface: { command: ${touch('token')} } }
downloads: { mirror: "http://127.0.0.1:${port}/", plainHttp: allowed }
nodes: { studio-1: { host: 127.0.0.1, hardware: { model: "Mac15,14", memory: 512GB } } }
runtimes:
  mlx: { driver: mlx, python: "3.12", requirements: ../bait }
models:
  hub: { source: "hf:acme/secret" }
  served: { source: "http://127.0.0.1:${port}/model/" }
  tree: { source: ../tree }
  linked: { source: ./model }
  listed: { source: ./model, files: { config.json: { sha256: ${'a'.repeat(64)}, size: 47 } } }
gateway: { node: ${join(place.root, 'bait.tar.gz')} }
placements:
  chat:
    model: hub
    runtime: mlx
    nodes: [studio-1]
    transport: tcp
    context: 4k
    endpoint: { port: 8080, listen: lan, apiKey: [{ command: ${touch('key')} }, { env: SECRET_OF_CI }, { file: ${bait} }] }
`,
  );
  place.write('play.yaml', 'playbook: 1\nplays:\n  - nodes: [studio-1]\n    tasks:\n      - converge: {}\n');
});
afterAll(() => trap.close());
beforeEach(() => {
  connections = 0;
  for (const path of baits) utimesSync(path, never, new Date());
  for (const path of touched) rmSync(path, { force: true });
});

/** Words that a command needs to get beyond its usage. */
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  run: ['./play.yaml'],
  restart: ['chat'],
  drain: ['chat'],
  ask: ['chat', 'Hello'],
  bench: ['chat'],
  logs: ['studio-1'],
  reboot: ['studio-1'],
  replace: ['studio-1'],
  rollback: ['mlx'],
  'cables measure': ['--all'],
  hold: ['studio-1', '--reason', 'x'],
  release: ['studio-1'],
  forget: ['studio-1'],
  enroll: ['--all'],
  unlock: ['--all'],
  shutdown: ['--all'],
  uninstall: ['--all'],
  exec: ['--all'],
  launch: ['--all'],
};

/** These start the simulated rack, which contacts nothing. */
const leftOut = ['sim up', 'sim hands'];
const tried = verbs.filter(({ name, uses }) => uses.includes('file') && !leftOut.includes(name));

const env = { CI: 'true', SECRET_OF_CI: 'a secret of the pipeline', HOME: place.home };
const named = [
  ...['served', 'tree', 'linked'].map((model) => ['models', 'lock', model]),
  ...['served', 'tree', 'linked', 'listed'].map((model) => ['fit', model, '--on', 'studio-1']),
];

const type = ({ name, uses, tail }: Verb) =>
  meshwrightHere(
    place,
    [
      ...name.split(' '),
      ...(wordsOf[name] ?? []),
      ...(uses.includes('consent') ? ['--yes'] : []),
      ...(uses.includes('json') ? ['--json'] : []),
      ...(tail === undefined ? [] : ['--', 'true']),
    ],
    { env },
  );

describe("a stranger's cluster file in CI", () => {
  it.each(tried.map((verb) => [verb.name, verb] as const))(
    'runs no program, reads no variable or other file, and contacts no server with %s',
    async (_, verb) => {
      const { stdout, stderr } = await type(verb);
      expect(touched.filter((path) => existsSync(path))).toEqual([]);
      expect([connections, isRead()]).toEqual([0, false]);
      expect(stdout + stderr).not.toMatch(/SALT|other people|a secret of the pipeline/);
    },
  );

  it.each(named)('is refused before its sources are read or its servers contacted: %s %s %s', async (...words) => {
    const typed = words.filter((word) => word !== undefined);
    const { code, stdout, stderr } = await meshwrightHere(place, [...typed, '--json'], { env });
    expect([code === 0, connections, isRead()], stdout + stderr).toEqual([false, 0, false]);
    expect(stdout + stderr).not.toMatch(/SALT|other people/);
  });

  it("is refused if it is a symbolic link, and the error shows none of the target's contents", async () => {
    symlinkSync(bait, join(place.folder, 'link.yaml'));
    const { code, stderr, stdout } = await meshwrightHere(place, ['validate', 'link.yaml'], { env });
    expect([code, stderr + stdout]).toEqual([65, expect.stringMatching(/link\.yaml is a link to\s+\S+bait/)]);
    expect(stderr + stdout).not.toMatch(/SALT|other people/);
  });

  it('is refused until the caller allows what it uses; the error shows the arguments to add', async () => {
    const { code, stdout } = await meshwrightHere(place, ['plan', '--json'], { env });
    const document = json({ code, stdout } as never) as { diagnostics: readonly { hint: string }[] };
    expect([code, codesOf(document)]).toEqual([5, ['trust/needed']]);
    expect(document.diagnostics[0]?.hint).toContain(`--trust file=${bait}`);
  });
});
