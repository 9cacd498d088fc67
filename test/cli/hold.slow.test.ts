import { describe, expect, it } from 'vitest';
import { filePart, fileText, pairFile } from '../scenarios/converge-file.ts';
import { codesOf, expectGolden, json, meshwright } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';

const { place } = pairPlace(pairFile(), { isApplied: true });

const run = (...words: string[]) => meshwright(place, [...words, '--sim']);

interface Counted {
  readonly steps: readonly { readonly node: string }[];
  readonly blockers: readonly { readonly code: string; readonly node: string }[];
}

const plan = async (): Promise<Counted> => json(await run('plan', '--json')) as Counted;

describe('hold and release', () => {
  it('protect a node from changes, and allow changes again', async () => {
    const held = await run('hold', 'studio-4', '--reason', 'power supply', '--until', '2099-12-31', '--yes');
    expect([held.code, held.stderr]).toEqual([0, '']);
    const again = await run('hold', 'studio-4', '--reason', 'power supply', '--until', '2099-12-31', '--yes');
    expect([again.code, again.stdout.includes('set-hold')]).toEqual([0, false]);

    // If a node on hold matches the file, nothing is left to do.
    const quiet = await run('apply', '--yes', '--json');
    expect([quiet.code, codesOf(json(quiet))]).toEqual([0, ['hold/held']]);

    const file = pairFile();
    filePart(file, 'power')['sleep'] = 42;
    place.write('cluster.yaml', fileText(file));
    const waiting = await plan();
    expect(waiting.steps.map(({ node }) => node)).toEqual(['studio-1']);
    expect(waiting.blockers.map(({ code, node }) => [code, node])).toEqual([['hold/held', 'studio-4']]);
    const applied = await run('apply', '--yes');
    expect(applied.code).toBe(3);

    const stopped = await run('stop', 'chat', '--yes', '--json');
    expect(stopped.code).toBe(3);
    const restarted = await run('restart', 'chat', '--yes');
    expect([restarted.code, restarted.stdout.replaceAll(/\s+/g, ' ')]).toEqual([
      3,
      expect.stringContaining('studio-4 is on hold (power supply)'),
    ]);
    for (const verb of ['reboot', 'shutdown']) {
      const kept = await run(verb, 'studio-4', '--yes', '--json');
      const { remaining } = json(kept) as { readonly remaining: Counted };
      expect([verb, kept.code, remaining.blockers]).toEqual([
        verb,
        3,
        [expect.objectContaining({ code: 'hold/held', node: 'studio-4' })],
      ]);
    }
    expect((await run('ask', 'chat', 'Still there?')).code).toBe(0);

    const status = await run('status');
    expect(status.stdout + status.stderr).toContain('power supply');
    const facts = await run('facts', 'studio-4', '--fact', 'hold', '--json');
    expect(schemaCheck('facts')(json(facts))).toEqual([]);

    const released = await run('release', 'studio-4', '--yes');
    expect([released.code, released.stderr]).toEqual([0, '']);
    expect((await plan()).blockers).toEqual([]);
    expect((await run('apply', '--yes')).code).toBe(0);
    expect((await plan()).steps).toEqual([]);
  });

  it('do not count as faults of a simulated rack', async () => {
    expect((await run('hold', 'studio-4', '--reason', 'fan', '--yes')).code).toBe(0);
    const { code, stdout } = await run('status');
    expect([code, stdout.includes('studio-4 is on hold'), stdout.includes('injected faults')]).toEqual([
      0,
      true,
      false,
    ]);
    expect((await run('release', 'studio-4', '--yes')).code).toBe(0);
  });

  it('respect holds in the file, unless they have expired', async () => {
    const file = pairFile();
    filePart(file, 'power')['sleep'] = 43;
    filePart(file, 'nodes', 'studio-1')['hold'] = { reason: 'fan', until: '2020-01-31' };
    filePart(file, 'nodes', 'studio-4')['hold'] = { reason: 'fan' };
    place.write('cluster.yaml', fileText(file));
    const both = await run('plan', '--json');
    expect(codesOf(json(both)).filter((code) => code.startsWith('hold/'))).toEqual(['hold/expired', 'hold/held']);
    expect((json(both) as Counted).steps.map(({ node }) => node)).toEqual(['studio-1']);
    const released = await run('release', 'studio-4', '--yes');
    expect([released.code, released.stdout.includes('studio-4 is still on hold') || released.stdout]).toEqual([
      0,
      true,
    ]);
  });

  it('reject missing and invalid arguments', async () => {
    const rans = await Promise.all([
      run('hold'),
      run('hold', 'studio-9'),
      run('hold', 'studio-1', '--until', 'friday'),
      run('hold', 'studio-1', '--until', '2099-02-30'),
      run('hold', 'studio-1', '--until', '2020-02-20'),
      run('hold', 'studio-1', '--reason', 'two\nlines'),
      run('release', 'studio-1', '--all'),
    ]);
    expect(rans.map(({ code, stdout }) => [code, stdout])).toEqual(rans.map(() => [64, '']));
    await expectGolden('hold-usage', place, rans);
  });
});
