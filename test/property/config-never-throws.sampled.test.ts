import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoadedCluster } from '../../src/config/load-cluster-with.ts';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { renderDiagnostics } from '../../src/diagnostics/render.ts';
import { loadCluster, parseLock } from '../../src/engine/load-cluster.ts';
import { runs } from '../runs.ts';

const file = 'cluster.yaml';
const example = readFileSync('test/rack/reference.yaml', 'utf8');
const full = readFileSync('docs/cluster.full.yaml', 'utf8');
const mostDiagnostics = 101;

/** Asserts the properties that every file must have. */
function expectSane(text: string, diagnostics: readonly Diagnostic[], hasValue: boolean): void {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  expect(diagnostics.length).toBeLessThanOrEqual(mostDiagnostics);
  expect(hasValue).toBe(!diagnostics.some((one) => one.severity === 'error'));
  for (const one of diagnostics) {
    const { where } = one;
    if (where === undefined) throw new Error(`${one.code} has no place`);
    expect(where.line).toBeLessThanOrEqual(lines.length);
    expect(where.column).toBeGreaterThanOrEqual(1);
    expect(where.column).toBeLessThanOrEqual((lines[where.line - 1] ?? '').length + 1);
    expect(where.endLine * 1e6 + where.endColumn).toBeGreaterThanOrEqual(where.line * 1e6 + where.column);
    expect(plainText(one.detail).length + plainText(one.hint).length).toBeLessThan(2_000);
  }
  // Each mistake is reported once; a missing key of a section is a separate mistake.
  const places = diagnostics.map(
    ({ where, code }) =>
      `${where?.line}:${where?.column}-${where?.endLine}:${where?.endColumn} ${code === 'schema/missing-key'}`,
  );
  expect(new Set(places.slice(0, mostDiagnostics - 1)).size).toBe(Math.min(places.length, mostDiagnostics - 1));
  expect(diagnostics.slice(0, mostDiagnostics - 1)).toEqual(
    diagnostics.slice(0, mostDiagnostics - 1).toSorted((a, b) => order(a) - order(b)),
  );
  const drawn = renderDiagnostics(diagnostics, {
    sources: new Map([[file, text]]),
    columns: 80,
    color: false,
    isSimulated: false,
  });
  expect(drawn).not.toMatch(/[^\n\P{Cc}]/u);
}

const order = (one: Diagnostic): number => (one.where?.line ?? 0) * 1e6 + (one.where?.column ?? 0);

function checked(text: string): LoadedCluster {
  const loaded = loadCluster(text, file);
  expectSane(text, loaded.diagnostics, loaded.fleet !== undefined);
  return loaded;
}

/** Words with a meaning in YAML or in cluster files. */
const word = fc.constantFrom(
  ...[
    '[',
    ']',
    '{',
    '}',
    ':',
    ': ',
    '- ',
    '? ',
    ', ',
    '"',
    "'",
    '#',
    '&a ',
    '*a',
    '<<: *a',
    '!!str ',
    '!x ',
    '|\n',
    '>-\n',
  ],
  ...[
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '\n',
    '\r\n',
    '\r',
    '\t',
    '  ',
    '\ufeff',
    '\u0000',
    '\u2028',
    '~',
    'null',
    'no',
    '0755',
    '1e3',
  ],
  ...[
    'schema',
    'name',
    'nodes',
    'host',
    'thunderbolt',
    'links',
    'a:1 <-> b:2',
    '__proto__',
    'constructor',
    '26.10',
    '数',
    '🖥',
    '\ud800',
  ],
);

/** A text with some parts replaced by meaningful words. */
const edited = fc
  .tuple(
    fc.constantFrom(example, full),
    fc.array(fc.tuple(fc.nat({ max: 3_000 }), fc.nat({ max: 12 }), fc.oneof(word, fc.string({ maxLength: 5 }))), {
      maxLength: 6,
    }),
  )
  .map(([text, edits]) => edits.reduce((now, [at, gone, put]) => now.slice(0, at) + put + now.slice(at + gone), text));

describe('the cluster file reader', () => {
  it('reports only places inside the file, given any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => void checked(text)),
      { numRuns: runs(300) },
    );
  });

  it('reports only places inside the file, given any YAML tokens', () => {
    const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
    fc.assert(
      fc.property(text, (one) => void checked(one)),
      { numRuns: runs(1_000) },
    );
  });

  it('reports only places inside the file, given any edit to a valid file', () => {
    fc.assert(
      fc.property(edited, (text) => void checked(text)),
      { numRuns: runs(400) },
    );
  });

  it('reports the same for bytes as for their text', () => {
    fc.assert(
      fc.property(edited, (text) => {
        const whole = text.replaceAll(/\p{Cs}/gu, '?');
        const values = (input: string | Uint8Array) => {
          const { whereIs: _, ...read } = loadCluster(input, file);
          return read;
        };
        expect(values(new TextEncoder().encode(whole))).toEqual(values(whole));
      }),
      { numRuns: runs(100) },
    );
  });

  it('rejects random bytes at a place inside the file', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const { diagnostics } = loadCluster(bytes, file);
        expect(diagnostics.length).toBeGreaterThan(0);
        for (const one of diagnostics) expect(one.where?.line).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: runs(300) },
    );
  });

  it('reports the same problems whatever the order of sections', () => {
    const sections = [
      'schema: 2',
      'name: R',
      'nodes: { a: { host: a.lan }, b: { host: A.lan } }',
      'thunderbolt: { links: [a:1 <-> c:1] }',
    ];
    const codesOf = (parts: readonly string[]) =>
      loadCluster(parts.join('\n'), file)
        .diagnostics.map((one) => `${one.code} ${plainText(one.detail)}`)
        .sort();
    fc.assert(
      fc.property(fc.shuffledSubarray(sections, { minLength: 4 }), (parts) => {
        expect(codesOf(parts)).toEqual(codesOf(sections));
      }),
    );
  });
});

describe('the lock file reader', () => {
  it('reports only places inside the file, given any YAML tokens', () => {
    const lockWord = fc.oneof(
      word,
      fc.constantFrom('lock: 1\n', 'hostKeys:', 'a.lan:', '[ssh-ed25519 AAAAAAAAAAAAAAAAAAAAAAAA]', '[a]:22'),
    );
    const text = fc.array(lockWord, { maxLength: 20 }).map((words) => words.join(''));
    fc.assert(
      fc.property(text, (one) => {
        const { lock, diagnostics } = parseLock(one, file);
        expectSane(one, diagnostics, lock !== undefined);
      }),
      { numRuns: runs(500) },
    );
  });
});
