import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../../../src/config/lock.ts';
import {
  type SettledFleet,
  settleFleet,
  withIdentities,
  withNodes,
  withOtherMac,
  withoutFormerNetworks,
  withoutNode,
} from '../../../../src/desired/settle/settle.ts';
import { type SourceFacts, sourcesToRead as sourcesToReadItself } from '../../../../src/desired/settle/settle-trees.ts';
import { keysByDriver } from '../../../../src/drivers/registry.ts';
import { loadCluster } from '../../../../src/engine/load-cluster.ts';
import type { ClusterLock } from '../../../../src/model/cluster-lock.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { digest, digestOf } from '../../../../src/model/digest.ts';
import { runtimeSubject } from '../../../../src/model/subject.ts';
import { onOnePage, onPage, sayValue } from '../../one-page.ts';

const sourcesToRead = onPage(sourcesToReadItself);

const nothing: SourceFacts = { archives: {}, folders: {} };
const lock = emptyLock('cluster.lock');
const sha = (letter: string) => digest(letter.repeat(64));

interface Wish {
  readonly links?: readonly string[];
  readonly pool?: string | null;
  readonly more?: string;
}

/** A rack of three nodes with these links. */
function fleetWith({ links = [], pool = '10.77.0.0/24', more = '' }: Wish): DesiredFleet {
  const addressing = pool === null ? '' : `  addressing: { pool: ${pool} }\n`;
  const text = `schema: 1
name: rack
nodes: { a: { host: a.lan }, b: { host: b.lan }, c: { host: c.lan } }
thunderbolt:
  bridge: remove
${addressing}  links: [${links.join(', ')}]
${more}`;
  const { fleet, diagnostics } = loadCluster(text, 'cluster.yaml');
  if (fleet === undefined) throw new Error(diagnostics.map(({ code, detail }) => `${code} ${detail}`).join('\n'));
  return fleet;
}

/** Records the additions, the problems and the sources on the page of this file. */
function recorded(settled: SettledFleet): SettledFleet {
  const { fleet, additions, diagnostics } = settled;
  sayValue([additions, diagnostics, fleet.models.map(({ source, hub, unread }) => ({ source, hub, unread }))]);
  return settled;
}
const settle = (wish: Wish, from: ClusterLock = lock, sources = nothing): SettledFleet =>
  recorded(settleFleet(fleetWith(wish), from, sources, '/rack', keysByDriver));
const linksOf = ({ lock: { links } }: SettledFleet) =>
  Object.fromEntries(Object.entries(links).map(([name, { address }]) => [name, address]));
const codesOf = ({ diagnostics }: SettledFleet) => diagnostics.map(({ code }) => code);

