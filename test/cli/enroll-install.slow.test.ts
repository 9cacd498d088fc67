import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { textBelow, tracesOf } from '../secret-traces.ts';
import { fleetPlace } from './fleet.ts';
import { codesOf, expectGolden, json, meshwright, type Ran } from './meshwright.ts';
import { schemaCheck } from './schema-check.ts';
import { onTerminal } from './terminal.ts';

const { place, run } = fleetPlace();
afterEach(() => run('sim', 'fault', '--clear'));

const right = { env: { OWN_PASSWORD: 'simulated' } };
const canary = 'hunter2 "and&more"';
const wrong = { env: { OWN_PASSWORD: canary } };
const enroll = (options: { env: Record<string, string> }, ...more: string[]): Promise<Ran> =>
  meshwright(place, ['enroll', '--sim', 'studio-4', '--password-env', 'OWN_PASSWORD', ...more], options);

interface Node {
  readonly login: string;
  readonly sudo?: string;
  readonly installed?: unknown;
}
const nodeOf = (ran: Ran): Node => (json(ran) as { nodes: Record<string, Node> }).nodes['studio-4'] as Node;

/** Paths of two files on the disk of the simulated Mac. */
async function disk(): Promise<{ keys: string; rule: string }> {
  const { nodes } = json(await run('sim', 'status', '--json')) as { nodes: Record<string, { root: string }> };
  const root = nodes['studio-4']?.root ?? '';
  return { keys: join(root, 'Users/ana/.ssh/authorized_keys'), rule: join(root, 'private/etc/sudoers.d/meshwright') };
}
const read = (file: string): string => readFileSync(file, 'utf8');

