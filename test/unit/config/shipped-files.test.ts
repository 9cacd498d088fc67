import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { publishedShape } from '../../../src/cli/fit/published-shape.ts';
import { fitPlacements, worstVerdict } from '../../../src/drivers/fit-placements.ts';
import { namedModel } from '../../../src/drivers/known/known-models.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const yamlIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => /\.ya?ml$/.test(name))
        .map((name) => join(folder, name))
    : [];
const recipes = yamlIn('examples');
const shipped = [...yamlIn('.'), ...yamlIn('docs'), ...yamlIn('playbooks'), ...recipes];
const clusters = shipped.filter((path) => basename(path).startsWith('cluster.') || recipes.includes(path));

type Schema = { readonly [key: string]: unknown };

/** Every key and every allowed word of a schema. */
function wordsOf(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(wordsOf);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, enum: words } = schema as Schema;
  const keys = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const allowed = Array.isArray(words) ? words.filter((word) => typeof word === 'string') : [];
  return [...keys, ...allowed, ...Object.values(schema).flatMap(wordsOf)];
}

/** Every key path of the cluster schema, with names as `*` and items as `[]`. */
function keyPaths(root: Schema, part: unknown, path: string): readonly string[] {
  const node = resolve(root, part);
  const { properties, additionalProperties, items } = node;
  const keys = typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
  const below = keys.flatMap(([key, child]) => [`${path}/${key}`, ...keyPaths(root, child, `${path}/${key}`)]);
  const named = typeof additionalProperties === 'object' ? keyPaths(root, additionalProperties, `${path}/*`) : [];
  return [...below, ...named, ...(items === undefined ? [] : keyPaths(root, items, `${path}/[]`))];
}

function resolve(root: Schema, part: unknown): Schema {
  const node = part as Schema;
  const reference = node['$ref'];
  if (typeof reference !== 'string') return node;
  return (root['$defs'] as Record<string, Schema>)[reference.replace('#/$defs/', '')] ?? {};
}

/** True if a value exists at a path, with `*` for any name. */
function hasPath(value: unknown, path: readonly string[]): boolean {
  const [key, ...rest] = path;
  if (key === undefined) return value !== undefined;
  if (typeof value !== 'object' || value === null) return false;
  if (key === '*') return Object.values(value).some((child) => hasPath(child, rest));
  return hasPath(Reflect.get(value, key), rest);
}

describe('a shipped cluster file', () => {
  it('exists as a short and a full example', () => {
    expect(clusters).toContain('cluster.example.yaml');
    expect(clusters).toContain('docs/cluster.full.yaml');
  });

  it.each(clusters)('does not cause warnings: %s', (path) => {
    const { fleet, diagnostics } = loadCluster(readFileSync(path), path);
    expect(diagnostics.filter((one) => one.severity !== 'notice')).toEqual([]);
    expect(fleet?.nodes.length).toBeGreaterThan(0);
  });

  it.each(shipped)('has the same meaning in YAML 1.1 as in YAML 1.2: %s', (path) => {
    const text = readFileSync(path, 'utf8');
    const old: unknown = parse(text, { version: '1.1', merge: true });
    expect(old).toEqual(parse(text));
    if (clusters.includes(path)) expect(loadCluster(text, path).spec).toEqual(old);
  });
});

describe('cluster.example.yaml', () => {
  it('has four Macs with a cable between every pair', () => {
    const { fleet } = loadCluster(readFileSync('cluster.example.yaml'), 'cluster.example.yaml');
    expect(fleet?.nodes.map((node) => node.host)).toEqual([
      'studio-1.lan',
      'studio-2.lan',
      'studio-3.lan',
      'studio-4.lan',
    ]);
    const pairs = fleet?.thunderbolt.links.map((link) =>
      link.ends
        .map((end) => end.node)
        .sort()
        .join(),
    );
    expect(new Set(pairs).size).toBe(6);
    expect(pairs).toHaveLength(6);
  });
});

describe('an example', () => {
  const examples = ['cluster.example.yaml', ...recipes];

  it.each(examples)('refers to no file on this computer: %s', (path) => {
    const { runtimes, models } = parse(readFileSync(path, 'utf8')) as Record<string, Record<string, object>>;
    const keys = Object.values(runtimes ?? {}).flatMap((runtime) => Object.keys(runtime));
    expect(keys).toContain('version');
    expect(keys.filter((key) => ['archive', 'requirements', 'wheels'].includes(key))).toEqual([]);
    const sources = Object.values(models ?? {}).map((model) => ('source' in model ? model.source : ''));
    expect(sources.filter((source) => !String(source).startsWith('hf:'))).toEqual([]);
  });

  it.each(examples)('has models that fit comfortably, by their published sizes: %s', (path) => {
    const { fleet } = loadCluster(readFileSync(path), path);
    if (fleet === undefined) throw new Error(`${path} is invalid`);
    const repositories = (parse(readFileSync(path, 'utf8')) as { models: Record<string, { source: string }> }).models;
    const models = fleet.models.map((model) => {
      const { source = '' } = repositories[model.name] ?? {};
      const named = namedModel(source) ?? namedModel(source.replace(/^.*\/(.*)-GGUF$/, '$1'));
      if (named === undefined) throw new Error(`no size is published for ${source}`);
      const fact = publishedShape(named);
      if (fact.kind !== 'known') throw new Error(`the size of ${source} is unknown`);
      return { ...model, shape: fact.shape };
    });
    const fits = fitPlacements({ ...fleet, models });
    expect(fleet.placements.map((placement) => worstVerdict(placement, fits))).toEqual(
      fleet.placements.map(() => 'fits'),
    );
  });
});

describe('docs/cluster.full.yaml', () => {
  it('has every key in the schema', () => {
    const schema: Schema = JSON.parse(readFileSync('schemas/cluster.schema.json', 'utf8'));
    const value: unknown = parse(readFileSync('docs/cluster.full.yaml', 'utf8'));
    // A password or key can have only one kind of source, and a gateway has either a version or an archive.
    const isAlternative = (path: string): boolean =>
      /\[\]|\/(?:password|apiKey|huggingface)\/./u.test(path) || path === '/gateway/version';
    const paths = keyPaths(schema, schema, '').filter((path) => !isAlternative(path));
    expect(paths.filter((path) => !hasPath(value, path.slice(1).split('/')))).toEqual([]);
    expect(paths.length).toBeGreaterThan(25);
  });
});

describe('a schema for YAML files', () => {
  it.each(['cluster.schema.json', 'lock.schema.json'])('uses only words that YAML 1.1 reads as text: %s', (name) => {
    const words = wordsOf(JSON.parse(readFileSync(join('schemas', name), 'utf8')));
    expect(words.filter((word) => parse(word, { version: '1.1' }) !== word)).toEqual([]);
    expect(words.length).toBeGreaterThan(0);
  });
});
