import { spawnSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeSettingsScript } from '../../../../src/node/probes/node-settings.ts';
import { makeNodeRoot, removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeNodeRoot);

/** An account other than root, so that file permissions apply to scripts. */
const otherAccount = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

it.each(scriptShells)('a preference in an inaccessible folder is unreadable, not unset, in $name', (shell) => {
  const { folder, file } = newRoot(shell);
  for (let at = folder; at !== '/'; at = dirname(at)) chmodSync(at, statSync(at).mode | 0o111);
  chmodSync(join(folder, 'tmp'), 0o777);
  file('Library/Preferences/com.apple.loginwindow.plist', 'x');
  chmodSync(join(folder, 'Library/Preferences'), 0o644);
  const [command, ...options] = shell.argv;
  const { stdout } = spawnSync(command, [...options, `set -u\nR='${folder}'\nO=\n${nodeSettingsScript}`], {
    ...otherAccount,
    cwd: join(folder, 'tmp'),
    encoding: 'utf8',
  });
  chmodSync(join(folder, 'Library/Preferences'), 0o755);
  expect(stdout.split('\n').slice(0, 2)).toEqual(['updates unreadable', 'login unreadable']);
});