describe('the first enroll of a Mac', () => {
  it('installs the key and the sudo rule with the password, and changes nothing the next time', async () => {
    await run('sim', 'fault', 'not-enrolled', 'studio-4');
    const first = await enroll(right, '--yes');
    const again = await enroll(right, '--yes');
    expect([first.code, again.code]).toEqual([0, 0]);
    await expectGolden('enroll-install', place, [first, again]);
    const { keys, rule } = await disk();
    expect(read(keys)).toMatch(/^ssh-ed25519 [A-Za-z0-9+/=]+ meshwright\n$/);
    expect(read(rule).split('\n').slice(-2)).toEqual(['ana ALL=(root) NOPASSWD: /bin/sh -s', '']);
    expect((await run('facts', '--sim', '--nodes', 'studio-4', '--fact', 'sudo', '--json')).code).toBe(0);
  });

  it('lists the installed items in JSON, and keeps the other keys', async () => {
    await run('sim', 'fault', 'not-enrolled', 'studio-4');
    await enroll(right, '--yes');
    const { keys, rule } = await disk();
    const others = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOther somebody else';
    writeFileSync(keys, others);
    rmSync(rule);
    const ran = await enroll(right, '--yes', '--json');
    expect(schemaCheck('enroll')(json(ran))).toEqual([]);
    expect(nodeOf(ran)).toMatchObject({
      login: 'accepted',
      sudo: 'allowed',
      installed: { key: 'added', rule: 'added' },
    });
    expect(read(keys).split('\n')).toEqual([others, expect.stringMatching(/ meshwright$/), '']);
  });

  it('completes an interrupted enroll', async () => {
    await run('sim', 'fault', 'not-enrolled', 'studio-4');
    await enroll(right, '--yes');
    const { keys, rule } = await disk();
    const before = read(keys);
    chmodSync(rule, 0o600);
    writeFileSync(rule, '# of a person\nben ALL=(root) NOPASSWD: /bin/sh -s\n');
    const ran = await enroll(right, '--yes', '--json');
    expect(nodeOf(ran)).toMatchObject({ sudo: 'allowed', installed: { rule: 'added' } });
    expect(read(rule).split('\n').slice(1, 3)).toEqual([
      'ben ALL=(root) NOPASSWD: /bin/sh -s',
      'ana ALL=(root) NOPASSWD: /bin/sh -s',
    ]);
    expect(read(keys)).toBe(before);
  });

  it('does not install a sudo rule that visudo rejects', async () => {
    await run('sim', 'fault', 'not-enrolled', 'studio-4');
    await enroll(right, '--yes');
    const { rule } = await disk();
    chmodSync(rule, 0o600);
    writeFileSync(rule, 'ben ALL=(root NOPASSWD: ALL\n');
    const ran = await enroll(right, '--yes', '--json');
    expect([ran.code, codesOf(nodeOf(ran))]).toEqual([3, ['enroll/not-installed']]);
    expect(read(rule)).toBe('ben ALL=(root NOPASSWD: ALL\n');
    rmSync(rule);
  });

  it('sends a wrong password once and installs nothing', async () => {
    await run('sim', 'fault', 'not-enrolled', 'studio-4');
    const ran = await enroll(wrong, '--yes');
    expect([ran.code, tracesOf(canary, ran.stdout + ran.stderr)]).toEqual([3, []]);
    await expectGolden('enroll-wrong-password', place, [ran]);
    expect(codesOf(nodeOf(await enroll(right, '--json')))).toEqual(['ssh/authentication-failed', 'cli/needs-yes']);
  });

  it('sends a wrong password only to sudo if the key is accepted, and leaves no trace of it', async () => {
    await run('sim', 'fault', 'sudo-denied', 'studio-4');
    const bad = await enroll(wrong, '--yes', '--json', '--verbose', '--record', 'sent.ndjson');
    expect([bad.code, codesOf(nodeOf(bad))]).toEqual([3, ['enroll/sudo-refused-password']]);
    // The record of sent commands, the files of this computer, and the disks of the simulated Macs.
    const kept = [place.folder, place.state].map(textBelow);
    expect(kept.join('').includes('/bin/sh -c')).toBe(true);
    expect(tracesOf(canary, [bad.stdout, bad.stderr, ...kept].join('\n'))).toEqual([]);
    const good = await enroll(right, '--yes', '--json');
    expect(nodeOf(good)).toMatchObject({ login: 'accepted', sudo: 'allowed', installed: { rule: 'added' } });
  });

  it('lists the password sources when it has no password or its source fails', async () => {
    await run('sim', 'fault', 'not-enrolled', 'studio-4');
    const none = await run('enroll', '--sim', 'studio-4', '--json');
    const [{ hint }] = (nodeOf(none) as unknown as { diagnostics: { hint: string }[] }).diagnostics as [
      { hint: string },
    ];
    expect([none.code, hint]).toEqual([3, expect.stringContaining('--password-env NAME')]);
    const unset = await run('enroll', '--sim', 'studio-4', '--yes', '--password-env', 'NOT_SET', '--json');
    expect(codesOf(nodeOf(unset))).toEqual(['ssh/authentication-failed', 'secret/missing']);
  });

  it('shows its changes and asks at a terminal, without showing the password', async () => {
    await run('sim', 'fault', 'not-enrolled', 'studio-4');
    const words = ['enroll', '--sim', 'studio-4', '--no-color'];
    const no = await onTerminal(place, words, { typing: { after: 'Install? [y/N]', keys: 'n\r' } });
    expect(no.code).toBe(3);
    await expectGolden('enroll-install-question', place, [no]);
    const typing = { after: 'Password of ana on studio-4: ', keys: 'hunter2\r' };
    const bad = await onTerminal(place, [...words, '--yes'], { typing });
    expect([bad.code, bad.stdout]).toEqual([3, expect.stringContaining('ssh/password-refused')]);
    expect(bad.stdout).not.toContain('hunter2');
    const good = await onTerminal(place, [...words, '--yes'], { typing: { ...typing, keys: 'simulated\r' } });
    expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('sudo       allowed')]);
  });
});
