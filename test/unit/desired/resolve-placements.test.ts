import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contextTokens, durationMs } from '../../../src/desired/amounts.ts';
import { modelSource, resolveFleet as resolveFleetItself } from '../../../src/desired/resolve.ts';
import { collisionsOf, isTreePath, mostTreeFiles } from '../../../src/desired/tree-paths.ts';
import { keysByDriver } from '../../../src/drivers/registry.ts';
import type { ClusterSpec } from '../../../src/model/cluster-spec.generated.ts';
import { bytesText } from '../../../src/model/text/units.ts';
import { onOnePage, onPage } from '../one-page.ts';

const resolveFleet = onPage((spec: ClusterSpec) => resolveFleetItself(spec, keysByDriver));

const spec: ClusterSpec = {
  schema: 1,
  name: 'rack',
  nodes: { a: { host: 'a.lan' }, b: { host: 'b.lan' } },
  runtimes: { ref: { driver: 'command', archive: './ref.zip', command: ['{runtime}/r'] } },
  models: { z: { source: './z' }, a: { source: 'node:/Volumes/a', files: {} } },
  placements: {
    chat: { model: 'z', runtime: 'ref', nodes: ['b', 'a'], sharding: 'tensor', transport: 'tcp', context: '128k' },
  },
};

describe('a resolved placement', () => {
  it('has its nodes in rank order and all defaults', () => {
    expect(resolveFleet(spec).placements).toMatchObject([{ nodes: ['b', 'a'], contextTokens: 131_072, parallel: 1 }]);
  });

  it("uses the file's values instead of defaults", () => {
    const chat = {
      ...spec.placements?.['chat'],
      context: 4_096,
      env: { A: '1' },
      endpoint: { port: 9_000 },
      expect: { firstToken: '2m' },
      state: 'stopped',
    };
    const { placements } = resolveFleet({ ...spec, placements: { chat } } as ClusterSpec);
    expect(placements[0]).toMatchObject({
      contextTokens: 4_096,
      env: { A: '1' },
      endpointPort: 9_000,
      firstTokenMs: 120_000,
      state: 'stopped',
    });
  });
});

describe('a resolved runtime', () => {
  it('starts as a group, leader first, with the OpenAI API', () => {
    expect(resolveFleet(spec).runtimes).toMatchObject([{ order: 'leader-first', restart: 'group' }]);
  });
});

describe('a resolved model', () => {
  it('has its files sorted by path, and is itself sorted by name', () => {
    const file = { sha256: 'a'.repeat(64), size: 1 };
    const { models } = resolveFleet({
      ...spec,
      models: { ...spec.models, b: { source: '/b', files: { y: file, 'x/z': file } } },
    });
    expect(models.map(({ name }) => name)).toEqual(['a', 'b', 'z']);
    expect(models[1]?.files.map(({ path }) => path)).toEqual(['x/z', 'y']);
  });

  it.each([
    ['./tiny', { kind: 'controller', folder: './tiny' }],
    ['/Volumes/tiny', { kind: 'controller', folder: '/Volumes/tiny' }],
    ['node:/Volumes/tiny', { kind: 'node', folder: '/Volumes/tiny' }],
    ['https://models.lan/tiny', { kind: 'url', base: 'https://models.lan/tiny/' }],
    ['http://models.lan:8000/tiny/', { kind: 'url', base: 'http://models.lan:8000/tiny/' }],
  ])('has a source that depends on its text: %s', (text, source) => {
    expect(modelSource(text, undefined)).toEqual(source);
  });

  it.each([
    [
      'may come over plain http if the file allows it',
      { plainHttp: 'allowed' },
      { base: 'https://models.lan:8000/tiny/', plainHttp: true },
    ],
    [
      'comes from the mirror of the file',
      { mirror: 'https://mirror.lan/' },
      { base: 'https://mirror.lan/models.lan:8000/tiny/' },
    ],
    [
      'comes from a mirror without a slash',
      { mirror: 'https://mirror.lan' },
      { base: 'https://mirror.lan/models.lan:8000/tiny/' },
    ],
  ] as const)('%s', (_, downloads, source) => {
    expect(modelSource('https://models.lan:8000/tiny', downloads)).toEqual({ kind: 'url', ...source });
  });
});

describe('an amount', () => {
  it.each([
    ['a context, with k for 1,024', ['128k', '4096', '1k'].map(contextTokens), [131_072, 4_096, 1_024]],
    ['no context', ['0', 'k', '1.5k', '128K'].map(contextTokens), Array(4).fill(undefined)],
    ['a duration in seconds or minutes', ['30s', '2m'].map(durationMs), [30_000, 120_000]],
    ['no duration', ['0s', '30', '1h'].map(durationMs), Array(3).fill(undefined)],
    ['bytes below 1,000', [0, 999].map(bytesText), ['0 bytes', '999 bytes']],
    [
      'bytes in decimal units',
      [1_000, 1_234_567, 735e9, 2e15].map(bytesText),
      ['1.0 kB', '1.2 MB', '735.0 GB', '2000.0 TB'],
    ],
  ])('is %s', (_, read, amounts) => {
    expect(read).toEqual(amounts);
  });
});

describe('a path inside a model', () => {
  const { $defs } = JSON.parse(readFileSync('schemas/cluster.schema.json', 'utf8'));
  /** A path of 512 characters. */
  const longest = `${'a/'.repeat(255)}aa`;
  const inside = ['a', 'a/b.bin', '.gitattributes', '..a', '...', 'x/.meshwright', longest];
  const outside = ['a/..', './a', '../a', '/a', 'a/', 'a//b', 'a b', '', '\u0000', 'é', 'a'.repeat(513), `${longest}a`];
  const paths = [...inside, ...outside, '.meshwright', '.meshwright-seal'];

  it.each(paths)('is checked as in the schema: %j', (path) => {
    const form = new RegExp($defs.filePath.pattern, 'u');
    expect(isTreePath(path)).toBe(path.length <= $defs.filePath.maxLength && form.test(path));
  });

  it('is inside, visible and not reserved', () => {
    expect(paths.filter(isTreePath)).toEqual(inside);
    expect($defs.model.properties.files.maxProperties).toBe(mostTreeFiles);
  });

  it('collides with a path that differs only in case, and with a folder of the same name', () => {
    expect(collisionsOf(['a', 'b', 'A'])).toEqual([{ path: 'A', other: 'a' }]);
    expect(collisionsOf(['W/x', 'w'])).toEqual([{ path: 'w', other: 'W/x' }]);
    expect(collisionsOf(['w', 'W/x/y'])).toEqual([{ path: 'W/x/y', other: 'w' }]);
    expect(collisionsOf(['w/a', 'w/b', 'v/a', 'wa'])).toEqual([]);
  });

  it("cannot differ from another only in a letter's Unicode form", () => {
    expect(['\u00e9', 'e\u0301'].map(isTreePath)).toEqual([false, false]);
  });
});

onOnePage('resolve-placements');
