/**
 * The work that a hostile file causes, counted in word comparisons, link accesses and validator errors instead of
 * seconds.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CompiledSchema } from '../../../src/config/schema-part.ts';
import { schemaProblems } from '../../../src/config/schema-problems.ts';
import { clusterSchema, validateCluster } from '../../../src/config/validators.generated.ts';
import { type Draft, draftLimits, makeDraft } from '../../../src/desired/draft.ts';
import * as editDistances from '../../../src/desired/edit-distance.ts';
import { receptacleUsedTwice } from '../../../src/desired/rules/links.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const compared = vi.spyOn(editDistances, 'editDistance');
afterAll(() => compared.mockRestore());

const head = 'schema: 1\nname: rack\n';
const times = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');
const nodes = (count: number, letters: number): string =>
  `nodes:\n${times(count, (index) => `  ${'n'.repeat(letters)}-${index}: { host: h${index}.lan }`)}`;
const links = (count: number, line: (index: number) => string): string =>
  `thunderbolt:\n  links:\n${times(count, (index) => `    - ${line(index)}`)}`;
const twoStudios =
  'nodes:\n  a: { host: a.lan, hardware: { model: "Mac15,14" } }\n  b: { host: b.lan, hardware: { model: "Mac15,14" } }\n';

const codes = (text: string): ReadonlySet<string> =>
  new Set(loadCluster(text, 'cluster.yaml').diagnostics.map(({ code }) => code));

/** Enough comparisons for a hundred findings in a file of the maximum size. */
const enough = 100 * draftLimits.nodes;

describe('a hostile cluster file', () => {
  beforeEach(() => {
    compared.mockClear();
  });

  it('causes lookups of at most a hundred unknown names', () => {
    const unknown = links(1_024, (index) => `${'x'.repeat(36)}${index}:1 <-> ${'y'.repeat(36)}${index}:1`);
    expect(codes(`${head}${nodes(256, 36)}${unknown}`)).toContain('topology/unknown-node');
    expect(compared.mock.calls.length).toBeLessThanOrEqual(enough);
    expect(compared.mock.calls.length).toBeGreaterThan(0);
  });

  it('causes a single lookup of an unknown name used in every link', () => {
    expect(codes(`${head}${nodes(256, 4)}${links(1_024, (index) => `nnnn-${index % 9}:1 <-> nnnm:1`)}`)).toContain(
      'topology/unknown-node',
    );
    expect(compared.mock.calls.length).toBeLessThanOrEqual(draftLimits.nodes);
  });

  it('is only checked against the schema if it has too many nodes and links', () => {
    const unknown = links(500, (index) => `${'x'.repeat(50)}${index}:1 <-> ${'y'.repeat(50)}${index}:1`);
    expect(codes(`${head}${nodes(500, 50)}${unknown}`)).toContain('schema/out-of-range');
    expect(compared.mock.calls.length).toBeLessThanOrEqual(enough);
  });

  it('does not cause comparisons of words with very different lengths', () => {
    expect(
      codes(`${head}${nodes(256, 4)}${links(50, (index) => `${'x'.repeat(40)}${index}:1 <-> nnnn-1:1`)}`),
    ).toContain('topology/unknown-node');
    expect(compared.mock.calls.length).toBe(0);
  });

  it('is reported as having too many links if one receptacle has 25,000', () => {
    const many = `thunderbolt: { links: [${'a:2 <-> b:2, '.repeat(25_000)}] }\n`;
    expect(codes(`${head}${twoStudios}${many}`)).toContain('schema/out-of-range');
  });

  it('is not reported for an unknown node that is merely beyond the limit', () => {
    const last = 'nn-256:1 <-> nn-0:1';
    expect(codes(`${head}${nodes(257, 2)}${links(1, () => last)}`)).toEqual(new Set(['schema/out-of-range']));
  });

  it('is truncated before validation, except for keys in the schema', () => {
    let validated: unknown;
    const real: CompiledSchema['validate'] = validateCluster;
    const recording = (data: unknown): boolean => {
      validated = data;
      return real(data);
    };
    const validate: CompiledSchema['validate'] = Object.defineProperty(recording, 'errors', { get: () => real.errors });
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`N_${index}`, {}]));
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`x${index}`, 1]));
    const value = { ...unknown, schema: 1, name: 'rack', nodes: many };
    const source = { file: 'cluster.yaml', text: '', lineStarts: [0] };
    const problems = schemaProblems(
      { schema: clusterSchema, validate },
      { source, value, map: new Map(), problems: [] },
    );
    expect(Object.keys(validated as object).length).toBeLessThan(1_100);
    expect(Object.keys(Reflect.get(validated as object, 'nodes') as object)).toHaveLength(257);
    expect(problems.map(({ code }) => code)).toContain('schema/out-of-range');
    expect(problems.filter(({ code }) => code === 'schema/missing-key').map(({ pointer }) => pointer)).not.toContain(
      '',
    );
  });
});

describe('a receptacle used twice', () => {
  it('causes a single pass over the links to find free receptacles', () => {
    let reads = 0;
    const text = (index: number): string => `a:2 <-> b:${(index % 90) + 1}`;
    const draft = makeDraft(
      {
        nodes: { a: { hardware: { model: 'Mac15,14' } }, b: { hardware: { model: 'Mac15,14' } } },
        thunderbolt: { links: Array.from({ length: 900 }, (_, index) => text(index)) },
      },
      () => undefined,
    );
    const counted: Draft = {
      ...draft,
      links: new Proxy(draft.links, {
        get: (target, key) => {
          if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1;
          return Reflect.get(target, key);
        },
      }),
    };
    expect(receptacleUsedTwice(counted, () => 'line 1').length).toBeGreaterThan(80);
    expect(reads).toBe(2 * draft.links.length);
  });
});

describe("a draft's limits", () => {
  it('match the schema', () => {
    const { properties, $defs } = JSON.parse(readFileSync('schemas/cluster.schema.json', 'utf8'));
    const { links: list, avoid } = properties.thunderbolt.properties;
    expect(draftLimits).toEqual({
      nodes: properties.nodes.maxProperties,
      pdus: properties.pdus.maxProperties,
      links: list.maxItems,
      avoid: avoid.maxItems,
      runtimes: properties.runtimes.maxProperties,
      models: properties.models.maxProperties,
      placements: properties.placements.maxProperties,
      words: $defs.runtime.properties.command.maxItems,
      files: $defs.model.properties.files.maxProperties,
      members: $defs.placement.properties.nodes.maxItems,
    });
  });
});