describe('link networks', () => {
  const two = settle({ links: ['a:2 <-> b:2', 'c:3 <-> a:3'] });

  it('are the first free networks, allocated in file order, and each is reported', () => {
    expect(linksOf(two)).toEqual({ 'a:2 <-> b:2': '10.77.0.0', 'a:3 <-> c:3': '10.77.0.4' });
    expect(two.fleet.thunderbolt.networks).toEqual({
      0: { address: '10.77.0.0', prefixLength: 30 },
      1: { address: '10.77.0.4', prefixLength: 30 },
    });
    expect(two.additions).toEqual(['link a:2 <-> b:2: 10.77.0.0/30', 'link a:3 <-> c:3: 10.77.0.4/30']);
    expect(two.diagnostics).toEqual([]);
  });

  it('are unchanged if links are added, moved in the file or reversed', () => {
    const more = settle({ links: ['b:4 <-> c:4', 'a:3 <-> c:3', 'b:2 <-> a:2'] }, two.lock);
    expect(linksOf(more)).toEqual({ ...linksOf(two), 'b:4 <-> c:4': '10.77.0.8' });
    expect(more.fleet.thunderbolt.networks[2]).toEqual({ address: '10.77.0.0', prefixLength: 30 });
    expect(more.additions).toEqual(['link b:4 <-> c:4: 10.77.0.8/30']);
  });

  it('do not change in a second run', () => {
    const again = settle({ links: ['a:2 <-> b:2', 'c:3 <-> a:3'] }, two.lock);
    expect([again.lock, again.additions]).toEqual([two.lock, []]);
  });

  it('stay reserved after a link is removed, until no node uses them', () => {
    const left = settle({ links: ['c:3 <-> a:3', 'b:4 <-> c:4'] }, two.lock);
    expect(linksOf(left)).toEqual({ 'a:3 <-> c:3': '10.77.0.4', 'b:4 <-> c:4': '10.77.0.8' });
    expect(left.fleet.thunderbolt.formerNetworks).toEqual([{ address: '10.77.0.0', prefixLength: 30 }]);
    expect(left.lock.formerNetworks).toEqual({ '10.77.0.0/30': 'a:2 <-> b:2' });
    const gone = withoutFormerNetworks(left.lock, ['10.77.0.0/30']);
    const next = settle({ links: ['c:3 <-> a:3', 'b:4 <-> c:4', 'a:5 <-> b:5'] }, gone);
    expect(linksOf(next)['a:5 <-> b:5']).toBe('10.77.0.0');
    expect(next.fleet.thunderbolt.formerNetworks).toEqual([]);
  });

  it('are given back to a link that is added again', () => {
    const left = settle({ links: [] }, two.lock);
    const back = settle({ links: ['b:4 <-> c:4', 'a:3 <-> c:3'] }, left.lock);
    expect(linksOf(back)).toEqual({ 'a:3 <-> c:3': '10.77.0.4', 'b:4 <-> c:4': '10.77.0.8' });
    expect(back.lock.formerNetworks).toEqual({ '10.77.0.0/30': 'a:2 <-> b:2' });
  });

  it('move with the pool, and the former networks are marked for removal', () => {
    const moved = settle({ links: ['a:2 <-> b:2'], pool: '10.78.0.0/24' }, settle({ links: ['a:2 <-> b:2'] }).lock);
    expect(linksOf(moved)).toEqual({ 'a:2 <-> b:2': '10.78.0.0' });
    expect(moved.fleet.thunderbolt.formerNetworks).toEqual([{ address: '10.77.0.0', prefixLength: 30 }]);
    expect(moved.additions).toEqual([
      'link a:2 <-> b:2: 10.78.0.0/30 instead of 10.77.0.0/30, because the pool changed',
    ]);
    const returned = settle({ links: ['a:2 <-> b:2'] }, moved.lock);
    expect(linksOf(returned)).toEqual({ 'a:2 <-> b:2': '10.77.0.0' });
    expect(returned.lock.formerNetworks).toEqual({ '10.78.0.0/30': 'a:2 <-> b:2' });
  });

  it('are unchanged in a larger pool', () => {
    const larger = settle({ links: ['a:2 <-> b:2', 'c:3 <-> a:3'], pool: '10.77.0.0/16' }, two.lock);
    expect([larger.lock, larger.additions]).toEqual([two.lock, []]);
  });

  it('are removed together with the pool', () => {
    const without = settle({ links: ['a:2 <-> b:2', 'c:3 <-> a:3'], pool: null }, two.lock);
    expect(without.fleet.thunderbolt.networks).toEqual({});
    expect(without.fleet.thunderbolt.formerNetworks.map(({ address }) => address)).toEqual(['10.77.0.0', '10.77.0.4']);
    expect(without.lock.links).toEqual({});
  });

  it('cause an error that names the links if the pool is exhausted', () => {
    const small = settle({ links: ['a:2 <-> b:2'], pool: '10.77.0.0/30' });
    const other = settle({ links: ['a:3 <-> b:3'], pool: '10.77.0.0/30' }, small.lock);
    expect(codesOf(other)).toEqual(['lock/pool-full']);
    const freed = withoutFormerNetworks(other.lock, ['10.77.0.0/30']);
    expect(codesOf(settle({ links: ['a:3 <-> b:3'], pool: '10.77.0.0/30' }, freed))).toEqual([]);
  });
});

