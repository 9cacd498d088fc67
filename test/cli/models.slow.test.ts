import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { given } from '../../src/model/given.ts';
import { sealName } from '../../src/node/paths/own-paths.ts';
import { inTurn } from '../in-turn.ts';
import { type FileValue, filePart, fileText, first, pairFile, second } from '../scenarios/converge-file.ts';
import { type FakeWeb, openFakeWeb } from '../servers/fake-web.ts';
import { sha256 } from '../unit/engine/scripts/run-job.ts';
import { codesOf, json, meshwright } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';

const { place } = pairPlace(pairFile(), { isApplied: true });

const run = (...words: string[]) => meshwright(place, [...words, '--sim']);

interface Listed {
  readonly models: Readonly<Record<string, { readonly nodes: Readonly<Record<string, { readonly state: string }>> }>>;
  readonly undeclared: readonly { readonly node: string; readonly name: string; readonly bytes: number }[];
}

async function listed(): Promise<Listed> {
  const document = json(await run('models', 'list', '--json'));
  expect(schemaCheck('models')(document)).toEqual([]);
  return document as Listed;
}

/** The folders of published model versions on the simulated Macs, by path below the place. */
const folders = (): readonly string[] =>
  readdirSync(place.root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\/opt\/meshwright\/models\/[^/]+\/[0-9a-f]{16}$/.test(name))
    .sort();

/** Changes a byte of the first Mac's copy in a way that neither times nor counts show. */
function damage(version = folders()[0] ?? ''): string {
  const folder = join(place.root, version);
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.safetensors'));
  const bytes = readFileSync(join(folder, file));
  bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
  writeFileSync(join(folder, file), bytes);
  const later = Date.now() / 1_000 + 60;
  utimesSync(join(folder, sealName), later, later);
  return file;
}

/** Runs one round of each Mac's keeper at a time when the models were published two days ago. */
function keeperRounds(): void {
  for (const path of folders()) {
    const root = join(place.root, path.slice(0, path.indexOf('/opt/meshwright/')));
    const date = join(root, 'bin/date');
    const before = readFileSync(date);
    writeFileSync(date, `#!/bin/sh\nexec /bin/date -u -d '2 days' +%s\n`);
    spawnSync('/bin/sh', [join(root, 'Library/Application Support/meshwright/keeper/keep')]);
    writeFileSync(date, before);
  }
}

inTurn(0, 3)('models lock', () => {
  const file = pairFile((all) => {
    filePart(all, 'models')['tiny'] = { source: 'node:/Volumes/fast/tiny' };
  });

  it('lists a folder on the nodes only if all nodes agree, and reads it once', async () => {
    const before = fileText(pairFile());
    place.write('cluster.yaml', fileText(file));
    const own = folders().map((path) => {
      const shelf = join(place.root, path.slice(0, path.indexOf('/opt/meshwright/')), 'Volumes/fast/tiny');
      cpSync(join(place.root, path), shelf, { recursive: true });
      return shelf;
    });
    const plan = await run('plan');
    expect([plan.code, plan.stdout]).toEqual([1, expect.stringContaining('meshwright models lock tiny')]);
    const odd = join(own[1] ?? '', 'extra.txt');
    writeFileSync(odd, 'x');
    const unequal = await run('models', 'lock', 'tiny', '--json');
    expect([unequal.code, codesOf(json(unequal))]).toEqual([1, ['model/folder-unreadable']]);
    expect(unequal.stdout).toContain('extra.txt is missing on studio-1');
    rmSync(odd);
    const locked = await run('models', 'lock', 'tiny', '--json');
    expect([locked.code, (json(locked) as { lock: { written: boolean } }).lock.written]).toEqual([0, true]);
    const again = await run('models', 'lock', '--json');
    expect([again.code, (json(again) as { lock: { written: boolean } }).lock.written]).toEqual([0, false]);
    expect((await run('apply', '--yes', '--allow', 'interrupt')).code).toBe(0);
    place.write('cluster.yaml', before);
  });
});

