import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadCluster } from '../../src/config/load-cluster.ts';

const file = 'cluster.yaml';
const text = readFileSync('docs/cluster.full.yaml', 'utf8');

type Path = readonly (string | number)[];

/** Every path in a value, the root not included. */
function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [[...path, key], ...pathsIn(Reflect.get(value, key), [...path, key])]);
}

const paths = pathsIn(parse(text));

/** A fresh copy of the file's value with one place changed in place. */
function changed(path: Path, change: (parent: object, key: string | number) => void): unknown {
  const root: unknown = parse(text);
  let parent: unknown = root;
  for (const key of path.slice(0, -1)) parent = Reflect.get(parent as object, key);
  change(parent as object, path.at(-1) ?? '');
  return root;
}

const whole = loadCluster(text, file).fleet;

/** What is told, by the path of the key that is removed; every other key may be left out. */
const consequences: Readonly<Record<string, readonly string[]>> = {
  schema: ['schema/missing-key '],
  name: ['schema/missing-key '],
  nodes: ['schema/missing-key '],
  'nodes.studio-1': unknownNodeAt('links/0', 'links/1'),
  'nodes.studio-2': unknownNodeAt('avoid/1', 'links/0', 'links/2'),
  'nodes.studio-3': unknownNodeAt('links/1', 'links/2'),
  'nodes.studio-1.host': ['schema/missing-key /nodes/studio-1'],
  'nodes.studio-2.host': ['schema/missing-key /nodes/studio-2'],
  'nodes.studio-3.host': ['schema/missing-key /nodes/studio-3'],
};

function unknownNodeAt(...places: readonly string[]): readonly string[] {
  return places.map((place) => `topology/unknown-node /thunderbolt/${place}`);
}

/** Keys whose value is what a file without them means. */
const isSameAsDefault: readonly string[] = ['thunderbolt.bridge'];

const load = (value: unknown) => loadCluster(stringify(value, { aliasDuplicateObjects: false }), file);

const rubbish = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', ' ', '-x', 'a b', '../x', 'no', '26.10', [], {}, [null], {
    a: 1,
  }),
  fc.string({ maxLength: 80 }),
  fc.jsonValue({ maxDepth: 3 }),
);

describe('one edit of a good cluster file', () => {
  it('that puts in any value is judged without a crash, at a place', () => {
    fc.assert(
      fc.property(fc.constantFrom(...paths), rubbish, (path, value) => {
        const { fleet, diagnostics } = load(changed(path, (parent, key) => Reflect.set(parent, key, value)));
        expect(diagnostics.every((one) => one.where !== undefined)).toBe(true);
        expect(fleet === undefined).toBe(diagnostics.some((one) => one.severity === 'error'));
      }),
      { numRuns: 600 },
    );
  });

  it('that removes a key is told where the key is needed, and changes the meaning everywhere else', () => {
    for (const path of paths) {
      const { fleet, diagnostics } = load(
        changed(path, (parent, key) => {
          if (Array.isArray(parent)) parent.splice(Number(key), 1);
          else Reflect.deleteProperty(parent, key);
        }),
      );
      const name = path.join('.');
      const told = consequences[name] ?? [];
      expect([name, diagnostics.map((one) => `${one.code} ${one.where?.pointer}`)]).toEqual([name, told]);
      expect([name, fleet === undefined]).toEqual([name, told.length > 0]);
      if (fleet === undefined || isSameAsDefault.includes(name)) continue;
      expect([name, fleet]).not.toEqual([name, whole]);
    }
  });

  it('has its consequences listed for keys that are there', () => {
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

  it('that adds a key of another name is always told, at that key', () => {
    const maps = [[], ...paths].filter((path) => {
      const value = path.reduce<unknown>((now, key) => Reflect.get(now as object, key), parse(text));
      const hasFreeNames = path.at(-1) === 'labels' || path.at(-1) === 'nodes';
      return typeof value === 'object' && !Array.isArray(value) && !hasFreeNames;
    });
    expect(maps.length).toBeGreaterThan(8);
    for (const path of maps) {
      const { diagnostics } = load(changed([...path, 'zzz'], (parent, key) => Reflect.set(parent, key, 1)));
      expect([path, diagnostics.map((one) => one.code)]).toEqual([path, ['schema/unknown-key']]);
      expect(diagnostics[0]?.where?.pointer).toBe(`/${[...path, 'zzz'].join('/')}`);
    }
  });
});
