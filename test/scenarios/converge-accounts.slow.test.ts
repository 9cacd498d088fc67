import { execFile } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { accountChecked, rankLog, serviceFile } from '../../src/node/paths/own-paths.ts';
import { shared } from '../rack/kept-running.ts';
import { connect, run } from '../rack/running.ts';
import { type FileValue, filePart, first, pairFile, second } from './converge-file.ts';
import { leftIn, patience, startConvergeRack } from './converge-rack.ts';
import { keepersAtRest } from './keepers-at-rest.ts';

const withAccounts =
  (accounts: Readonly<Record<string, string>>) =>
  (file: FileValue): void => {
    filePart(file, 'system')['accounts'] = { ...accounts };
  };

/** A change that restarts the placement. */
const changed = (file: FileValue): void => {
  withAccounts(ours)(file);
  filePart(file, 'placements', 'chat')['context'] = 4_096;
};

const ours = { ranks: '_meshrank', gateway: '_meshgate' } as const;

const rack = shared(() => startConvergeRack('accounts', pairFile(withAccounts(ours))));

const rootOf = (node: string): string => rack.fleet().nodes[node]?.root ?? '';
const serviceText = (node: string): string => readFileSync(`${rootOf(node)}${serviceFile('chat').path}`, 'utf8');
const valueIn = (text: string, key: string): string | undefined =>
  new RegExp(`<key>${key}</key>\\s*<string>([^<]*)</string>`).exec(text)?.[1];

/** The output of a command over ssh on a node. */
async function printed(node: string, command: string): Promise<string> {
  const client = await connect(rack.fleet(), node);
  try {
    const { stdout, stderr } = await run(client, command);
    return stdout + stderr;
  } finally {
    client.end();
  }
}

/** Runs a line of sh like a service of an account. */
function as(account: string, line: string) {
  const root = rootOf(first);
  const env = { PATH: `${root}/usr/bin:${root}/bin`, MW_SIM_ACCOUNT: account, R: root };
  return promisify(execFile)(`${root}/bin/sh`, ['-c', line], { env });
}

describe('separate accounts for ranks and gateway', { timeout: patience }, () => {
  it('are created once, before their services start', async () => {
    const { plan, report, exit } = await rack.converge();
    expect(report?.steps.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(exit).toBe(0);
    const made = plan.steps.filter(({ resource }) => resource === 'accounts').map(({ id }) => id);
    expect(made).toEqual([first, second].map((node) => `${node}/accounts/_meshrank/make`));
    expect(await printed(first, 'id -Gn _meshrank; id -u _meshrank')).toBe('_meshrank everyone localaccounts\n450\n');
    await keepersAtRest(rack.fleet());
    expect(leftIn(await rack.plan())).toEqual([]);
  });

  it('run the ranks with their own folders and a log that only the ssh user can read', async () => {
    for (const node of [first, second]) {
      const text = serviceText(node);
      expect(valueIn(text, 'UserName')).toBe('_meshrank');
      for (const key of ['HOME', 'TMPDIR', 'HF_HOME', 'PYTHONPYCACHEPREFIX']) {
        expect(valueIn(text, key), key).toContain('/meshwright/accounts/folders/_meshrank/');
      }
      expect(statSync(`${rootOf(node)}${rankLog('chat').path}`).mode & 0o777).toBe(0o660);
      expect(statSync(valueIn(text, 'HOME') ?? '').mode & 0o777).toBe(0o700);
    }
  });

  it('are tested in a LaunchDaemon that launchd forgets afterwards', async () => {
    const path = `${rootOf(first)}${accountChecked('_meshrank').path}`;
    expect(readFileSync(path, 'utf8')).toMatch(/^build=\w+ uid=450\nhome\nfiles-[0-9a-f]{16}\n$/);
    expect(await printed(first, 'launchctl print system/dev.meshwright.check')).toContain('Could not find service');
  });

  it('cannot become root with sudo', async () => {
    const { stdout } = await as('_meshrank', 'sudo -n sh -c "echo root"; echo "exit $?"; id -un');
    expect(stdout).toBe('exit 1\n_meshrank\n');
  });

  it('are checked for sudo rules before a restart stops their ranks', async () => {
    const rules = '/private/etc/sudoers.d/ranks';
    writeFileSync(`${rootOf(second)}${rules}`, '_meshrank ALL=(root) NOPASSWD: ALL\n');
    const before = rack.fleet().processes();
    expect(await rack.declare(pairFile(changed))).toEqual([]);
    const { report, exit } = await rack.apply();
    const failed = report?.steps.filter(({ outcome }) => outcome === 'failed');
    expect(failed?.map(({ step }) => step.id)).toEqual([`${second}/placement/chat/check-account`]);
    expect(exit).not.toBe(0);
    expect(rack.fleet().processes()).toEqual(before);
    rmSync(`${rootOf(second)}${rules}`);
    expect((await rack.converge()).exit).toBe(0);
    expect(rack.fleet().processes()).not.toEqual(before);
  });

  it('are neither used nor changed if a person created an account with that name', async () => {
    const dscl = (words: string) => `sudo -n dscl . ${words}`;
    await printed(first, dscl('-delete /Users/_meshrank'));
    expect(await printed(first, dscl('-create /Users/_meshrank UniqueID 0'))).toBe('');
    const plan = await rack.plan();
    expect(plan.steps.filter(({ resource }) => resource === 'accounts')).toEqual([]);
    expect(leftIn(plan).map((line) => line.split(':')[0])).toEqual([
      `waiting ${first} accounts/_meshrank`,
      `blocker ${first} accounts/other`,
    ]);
    await printed(first, dscl('-delete /Users/_meshrank'));
  });

  it('are created again with the same ID after macOS removed them', async () => {
    const { exit, plan } = await rack.converge();
    expect([exit, plan.steps.map(({ id }) => id)]).toEqual([0, [`${first}/accounts/_meshrank/make`]]);
    expect(await printed(first, 'id -u _meshrank')).toBe('450\n');
  });
});