inTurn(0, 3)('apply --verify=full', () => {
  it('hashes first, and replaces a damaged model in the same run', async () => {
    expect((await run('plan', '--verify=fast')).code).toBe(64);
    const name = damage();
    const plan = json(await run('plan', '--verify=full', '--json'));
    expect(schemaCheck('plan')(plan)).toEqual([]);
    const works = ['studio-1', 'studio-4'].map((node) => expect.objectContaining({ node, model: 'tiny' }));
    expect(plan).toMatchObject({ hashes: works });
    const applied = await run('apply', '--verify=full', '--yes', '--json');
    const report = json(applied);
    expect([applied.code, schemaCheck('report')(report), codesOf(report)]).toEqual([0, [], ['model/wrong-files']]);
    expect(report).toMatchObject({ counts: { failed: 0 }, hashed: [{ state: 'wrong' }, { state: 'right' }] });
    expect(applied.stdout).toContain(name);

    const [path = ''] = folders();
    const mac = join(place.root, path.slice(0, path.indexOf('/opt/meshwright/')));
    const tools = ['sbin/sha256sum', 'usr/bin/shasum'].map((name) => join(mac, name));
    const before = tools.map((tool) => readFileSync(tool));
    for (const tool of tools) writeFileSync(tool, '#!/bin/sh\nexit 1\n');
    const unreadable = await run('apply', '--verify=full', '--yes');
    for (const [at, tool] of tools.entries()) writeFileSync(tool, before[at] ?? '');
    expect([unreadable.code, unreadable.stdout]).toEqual([4, expect.stringContaining('nothing else was changed')]);
    expect((await run('apply', '--yes')).code).toBe(0);
  });
});

inTurn(1, 3)('the models commands', () => {
  it('find a damaged file only by hashing, and apply replaces the model', async () => {
    const file = damage();
    expect((await run('models', 'verify')).code).toBe(0);
    const full = await run('models', 'verify', '--full', '--json');
    expect([full.code, codesOf(json(full))]).toEqual([4, ['model/wrong-files']]);
    expect(full.stdout).toContain(file);
    expect((await run('models', 'verify')).code).toBe(4);
    const again = await run('models', 'verify', '--full');
    const [, end = ''] = again.stdout.replaceAll(/\s+/g, ' ').split('Wrong or incomplete copies (1)');
    expect([again.code, end]).toEqual([4, expect.stringContaining(`wrong ${file}`)]);
    expect(again.stdout).not.toContain('matches its SHA-256');
    expect((await run('apply', '--yes', '--allow', 'interrupt')).code).toBe(0);
    expect((await run('models', 'verify', '--full')).stdout).toContain('matches its SHA-256');
  });

  it('show what the keeper has hashed, and apply replaces a model that the keeper found damaged', async () => {
    const file = damage();
    keeperRounds();
    expect((await run('doctor', '--json')).stdout).toContain('"model/damaged"');
    const plan = await run('plan');
    expect(plan.stdout.replaceAll(/\s+/g, ' ')).toContain(`changed since publication: wrong contents in ${file}`);
    expect((await run('apply', '--yes', '--allow', 'interrupt')).code).toBe(0);
    keeperRounds();
    const { models } = await listed();
    const days = Object.values(models['tiny']?.nodes ?? {});
    const hashedOn = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/);
    expect(days).toEqual([1, 2].map(() => ({ state: 'complete', needed: true, hashedOn })));
  });

  it('delete an undeclared model with consent, unless a rank uses the model', async () => {
    const text = fileText(pairFile());
    place.write('cluster.yaml', text.replaceAll('tiny:', 'small:').replaceAll('model: tiny', 'model: small'));
    const { undeclared } = await listed();
    expect(undeclared.map(({ name }) => name)).toEqual(['tiny', 'tiny']);
    expect(Math.min(...undeclared.map(({ bytes }) => bytes))).toBeGreaterThan(0);
    const used = await run('models', 'prune', '--all', '--yes', '--allow', 'delete', '--json');
    expect([used.code, used.stdout.includes('model/in-use'), folders().length]).toEqual([3, true, 2]);
    expect((await run('apply', '--yes', '--update-lock', '--allow', 'interrupt')).code).toBe(0);
    expect((await run('models', 'prune')).code).toBe(64);
    expect((await run('models', 'prune', 'tiny')).code).toBe(5);
    expect((await run('models', 'prune', 'tiny', '--yes')).code).toBe(5);
    expect(folders()).toHaveLength(4);
    expect((await run('models', 'prune', 'tiny', '--yes', '--allow', 'delete')).code).toBe(0);
    expect(folders().map((path) => path.split('/').at(-2))).toEqual(['small', 'small']);
    const again = await run('models', 'prune', '--all', '--yes', '--allow', 'delete', '--json');
    expect([again.code, (json(again) as { counts: { changed: number } }).counts.changed]).toEqual([0, 0]);
  });
});

