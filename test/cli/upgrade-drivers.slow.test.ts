import { beforeAll, describe, expect, it } from 'vitest';
import type { UpgradeDocument } from '../../src/model/documents.generated.ts';
import { eventually } from '../rack/running.ts';
import { type FileValue, filePart, fileText } from '../scenarios/converge-file.ts';
import { codesOf, json, meshwright, type Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { listenTo } from './talking.ts';
import { twoPairs } from './two-pairs.ts';

const flat = (text: string): string => text.replace(/\s+/g, ' ');

/** A rehearsal never runs it: it always fails. */
const byProgram = { driver: 'command', command: ['false', '{phase}', '{node}', '{build}'] };
const second = ['studio-2', 'studio-3'];
const { place } = pairPlace(twoPairs('26.5', {}));
/** With `isLocked`, the file has no password with which a Mac could be unlocked. */
function use(version: string, updates: FileValue, { isLocked = false } = {}): void {
  const file = twoPairs(version, updates);
  if (isLocked) delete filePart(file, 'ssh')['password'];
  place.write('cluster.yaml', fileText(file));
}
const run = (...words: string[]): Promise<Ran> =>
  meshwright(place, words, { env: { MESHWRIGHT_TRUST: 'env=MESH_PW', MESH_PW: 'simulated' } });
const upgrade = (...words: string[]): Promise<Ran> => run('upgrade', 'macos', '--sim', ...words);
const macosOf = (ran: Ran): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    (json(ran) as UpgradeDocument).units.flatMap(({ nodes }) =>
      Object.entries(nodes).map(([name, { macos }]) => [name, macos]),
    ),
  );
const serves = async (name: string): Promise<boolean> => (await run('ask', name, 'hello', '--sim')).code === 0;
const answers = (node: string) => eventually(async () => (await run('exec', node, '--sim', '--', 'true')).code === 0);

beforeAll(async () => {
  expect((await run('apply', '--sim', '--yes')).code).toBe(0);
});