describe('a runtime', () => {
  const runtimes = 'runtimes: { ref: { driver: command, archive: dist/ref.tar.gz, command: ["{runtime}/r"] } }\n';
  const archive = (letter: string): SourceFacts => ({
    archives: { ref: { kind: 'known', sha256: sha(letter), sizeBytes: 1_234_567 } },
    folders: {},
  });
  const first = settle({ more: runtimes }, lock, archive('a'));

  it('is identified by its archive, with an absolute path', () => {
    expect(first.fleet.runtimes[0]).toMatchObject({
      archive: '/rack/dist/ref.tar.gz',
      sha256: sha('a'),
      sizeBytes: 1_234_567,
    });
    expect(first.lock.runtimes).toEqual({ ref: { sha256: sha('a'), sizeBytes: 1_234_567 } });
    expect(first.additions).toEqual(['runtime ref: sha256 aaaaaaaaaaaaaaaa, 1.2 MB']);
  });

  it('is reported if its archive differs from the locked one', () => {
    const changed = settle({ more: runtimes }, first.lock, archive('b'));
    expect(changed.fleet.runtimes[0]?.sha256).toBe(sha('b'));
    expect(changed.additions).toEqual([
      'runtime ref: archive changed, sha256 bbbbbbbbbbbbbbbb instead of aaaaaaaaaaaaaaaa',
    ]);
    expect(settle({ more: runtimes }, first.lock, archive('a')).additions).toEqual([]);
  });

  it.each([
    ['missing', 'runtime/archive-missing'],
    ['unreadable', 'runtime/archive-unreadable'],
  ] as const)('keeps the locked values while its archive is %s', (kind, code) => {
    const sources: SourceFacts = { archives: { ref: { kind, detail: 'No.' } }, folders: {} };
    const settled = settle({ more: runtimes }, first.lock, sources);
    expect([settled.fleet.runtimes, settled.lock, settled.diagnostics]).toEqual([first.fleet.runtimes, first.lock, []]);
    const unlocked = settle({ more: runtimes }, lock, sources);
    expect(unlocked.diagnostics).toMatchObject([{ code, subject: runtimeSubject('ref'), detail: 'No.' }]);
    expect(unlocked.fleet.runtimes[0]?.sha256).toBeUndefined();
  });

  it('causes an error if it was not read', () => {
    expect(codesOf(settle({ more: runtimes }))).toEqual(['runtime/archive-unreadable']);
  });

  it('is dropped from the lock once it is removed from the file', () => {
    const without = settle({}, first.lock);
    expect([without.lock.runtimes, without.additions]).toEqual([{}, []]);
  });
});