inTurn(2, 3)('a model on a server', () => {
  const fileFrom = (folder: string): string =>
    fileText(
      pairFile((all) => {
        filePart(all, 'models')['tiny'] = { source: `https://models.lan/${folder}/` };
      }),
    );

  it('is listed once, and is then sent to each node', async () => {
    place.write('cluster.yaml', fileFrom('llm/kimi'));
    const locked = await run('models', 'lock', 'tiny', '--json');
    expect([locked.code, (json(locked) as { models: unknown }).models]).toEqual([0, ['tiny']]);
    expect((await run('models', 'lock')).stdout).toContain('nothing was changed');
    expect((await run('models', 'pull', 'tiny', '--yes')).code).toBe(0);
    const nodes = Object.values((await listed()).models['tiny']?.nodes ?? {});
    expect(nodes.map(({ state }) => state)).toEqual(['complete', 'complete']);
  });

  it('is unknown if the server has no checksum list', async () => {
    place.write('cluster.yaml', fileFrom('missing'));
    const plan = await run('plan');
    place.write('cluster.yaml', fileText(pairFile()));
    expect([plan.code, plan.stdout.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining('missing/SHA256SUMS does not exist (HTTP 404). To make the list, run this'),
    ]);
  });
});

inTurn(2, 3)('models pull', () => {
  const host = 'models.lan';
  let web: FakeWeb;
  afterAll(() => web.close());

  const filesOf = (folder: string) =>
    readdirSync(join(place.folder, 'models', folder))
      .toSorted()
      .map((path) => ({ path, bytes: readFileSync(join(place.folder, 'models', folder, path)) }));
  const bodyOf = (url: string): Buffer | undefined => {
    const [, folder = '', path] = url.split('/');
    return filesOf(folder).find((one) => one.path === path)?.bytes;
  };
  const fromServer = (folder: string, change: (all: FileValue) => void = () => undefined): string =>
    fileText(
      pairFile((all) => {
        const files = filesOf(folder).map(({ path, bytes }) => [path, { size: bytes.length, sha256: sha256(bytes) }]);
        filePart(all, 'models')['tiny'] = { source: `https://${host}/${folder}/`, files: Object.fromEntries(files) };
        change(all);
      }),
    );

  it("lists a new model's files in a rehearsal, as plan and apply do", async () => {
    const fromHub = pairFile((all) => {
      filePart(all, 'models')['tiny'] = { source: 'hf:mlx-community/Llama-3.2-1B-Instruct-4bit' };
    });
    place.write('cluster.yaml', fileText(fromHub));
    const unlocked = await meshwright(place, ['models', 'pull', 'tiny', '--yes', '--json']);
    expect([unlocked.code, codesOf(json(unlocked))]).toEqual([65, ['model/unresolved']]);
    const pulled = await run('models', 'pull', 'tiny', '--yes');
    expect([pulled.code, pulled.stdout]).toEqual([0, expect.stringMatching(/New in .*cluster\.lock/)]);
    expect((await run('models', 'verify', 'tiny')).code).toBe(0);
  });

  it("downloads once for both nodes, and repairs a damaged file with the other node's copy", async () => {
    const files = filesOf('large');
    const sizeBytes = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    web = await openFakeWeb(
      new Map([[host, ({ path }) => ({ status: 200, isRanged: true, ...given({ body: bodyOf(path) }) })]]),
    );
    for (const path of folders()) {
      const disk = join(place.root, path.slice(0, path.indexOf('/opt/meshwright/')));
      writeFileSync(join(disk, '.sim/ca'), web.ca);
      writeFileSync(join(disk, '.sim/web'), web.lines);
    }
    place.write('cluster.yaml', fromServer('large'));
    // Nothing is sent over the cables of a running placement.
    expect((await run('stop', 'chat', '--yes')).code).toBe(0);
    web.fault({ kind: 'slow', bytesPerSecond: sizeBytes / 3 });
    const detached = await run('models', 'pull', 'tiny', '--detach', '--yes');
    expect([detached.code, detached.stdout]).toEqual([0, expect.stringContaining('models list tiny')]);
    expect(web.bytes({ host })).toBeLessThan(sizeBytes);
    const nodes = Object.values((await listed()).models['tiny']?.nodes ?? {});
    expect(nodes).toEqual([expect.objectContaining({ job: 'running' }), expect.objectContaining({ job: 'running' })]);
    expect((await run('models', 'pull', 'tiny', '--yes')).code).toBe(0);
    expect([web.bytes({ host }), web.count({ host })]).toEqual([sizeBytes, files.length]);

    web.reset();
    expect((await run('models', 'pull', '--all', '--yes')).stdout).toContain('0 changed');
    const applied = await run('apply', '--yes', '--allow', 'interrupt');
    expect([applied.code, web.count({})]).toEqual([0, 0]);

    const sizeIn = (version: string, { path }: { readonly path: string }) =>
      statSync(join(place.root, version, path)).size;
    const large = files.find(({ path }) => path.endsWith('.safetensors'));
    const copy = folders().find((version) => large !== undefined && sizeIn(version, large) === large.bytes.length);
    // While the placement runs, over Ethernet and SSH; after that over the cables.
    for (const verb of [[], ['stop', 'chat', '--yes']]) {
      if (verb.length > 0) expect((await run(...verb)).code).toBe(0);
      damage(copy);
      expect((await run('apply', '--verify=full', '--yes', '--allow', 'interrupt')).code).toBe(0);
      expect(web.requests).toEqual([]);
    }
    expect((await run('models', 'verify', '--full')).code).toBe(0);
    place.write('cluster.yaml', fileText(pairFile()));
    expect((await run('models', 'pull', 'tiny', '--detach', '--yes')).code).toBe(64);
  });

  it('is not needed when a placement moves, because the Mac that has the model sends it', async () => {
    const fileOn = (node: string): string =>
      fromServer('newer', (all) => {
        const chat = filePart(all, 'placements', 'chat');
        chat['nodes'] = [node];
        delete chat['sharding'];
      });
    const apply = async () => (await run('apply', '--yes', '--allow', 'interrupt')).code;
    place.write('cluster.yaml', fileOn(first));
    expect([await apply(), web.count({ host })]).toEqual([0, filesOf('newer').length]);
    web.reset();
    place.write('cluster.yaml', fileOn(second));
    expect((await run('plan')).stdout).toMatch(/from other Macs/);
    expect([await apply(), web.requests]).toEqual([0, []]);
    place.write('cluster.yaml', fileText(pairFile()));
  });
});
