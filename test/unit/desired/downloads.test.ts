import { describe, expect, it } from 'vitest';
import { ggufVersions } from '../../../src/desired/hub-source.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const load = (key: string) =>
  loadCluster(
    `schema: 1\nname: rack\nnodes:\n  studio-1: { host: studio-1.lan }\ndownloads: { ${key} }\n`,
    'cluster.yaml',
  );

describe('downloads.window', () => {
  it.each([
    ['22:00-06:00', { begin: '22:00', end: '06:00' }],
    ['"09:30-17:00"', { begin: '09:30', end: '17:00' }],
  ])('has a beginning and an end: %s', (window, hours) => {
    expect(load(`window: ${window}`).fleet?.downloads?.hours).toEqual(hours);
  });

  it.each(['25:00-06:00', '22:00', '22:00-22:00', '22-6', 'night'])('is refused with its place: %s', (window) => {
    const [problem] = load(`window: ${window}`).diagnostics;
    expect([problem?.code, problem?.where]).toMatchObject([
      expect.stringMatching(/^schema\//),
      { line: 5, column: 22 },
    ]);
    expect(problem?.hint).toContain('such as 22:00-06:00');
  });
});

describe('downloads.maxRate', () => {
  it.each([
    ['600Mb/s', 75_000_000],
    ['2.5Gb/s', 312_500_000],
  ])('is in bits: %s', (rate, bytes) => {
    expect(load(`maxRate: ${rate}`).fleet?.downloads?.maxBytesPerSecond).toBe(bytes);
  });

  it.each(['600MB/s', '0Mb/s', '600', 'fast'])('is refused with its place: %s', (rate) => {
    const [problem] = load(`maxRate: ${rate}`).diagnostics;
    expect([problem?.code, problem?.where?.line]).toEqual([expect.stringMatching(/^schema\//), 5]);
  });
});

describe('the GGUF versions in a repository', () => {
  it('are sorted, each once', () => {
    const paths = ['b.gguf', 'a-00002-of-00002.gguf', 'a-00001-of-00002.gguf', 'notes.txt'];
    expect(ggufVersions(paths)).toEqual(['a', 'b']);
  });
});