describe('upgrade macos', () => {
  it('names the build and leaves the other unit alone if a Mac of the canary runs another build', async () => {
    use('26.7', { driver: 'softwareupdate' });
    expect((await run('sim', 'fault', 'build-differs', 'studio-4')).code).toBe(0);
    const ran = await upgrade('--all', '--yes', '--json');
    expect([ran.code, codesOf(json(ran))]).toEqual([4, ['upgrade/not-updated']]);
    expect(ran.stdout).toContain('studio-4 should run macOS 26.7 (25G229), but it runs macOS 26.7 (25G2299).');
    expect(macosOf(ran)).toMatchObject({ 'studio-1': 'macOS 26.7 (25G229)', 'studio-2': 'macOS 26.5' });
    expect([await serves('code'), await serves('chat')]).toEqual([true, true]);
    // A second run does not take that build for the right one.
    const again = await upgrade('--all', '--yes', '--json');
    expect([again.code, codesOf(json(again))]).toEqual([4, ['upgrade/not-updated']]);
    expect(macosOf(again)).toMatchObject({ 'studio-2': 'macOS 26.5', 'studio-3': 'macOS 26.5' });
  });

  it('shows with --check which program would install', async () => {
    use('26.7', byProgram);
    const ran = await upgrade(...second, '--check');
    expect([ran.code, ran.stderr]).toEqual([2, '']);
    expect(flat(ran.stdout)).toContain('false on this computer orders both.');
  });

  it('does not let the program order an update twice in a boot session', async () => {
    expect((await run('sim', 'fault', 'update-stuck', 'studio-3')).code).toBe(0);
    const killed = listenTo(place, ['upgrade', 'macos', ...second, '--sim', '--yes']);
    await killed.until('macOS is installing the update');
    killed.child.kill('SIGKILL');
    await killed.end;
    const reboot = await run('reboot', 'studio-3', '--sim', '--yes', '--json', '--lease-wait', '60s');
    expect([reboot.code, reboot.stdout]).toEqual([3, expect.stringContaining('macos/updating')]);
    // Another order would now update the Mac.
    expect((await run('sim', 'fault', '--clear')).code).toBe(0);
    const next = listenTo(place, ['upgrade', 'macos', ...second, '--sim', '--yes', '--lease-wait', '60s']);
    await next.until('macOS is installing the update');
    next.child.kill('SIGKILL');
    await next.end;
    const seen = await upgrade(...second, '--check', '--json');
    expect(macosOf(seen)['studio-3']).toBe('macOS 26.5');
    // A person restarts the Mac, so nothing is on its way anymore.
    expect((await run('sim', 'fault', 'crash', 'studio-3')).code).toBe(0);
    expect(await answers('studio-3')).toBe(true);
    const ran = await upgrade(...second, '--yes', '--json', '--lease-wait', '60s');
    expect([ran.code, Object.values(macosOf(ran))]).toEqual([0, ['macOS 26.7 (25G229)', 'macOS 26.7 (25G229)']]);
    expect(await serves('code')).toBe(true);
  });

  it('names the Macs that stay locked at FileVault before anything changes, and asks for them only once', async () => {
    use('27.0', byProgram, { isLocked: true });
    expect((await run('sim', 'fault', 'filevault-locked', 'studio-3')).code).toBe(0);
    expect((await run('unlock', 'studio-3', '--sim', '--yes', '--password-env', 'MESH_PW')).code).toBe(0);
    const refused = await upgrade(...second, '--yes', '--json');
    expect([refused.code, codesOf(json(refused))]).toEqual([5, ['plan/not-allowed']]);
    expect(refused.stdout).toContain('leaves studio-3 locked at FileVault after a restart. Nothing was changed.');
    // The playbook says it before it begins, and passes this consent on.
    const playbook = async (effects: string) => {
      const ran = await run('run', 'upgrade-macos', ...second, '--sim', '--yes', '--json', '--allow', effects);
      return [
        ran.code,
        ran.stdout.includes('leaves studio-3 locked at FileVault after a restart. Nothing was changed.'),
      ];
    };
    expect(await playbook('interrupt,reboot')).toEqual([5, true]);
    expect(await playbook('interrupt,reboot,locked-reboot')).toEqual([3, false]);
    const facts = await run('facts', 'studio-2', '--fact', 'macos-version', '--sim', '--json');
    expect(facts.stdout).toContain('26A428');
    expect((await run('unlock', 'studio-3', '--sim', '--yes', '--password-env', 'MESH_PW')).code).toBe(0);
    const next = await upgrade(...second, '--yes', '--json');
    expect([next.code, macosOf(next)['studio-3']]).toEqual([0, 'macOS 27.0 (26A428)']);
    expect((await run('sim', 'fault', '--clear')).code).toBe(0);
  });

  it('continues with --wait-for-hands when a person has installed the version', async () => {
    use('27.0.1', {});
    const waiting = listenTo(place, ['upgrade', 'macos', ...second, '--sim', '--yes', '--wait-for-hands']);
    await waiting.until('sim hands update studio-2 studio-3 27.0.1');
    const wrong = await run('sim', 'hands', 'update', 'studio-2', '26.6');
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('and is offered macOS 27.0.1, not macOS 26.6'),
    ]);
    const done = await run('sim', 'hands', 'update', ...second, '27.0.1');
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('installed macOS 27.0.1 on studio-3')]);
    expect((await waiting.end).code).toBe(0);
    expect(await serves('code')).toBe(true);
  });

  it('ends with --wait-for-hands if the person has installed a newer version', async () => {
    use('26.8', {});
    const waiting = listenTo(place, ['upgrade', 'macos', 'studio-1', 'studio-4', '--sim', '--yes', '--wait-for-hands']);
    await waiting.until('sim hands update');
    expect((await run('sim', 'hands', 'update', 'studio-4', '27.0')).code).toBe(0);
    const ended = await waiting.end;
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('upgrade/newer');
  });
});
