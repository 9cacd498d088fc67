import { describe, expect, it } from 'vitest';
import {
  type Evidence,
  evidenceText,
  logsInTimeOrder,
  parseEvidence,
  type RankLog,
} from '../../../src/report/evidence.ts';
import { widest } from '../../cli/meshwright.ts';
import { plainPage } from '../../rack/page.ts';

const log = (node: string, lines: readonly string[], clockAheadMs = 0): RankLog => ({
  placement: 'chat',
  node,
  lines,
  clockAheadMs,
});

const ordered = (...logs: readonly RankLog[]): readonly string[] =>
  logsInTimeOrder(logs, '2026-11-30').trimEnd().split('\n');

describe('the logs of all ranks', () => {
  it('are in time order, and a traceback stays below its error', () => {
    const first = log('a', ['2026-11-30 03:00:01,000 - one', '2026-11-30 03:00:03,000 - three', 'Traceback']);
    const other = log('b', ['2026-11-30 03:00:02,500 - two', '2026-11-30T03:00:04Z four']);
    expect(ordered(other, first).map((line) => line.replace(/^.*?[ -]+(\w+)$/, '$1'))).toEqual([
      'one',
      'two',
      'three',
      'Traceback',
      'four',
    ]);
  });

  it('take the clock difference of a Mac into account', () => {
    const early = log('a', ['2026-11-30 03:00:02,000 - second']);
    const fast = log('b', ['2026-11-30 03:01:01,000 - first'], 60_000);
    expect(ordered(early, fast)).toEqual([
      'chat b | 2026-11-30 03:01:01,000 - first',
      'chat a | 2026-11-30 03:00:02,000 - second',
    ]);
  });

  it('keep the order of each rank across midnight if its times have no day', () => {
    const exo = log('a', ['[ 11:59:59.1234PM | INFO ] before', '[ 12:00:01.0000AM | INFO ] after']);
    const other = log('b', ['[ 12:00:00.5000AM | INFO ] between']);
    expect(ordered(exo, other).map((line) => line.replace(/^.*\] /, ''))).toEqual(['before', 'between', 'after']);
  });

  it('end with the ranks that print no time', () => {
    const silent = log('a', ['loading', 'elapsed 03:00:00']);
    const timed = log('b', ['2026-11-30 03:00:01,000 - last']);
    expect(ordered(silent, timed)).toEqual([
      'chat b | 2026-11-30 03:00:01,000 - last',
      'chat a | loading',
      'chat a | elapsed 03:00:00',
    ]);
  });

  it('are cut to the last lines of each rank, with equal shares', () => {
    const many = Array.from({ length: 500 }, (_, at) => `line ${at} ${'x'.repeat(80)}`);
    const text = logsInTimeOrder([log('a', many), log('b', many), log('c', ['short'])], '2026-11-30', 9_000);
    expect(text.length).toBeLessThanOrEqual(9_000);
    const [a = '', b = ''] = ['a', 'b'].map((node) =>
      text.split('\n').filter((line) => line.startsWith(`chat ${node} `)),
    );
    expect(a.length).toBe(b.length);
    expect(a.at(-1)).toContain('line 499 ');
    expect(text).toContain('chat c | short\n');
  });

  it('contain no character that controls a terminal', () => {
    expect(ordered(log('a', ['\u001b[31mred\u0007']))[0]).toMatch(/^[ -~]*$/);
  });
});

const evidence: Evidence = {
  id: '20261130T031500-5f3a9c',
  cluster: 'rack',
  version: '1.2.3',
  placements: { chat: 'hung: no token (its endpoint returned 503)' },
  files: { 'doctor.json': {}, 'logs.txt': '', 'journal/20261130T031000-5f3a9c.ndjson': '' },
  nodes: ['studio-1', 'studio-2'],
  unread: ['studio-2'],
  diagnostics: [
    {
      code: 'ssh/refused',
      severity: 'error',
      summary: '',
      hint: '',
      detail: 'Nothing listens at port 22.',
      subject: 'node studio-2',
    },
  ],
};

describe('the summary of the evidence', () => {
  it('lists only what the archive contains, and what is missing', () => {
    const text = evidenceText('Wrote 9 kB:', evidence, plainPage());
    expect(text).toContain('logs.txt');
    expect(text).toContain('what 1 run changed');
    expect(text).not.toContain('stacks.txt');
    expect(text).toContain('Not read:\n  node studio-2: Nothing listens at port 22.\n');
    expect(text).toContain('Passwords, keys and tokens are replaced');
  });

  it('fits into 40 columns, but never breaks the path of the archive', () => {
    const path = 'evidence of the night/meshwright-bundle-20261130T031500-5f3a9c.tar.gz';
    const lines = evidenceText('Wrote 9 kB:', evidence, plainPage({ columns: 40 }), path).split('\n');
    expect(lines[1]).toBe(`  ${path}`);
    expect(widest(lines.toSpliced(1, 1).join('\n'))).toBeLessThanOrEqual(40);
  });
});

describe('a saved incident', () => {
  it('is read as it was saved', () => {
    expect(parseEvidence(JSON.stringify(evidence))).toEqual(evidence);
  });

  it.each(Object.keys(evidence))('is damaged if its %s is missing or something else', (name) => {
    for (const value of [undefined, null, 7, [7], { x: 7 }, [{ detail: 7 }]])
      expect([value, parseEvidence(JSON.stringify({ ...evidence, [name]: value }))]).toEqual([value, undefined]);
  });

  it('is damaged if only a part of it was written', () => {
    for (const text of ['', '[]', 'null', JSON.stringify(evidence).slice(0, -1)])
      expect(parseEvidence(text)).toBeUndefined();
  });
});