describe('a model', () => {
  const here = 'models: { tiny: { source: ./tiny } }\n';
  const files = [
    { path: 'b.bin', sha256: sha('b'), sizeBytes: 2_000 },
    { path: 'a.json', sha256: sha('a'), sizeBytes: 5 },
  ];
  const read = (list: typeof files): SourceFacts => ({ ...nothing, folders: { tiny: { kind: 'known', files: list } } });
  const first = settle({ more: here }, lock, read(files));
  const sorted = [...files].reverse();
  const foldersToRead = (more: string, from: ClusterLock) =>
    sourcesToRead(fleetWith({ more }), from, '/rack').flatMap((one) =>
      one.kind === 'controller' && one.isFolder ? `${one.name}: ${one.path}` : [],
    );

  it("has its local folder's files in the lock, sorted, with their digest", () => {
    expect(first.fleet.models).toEqual([
      { name: 'tiny', source: { kind: 'controller', folder: '/rack/tiny' }, files: sorted, digest: digestOf(sorted) },
    ]);
    expect(first.lock.models).toEqual({ tiny: { source: './tiny', files: sorted } });
    expect(first.additions).toEqual(['model tiny: 2 files, 2.0 kB']);
  });

  it('is not read again once it is locked', () => {
    expect(settle({ more: here }, first.lock)).toEqual({ ...first, additions: [] });
    expect(foldersToRead(here, first.lock)).toEqual([]);
    expect(foldersToRead(here, lock)).toEqual(['tiny: /rack/tiny']);
  });

  it('is read again and reported if the file names a different folder', () => {
    const moved = 'models: { tiny: { source: ./moved } }\n';
    expect(foldersToRead(moved, first.lock)).toEqual(['tiny: /rack/moved']);
    const other = settle({ more: moved }, first.lock, read(files.slice(1)));
    expect(other.lock.models).toEqual({ tiny: { source: './moved', files: sorted.slice(0, 1) } });
    expect(other.additions).toEqual(['model tiny: files changed, now one file, 5 bytes']);
    expect(settle({ more: moved }, first.lock, read(files)).additions).toEqual([
      'model tiny: the same files, from ./moved',
    ]);
    const missing: SourceFacts = { archives: {}, folders: { tiny: { kind: 'missing', detail: 'No.' } } };
    expect(codesOf(settle({ more: moved }, first.lock, missing))).toEqual(['model/folder-missing']);
  });

  it('is reported as changed if its folder was read and differs from the lock', () => {
    const changed = settle({ more: here }, first.lock, read(files.slice(1)));
    expect(changed.additions).toEqual(['model tiny: files changed, now one file, 5 bytes']);
    expect(changed.fleet.models[0]?.digest).toBe(digestOf(sorted.slice(0, 1)));
  });

  it("has its repository's commit in the lock, and its nodes download that commit", () => {
    const hub = 'models: { tiny: { source: hf:acme/tiny } }\n';
    const commit = 'c'.repeat(40);
    const answer: SourceFacts = { ...nothing, folders: { tiny: { kind: 'known', commit, files: sorted } } };
    const none: SourceFacts = { ...nothing, folders: { tiny: { kind: 'unresolved', detail: 'No.' } } };
    expect(codesOf(settle({ more: hub }, lock, none))).toEqual(['model/unresolved']);
    const resolved = settle({ more: hub }, lock, answer);
    expect(resolved.lock.models).toEqual({ tiny: { source: 'hf:acme/tiny', commit, files: sorted } });
    expect(resolved.additions[1]).toBe(`model tiny: commit ${commit.slice(0, 12)}`);
    const again = settle({ more: hub }, resolved.lock, none);
    expect([again.additions, again.diagnostics, again.fleet.models[0]?.source]).toEqual([
      [],
      [],
      { kind: 'url', base: `https://huggingface.co/acme/tiny/resolve/${commit}/` },
    ]);
    const other = 'models: { tiny: { source: hf:acme/tiny@v2 } }\n';
    expect(codesOf(settle({ more: other }, resolved.lock, none))).toEqual(['model/unresolved']);
  });

  it('needs neither a folder nor the lock if the file lists its files', () => {
    const list = `files: { a.json: { sha256: ${'a'.repeat(64)}, size: 5 } }`;
    for (const source of ['./tiny', 'node:/Volumes/tiny', 'https://models.lan/tiny']) {
      const settled = settle({ more: `models: { tiny: { source: "${source}", ${list} } }\n` });
      expect(settled.fleet.models[0]?.digest).toBe(digestOf(sorted.slice(0, 1)));
      expect([settled.lock.models, settled.additions, settled.diagnostics]).toEqual([{}, [], []]);
    }
  });

  it.each([
    ['missing', 'model/folder-missing'],
    ['unreadable', 'model/folder-unreadable'],
  ] as const)('causes an error if its folder is %s, unless it is locked', (kind, code) => {
    const sources: SourceFacts = { archives: {}, folders: { tiny: { kind, detail: 'No.' } } };
    expect(codesOf(settle({ more: here }, lock, sources))).toEqual([code]);
    expect(codesOf(settle({ more: here }, first.lock, sources))).toEqual([]);
  });

  it.each([
    ['model/folder-empty', []],
    ['model/bad-file-name', ['two words']],
    ['model/bad-file-name', ['../a']],
    ['model/bad-file-name', ['.meshwright-seal']],
    ['model/bad-file-name', ['x'.repeat(241)]],
    ['model/path-collision', ['Config.json', 'config.json']],
    ['model/path-collision', ['a/b', 'A']],
  ])('is refused with %s', (code, paths) => {
    const settled = settle({ more: here }, lock, read(paths.map((path) => ({ path, sha256: sha('a'), sizeBytes: 1 }))));
    expect(codesOf(settled)).toEqual([code]);
    expect(settled.lock.models).toEqual({});
  });

  it.each([
    [2_048, 4, []],
    [2_049, 4, ['model/too-many-files']],
    [2_000, 100, []],
    [2_000, 101, ['model/too-many-files']],
  ])('has to fit in the lock: %d paths of %d characters', (count, length, codes) => {
    const paths = Array.from({ length: count }, (_, index) => String(index).padStart(length, 'x'));
    const settled = settle({ more: here }, lock, read(paths.map((path) => ({ path, sha256: sha('a'), sizeBytes: 1 }))));
    expect(codesOf(settled)).toEqual(codes);
  });
});

describe('a node in the lock', () => {
  it('causes an error that suggests forget if it was removed from the file', () => {
    expect(codesOf(settle({}, withNodes(lock, ['c', 'a', 'gone'])))).toEqual(['lock/node-left-file']);
  });

  it('is listed once, sorted, until it is forgotten', () => {
    const both = withNodes(withNodes(lock, ['b', 'a']), ['a', 'c']);
    expect(both.nodes).toEqual(['a', 'b', 'c']);
    expect(withoutNode(both, 'b').nodes).toEqual(['a', 'c']);
    const [one, other] = [digest('1'.repeat(64)), digest('2'.repeat(64))];
    const seen = withIdentities(withIdentities(both, { a: one, b: one }), { a: other });
    expect([seen.identities, withIdentities(both, {})]).toEqual([{ a: one, b: one }, both]);
    expect(withoutNode(withOtherMac(seen, 'a', other), 'b').identities).toEqual({ a: other });
    expect(codesOf(settle({}, withoutNode(withNodes(lock, ['gone']), 'gone')))).toEqual([]);
  });
});

onOnePage('settle');
