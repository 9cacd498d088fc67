import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { fleetPlace } from './fleet.ts';
import { codesOf, expectGolden, json, type Ran, widest } from './meshwright.ts';
import { schemaCheck } from './schema-check.ts';

const sim = (...words: string[]): Promise<Ran> => run('sim', ...words);

const { place, run } = fleetPlace();
beforeEach(async () => {
  await sim('fault', '--clear');
});

describe('cables', () => {
  it('shows a rack that matches the file, and exits with 0', async () => {
    const ran = await run('cables', '--sim');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    await expectGolden('cables', place, [ran]);
  });

  it('shows wrong cables with their manual steps, and exits with 3', async () => {
    await sim('fault', 'cable-swapped', 'studio-4');
    await sim('fault', 'cable-40g', 'studio-1:2');
    const ran = await run('cables', '--sim');
    expect(ran.code).toBe(3);
    expect(widest(ran.stdout)).toBeLessThanOrEqual(80);
    await expectGolden('cables-wrong', place, [ran]);
  });

  it("makes no claims about an unobserved node's cables, and exits with 4", async () => {
    await sim('fault', 'filevault-locked', 'studio-3');
    const ran = await run('cables', '--sim');
    expect(ran.code).toBe(4);
    expect(ran.stdout).not.toContain('Manual steps');
    await expectGolden('cables-unseen', place, [ran]);
  });

  it('prints one JSON document that matches its schema and lists the moves', async () => {
    const check = schemaCheck('cables');
    await sim('fault', 'cable-swapped', 'studio-4');
    const ran = await run('cables', '--sim', '--json');
    const document = json(ran);
    expect([ran.code, ran.stderr]).toEqual([3, '']);
    expect(check(document)).toEqual([]);
    expect(document).toMatchObject({ simulated: true, moves: [{ number: 1, free: true, stopFirst: [] }] });
    expect(codesOf(document)).toEqual([]);
  });

  it('sends each node one command, without RDMA or token queries', async () => {
    await run('cables', '--sim', '--record', 'sent.ndjson');
    const lines = readFileSync(join(place.folder, 'sent.ndjson'), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      expect(line).toContain('SPThunderboltDataType');
      expect(line).not.toMatch(/ibv_dev|rdma_ctl|data-binary/);
    }
  });

  it.each([
    ['cables --measure --watch', 'cannot be combined'],
    ['cables --measure --seconds 0', 'from 0.1 to 60'],
    ['cables --measure --seconds 61', 'from 0.1 to 60'],
    ['cables --seconds 1', '--seconds is only for --measure'],
    ['bench chat --cables', '--cables measures cables'],
    ['bench --cables --runs 2', '--cables measures cables'],
    ['bench --cables --seconds x', 'not a valid number for --seconds'],
    ['bench --out rack.svg', 'only for --cables'],
  ])('refuses %s', async (line, text) => {
    const ran = await run(...line.split(' '), '--sim');
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([64, '', expect.stringContaining(text)]);
  });

  it('does not accept node names, since a cable has two ends', async () => {
    const rans = await Promise.all([run('cables', 'studio-1'), run('cables', '--nodes', 'studio-1')]);
    expect(rans.map(({ code }) => code)).toEqual([64, 64]);
  });
});
