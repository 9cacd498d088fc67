import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../src/config/lock.ts';
import { renderLock } from '../../src/config/lock-text.ts';
import { settleFleet } from '../../src/desired/settle/settle.ts';
import { isTreePath } from '../../src/desired/tree-paths.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { keysByDriver } from '../../src/drivers/registry.ts';
import { loadCluster, parseLock } from '../../src/engine/load-cluster.ts';
import type { ClusterLock } from '../../src/model/cluster-lock.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { digest } from '../../src/model/digest.ts';
import type { TreeFile } from '../../src/model/node-script.ts';
import { runs } from '../runs.ts';

const file = 'cluster.lock';
const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/).map(digest);
const sizeBytes = fc.nat({ max: 1e12 });
const path = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9._+@=,-]{1,9}(\/[A-Za-z0-9._-]{1,9}){0,2}$/).filter(isTreePath),
  fc.constantFrom('__proto__', 'constructor', '1e5', 'null', '0x1', '1_000'),
);

/** Random links between four nodes, with no receptacle used twice. */
const links = fc
  .shuffledSubarray(['a:1', 'a:2', 'a:3', 'b:1', 'b:2', 'b:3', 'c:1', 'c:2', 'd:1', 'd:10', 'd:2'])
  .map((ends) =>
    Array.from({ length: Math.floor(ends.length / 2) }, (_, index) => [
      ends[2 * index] ?? '',
      ends[2 * index + 1] ?? '',
    ]),
  )
  .map((pairs) => pairs.filter(([a = '', b = '']) => a[0] !== b[0]).map((pair) => pair.join(' <-> ')));

const files = fc
  .uniqueArray(fc.record({ path, sha256, sizeBytes }), { selector: (one) => one.path, minLength: 1, maxLength: 6 })
  .map((list): readonly TreeFile[] => list.toSorted((a, b) => (a.path < b.path ? -1 : 1)));

const network = (index: number) => ({
  address: `10.0.${Math.floor(index / 64)}.${(index % 64) * 4}`,
  prefixLength: 30,
});

const lock: fc.Arbitrary<ClusterLock> = fc
  .record({
    nodes: fc.uniqueArray(name, { maxLength: 6 }),
    links,
    former: links,
    runtimes: fc.dictionary(name, fc.record({ sha256, sizeBytes }), { maxKeys: 4 }),
    models: fc.dictionary(name, fc.record({ source: path.map((text) => `./${text}`), files }), { maxKeys: 3 }),
  })
  .map((one) => ({
    ...emptyLock(file),
    nodes: one.nodes.toSorted(),
    links: Object.fromEntries(one.links.map((link, index) => [inOrder(link), network(index)])),
    formerNetworks: Object.fromEntries(
      one.former.map((link, index) => [`${network(100 + index).address}/30`, inOrder(link)]),
    ),
    runtimes: { ...one.runtimes },
    models: { ...one.models },
  }));

function inOrder(link: string): string {
  return link.split(' <-> ').sort().join(' <-> ');
}

/** A fleet with these links from a file. */
function fleetWith(declared: readonly string[]): DesiredFleet {
  const text = `schema: 1
name: rack
nodes: { a: { host: a.lan }, b: { host: b.lan }, c: { host: c.lan }, d: { host: d.lan } }
thunderbolt: { addressing: { pool: 10.77.0.0/24 }, links: [${declared.join(', ')}] }
`;
  const { fleet, diagnostics } = loadCluster(text, 'cluster.yaml');
  if (fleet === undefined) throw new Error(diagnostics.map(({ detail }) => plainText(detail)).join('\n'));
  return fleet;
}

const settle = (declared: readonly string[], from: ClusterLock) =>
  settleFleet(fleetWith(declared), from, { archives: {}, folders: {} }, '/rack', keysByDriver);

describe('a lock file', () => {
  it('is read back exactly as written', () => {
    fc.assert(
      fc.property(lock, (one) => {
        expect(parseLock(renderLock(one), file)).toEqual({ lock: one, diagnostics: [] });
      }),
      { numRuns: runs(100) },
    );
  });

  it('has the same text whatever the order of its entries', () => {
    fc.assert(
      fc.property(lock, (one) => {
        const turned = <T>(map: Readonly<Record<string, T>>) => Object.fromEntries(Object.entries(map).reverse());
        const other: ClusterLock = {
          ...one,
          nodes: one.nodes.toReversed(),
          links: turned(one.links),
          formerNetworks: turned(one.formerNetworks),
          runtimes: turned(one.runtimes),
          models: turned(one.models),
        };
        expect(renderLock(other)).toBe(renderLock(one));
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('link networks across any sequence of files', () => {
  it('never change while their link is declared, and are never shared or forgotten', () => {
    fc.assert(
      fc.property(fc.array(links, { minLength: 1, maxLength: 6 }), (history) => {
        let now = emptyLock(file);
        const ever = new Set<string>();
        for (const declared of history) {
          const next = settle(declared, now).lock;
          for (const link of declared.map(inOrder)) {
            const before = now.links[link] ?? formerOf(now, link);
            if (before !== undefined) expect(next.links[link]).toEqual(before);
          }
          const all = [
            ...Object.values(next.links).map(({ address }) => `${address}/30`),
            ...Object.keys(next.formerNetworks),
          ];
          expect(new Set(all).size).toBe(all.length);
          for (const one of all) ever.add(one);
          expect(new Set(all)).toEqual(ever);
          expect(parseLock(renderLock(next), file).lock).toEqual(next);
          now = next;
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it('are unchanged by a second run, which adds nothing', () => {
    fc.assert(
      fc.property(links, links, (first, second) => {
        const settled = settle(second, settle(first, emptyLock(file)).lock);
        const again = settle(second, settled.lock);
        expect([again.lock, again.fleet, again.additions]).toEqual([settled.lock, settled.fleet, []]);
      }),
      { numRuns: runs(100) },
    );
  });
});

function formerOf(
  { formerNetworks }: ClusterLock,
  link: string,
): { address: string; prefixLength: number } | undefined {
  const found = Object.entries(formerNetworks).find(([, other]) => other === link);
  return found === undefined ? undefined : { address: found[0].split('/')[0] ?? '', prefixLength: 30 };
}
