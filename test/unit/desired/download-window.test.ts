import { describe, expect, it } from 'vitest';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const load = (window: string) =>
  loadCluster(
    `schema: 1\nname: rack\nnodes:\n  studio-1: { host: studio-1.lan }\ndownloads: { window: ${window} }\n`,
    'cluster.yaml',
  );

describe('downloads.window', () => {
  it.each([
    ['22:00-06:00', { begin: '22:00', end: '06:00' }],
    ['"09:30-17:00"', { begin: '09:30', end: '17:00' }],
  ])('has a begin and an end: %s', (window, hours) => {
    expect(load(window).fleet?.downloads?.hours).toEqual(hours);
  });

  it.each(['25:00-06:00', '22:00', '22:00-22:00', '22-6', 'night'])('is refused with its place: %s', (window) => {
    const [problem] = load(window).diagnostics;
    expect([problem?.code, problem?.where]).toMatchObject([
      expect.stringMatching(/^schema\//),
      { line: 5, column: 22 },
    ]);
    expect(problem?.hint).toContain('such as 22:00-06:00');
  });
});
