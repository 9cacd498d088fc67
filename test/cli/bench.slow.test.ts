import { describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { codesOf, json } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { endedBy } from './talking.ts';

interface Level {
  readonly requests: number;
  readonly answered: number;
  readonly failed: number;
  readonly firstTokenMs: number;
  readonly generationSpeed: number;
  readonly totalSpeed: number;
  readonly watts?: number;
}

interface Bench {
  readonly levels: readonly Level[];
  readonly tokensAre: string;
}

const { place, run } = pairPlace(pairFile(), { isApplied: true });

const bench = (...words: string[]) => run('bench', 'chat', '--sim', '--json', ...words);

describe('bench', () => {
  it('runs each concurrency level --runs times, and adds up the power of all Macs', async () => {
    const ran = await bench('--requests', '1,3', '--runs', '2', '--max-tokens', '8');
    const document = json(ran) as Bench;
    expect(schemaCheck('bench')(document)).toEqual([]);
    expect([ran.code, codesOf(document), document.tokensAre]).toEqual([0, [], 'counted-by-runtime']);
    expect(document.levels.map(({ requests, answered, failed }) => [requests, answered, failed])).toEqual([
      [1, 2, 0],
      [3, 6, 0],
    ]);
    for (const level of document.levels) {
      expect(level.firstTokenMs).toBeGreaterThan(0);
      // Eight tokens two milliseconds apart, on any computer.
      expect(level.generationSpeed).toBeLessThan(1_000);
      expect(level.totalSpeed).toBeLessThan(level.requests * 8_000);
      expect(level.watts).toBeCloseTo(2 * 18.378, 3);
    }
  });

  it('sends one uncounted warm-up request', async () => {
    const record = `${place.folder}/record.ndjson`;
    await bench('--requests', '2', '--runs', '1', '--record', record);
    const shown = await run('logs', 'chat', '--sim', '--lines', '9999');
    const leader = shown.stdout.split('\n').filter((line) => line.includes('answered with 8 tokens'));
    expect(leader.length).toBeGreaterThanOrEqual(3);
  });

  it('prints its results as text', async () => {
    const ran = await run('bench', 'chat', '--sim', '--requests', '1', '--runs', '1');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toMatch(
      /^chat {3}tiny with reference on studio-1,4, tcp +simulated\n\n {2}parallel +first token/,
    );
    expect(ran.stdout).toMatch(/\n +1 .* #{1,20}\n/);
  });

  it('rejects unknown placements and values out of range', async () => {
    const rans = await Promise.all([
      run('bench', 'chat', 'other', '--sim'),
      run('bench', 'chta', '--sim'),
      run('bench', 'chat', '--sim', '--requests', '1,9'),
      run('bench', 'chat', '--sim', '--runs', '0'),
      run('bench', 'chat', '--sim', '--words', '9000'),
    ]);
    expect(rans.map(({ code, stdout }) => [code, stdout])).toEqual(rans.map(() => [64, '']));
  });

  it('stops cleanly when it is interrupted, and prints its document', async () => {
    const words = ['bench', 'chat', '--sim', '--json', '--requests', '8', '--runs', '9999'];
    const answers = async (): Promise<number> =>
      (await run('logs', 'chat', '--sim', '--lines', '9999')).stdout.split(' answered with ').length;
    const before = await answers();
    // The first level never ends by itself.
    const ran = await endedBy('SIGINT', place, words, async () => (await answers()) > before);
    expect([ran.code, codesOf(json(ran))]).toEqual([130, ['run/interrupted']]);
  });

  it('reports a placement that does not answer, and unknown power if sudo is denied', async () => {
    expect((await run('sim', 'fault', 'sudo-denied', 'studio-4')).code).toBe(0);
    const unpowered = await bench('--requests', '1', '--runs', '1');
    expect([unpowered.code, codesOf(json(unpowered))]).toEqual([0, ['bench/no-power']]);
    expect((json(unpowered) as Bench).levels[0]).not.toHaveProperty('watts');
    expect((await run('sim', 'fault', '--clear', 'sudo-denied')).code).toBe(0);
    expect((await run('stop', 'chat', '--sim', '--yes')).code).toBe(0);
    const stopped = await bench();
    const document = json(stopped) as Bench;
    expect(schemaCheck('bench')(document)).toEqual([]);
    expect([stopped.code, codesOf(document), document.levels]).toEqual([1, ['bench/no-answer'], null]);
  });
});
