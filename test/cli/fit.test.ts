import { afterAll, describe, expect, it } from 'vitest';
import { codesOf, expectGolden, json, meshwrightHere, widest } from './meshwright.ts';
import { makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';

const place = makePlace();
afterAll(() => place.remove());

const run = (...words: string[]) => meshwrightHere(place, words);

describe('fit --mesh', () => {
  it('shows in 80 columns which Macs can form a full mesh, and with which cables', async () => {
    const rans = await Promise.all([
      run('fit', '--mesh', '5xMac15,14'),
      run('fit', '--mesh', '3xMac15,14', '2xMac16,11'),
      run('fit', '--mesh', '5xMac16,9'),
      run('fit', '--mesh', '2xMac16,10', 'Mac15,14'),
    ]);
    expect(rans.map((ran) => ran.code)).toEqual([0, 1, 0, 1]);
    expect(Math.max(...rans.map((ran) => widest(ran.stdout + ran.stderr)))).toBeLessThanOrEqual(80);
    await expectGolden('fit', place, rans);
  });

  it('accepts several Macs as one argument, several arguments or a repeated option', async () => {
    const forms = [
      ['--mesh', '3xMac15,14', '2xMac16,11'],
      ['--mesh', '3xMac15,14+2xMac16,11'],
      ['--mesh', '3xMac15,14,2xMac16,11'],
      ['--mesh', '3xMac15,14', '--mesh', '2xMac16,11'],
      ['--mesh', '3xM3 Ultra', '2xM4 Pro'],
      ['--mesh', '3xM3', 'Ultra', '2xM4', 'Pro'],
      ['--mesh', '3xM3 Ultra,2xMac16,11'],
    ];
    const rans = await Promise.all(forms.map((words) => run('fit', ...words)));
    expect(new Set(rans.map((ran) => ran.stdout)).size).toBe(1);
  });

  it('fits on a narrow page without breaking cable lines', async () => {
    const ran = await meshwrightHere(place, ['fit', '--mesh', '2xMac15,14'], { env: { COLUMNS: '40' } });
    expect(widest(ran.stdout)).toBeLessThanOrEqual(40);
    expect(ran.stdout).toContain('\n    - studio-1:2 <-> studio-2:2\n');
  });

  it('prints one JSON document that matches its schema', async () => {
    const check = schemaCheck('fit');
    for (const [macs, code, codes] of [
      ['5xMac15,14', 0, []],
      ['7xMac15,14', 0, ['topology/avoided-receptacle']],
      ['2xMac16,10', 1, ['topology/no-rdma']],
    ] as const) {
      const ran = await run('fit', '--mesh', macs, '--json');
      expect(check(json(ran)), macs).toEqual([]);
      expect([ran.code, ran.stderr, codesOf(json(ran))]).toEqual([code, '', codes]);
    }
  });

  it('rejects invalid arguments, and lists the known Macs', async () => {
    const rans = await Promise.all([
      run('fit'),
      run('fit', '--mesh'),
      run('fit', '--mesh', '5'),
      run('fit', '--mesh', '0xMac15,14'),
      run('fit', '--mesh', '1xMac15,14'),
      run('fit', '--mesh', '300xMac15,14'),
      run('fit', '--mesh', '2xMac15,13'),
      run('fit', '--mesh', '2xMac99,1'),
      run('fit', '--mesh', '2xMac15,14', '--sharding', 'tensor'),
      run('fit', '--mesh', '2xMac15,14', '-f', 'cluster.yaml'),
    ]);
    expect(rans.map((ran) => [ran.code, ran.stdout])).toEqual(rans.map(() => [64, '']));
    await expectGolden('fit-refused', place, rans);
  });
});
