import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { loadCluster } from '../../src/engine/load-cluster.ts';
import { isThorough, isWhole, sampleSeed } from '../sample.ts';
import { drawsBy, isCode, type Mutation, mutate, shares } from './mutations.ts';

const files = [
  'cluster.example.yaml',
  'docs/cluster.full.yaml',
  ...readdirSync('examples')
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `examples/${name}`),
];
const texts = files.map((file) => readFileSync(file, 'utf8'));

const count = isWhole ? 5_000 : isThorough ? 300 : 100;
const mostErrors = 3;

/** The share of files that may fail a test; in a small sample, two standard deviations more, because seeds differ. */
const mostShare = 0.05 + (isWhole ? 0 : 2 * Math.sqrt((0.05 * 0.95) / count));

interface Verdict {
  readonly mutation: Mutation;
  readonly errors: readonly Diagnostic[];
}

/** Draws mistakes by their shares until so many files are invalid. A kind without effect on a file is drawn again. */
function draw(seed: number): readonly Verdict[] {
  const next = drawsBy(seed);
  const kinds = Object.entries(shares).flatMap(([kind, share]) => Array.from({ length: share }, () => kind));
  return Array.from({ length: count }, () => {
    const kind = kinds[next(kinds.length)] ?? '';
    for (;;) {
      const mutation = mutate(texts[next(texts.length)] ?? '', kind, next);
      const { diagnostics } = mutation === undefined ? { diagnostics: [] } : loadCluster(mutation.text, 'cluster.yaml');
      const errors = diagnostics.filter(({ severity }) => severity === 'error');
      if (mutation !== undefined && errors.length > 0) return { mutation, errors };
    }
  });
}

const indentOf = (line: string): number => line.length - line.trimStart().length;
const namesIn = (text: string): readonly string[] => text.replace(/\s#.*/, '').match(/[A-Za-z][\w-]*/g) ?? [];

/** Whether a diagnostic is at the removed line's neighbors, its section, or a line or sentence with one of its names. */
function isNearRemoved({ text, removed }: Mutation, { where, detail }: Diagnostic): boolean {
  if (removed === undefined || where === undefined) return false;
  const lines = text.split('\n');
  const code = [...lines.keys()].filter((at) => isCode(lines[at] ?? ''));
  const above = code.filter((at) => at < removed.after).reverse();
  const section = above.find((at) => indentOf(lines[at] ?? '') < indentOf(removed.line)) ?? code[0];
  const near = [above[0], code.find((at) => at >= removed.after), section];
  const names = namesIn(`${lines[where.line - 1]} ${plainText(detail)}`);
  return near.includes(where.line - 1) || namesIn(removed.line).some((name) => names.includes(name));
}

const isBlamed = ({ mutation, errors: [first] }: Verdict): boolean =>
  first?.where !== undefined && (mutation.lines.includes(first.where.line) || isNearRemoved(mutation, first));

/** The number of errors, in which those about one name are one. */
function mistakes({ mutation, errors }: Verdict): number {
  const lines = mutation.text.split('\n');
  const places = errors.map(({ code, where }) => {
    const text = lines[(where?.line ?? 0) - 1]?.slice((where?.column ?? 1) - 1, (where?.endColumn ?? 1) - 1);
    return /\/unknown-/.test(code) ? text?.replace(/:\d+$/, '') : `${where?.line}:${where?.column}`;
  });
  return new Set(places).size;
}

/** The files that fail a test, as text for the failure. */
const shown = (verdicts: readonly Verdict[]): string =>
  verdicts
    .map(
      ({ mutation: { kind, lines, removed }, errors: [first] }) =>
        `${kind}, line ${lines.join(' and ') || removed?.after}: ${first?.where?.line} ${first?.code}`,
    )
    .join('\n');

describe(`the errors of ${count} files that each have one mistaken line`, () => {
  let verdicts: readonly Verdict[] = [];
  beforeAll(() => {
    verdicts = draw(sampleSeed);
  }, 540_000);

  it('point first to the mistaken line in at least 95 of 100 files', () => {
    const missed = verdicts.filter((one) => !isBlamed(one));
    expect(missed.length / count, shown(missed)).toBeLessThanOrEqual(mostShare);
  });

  it('exceed three in at most 5 of 100 files', () => {
    const many = verdicts.filter((one) => mistakes(one) > mostErrors);
    expect(many.length / count, shown(many)).toBeLessThanOrEqual(mostShare);
  });
});
