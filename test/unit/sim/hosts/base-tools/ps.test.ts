import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { baseTools } from '../../../../../src/sim/hosts/base-tools/all-base-tools.ts';
import { wrapperText } from '../../../../../src/sim/hosts/base-tools/wrapper.ts';

/** What the simulated ps prints if the ps of Linux prints these two processes. */
function psOf(...args: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'ps-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const host = join(folder, 'host');
  writeFileSync(
    host,
    `#!/bin/sh
t=
case "$*" in (*lstart*) t='Sun Nov 29 06:53:44 2026 ' ;; esac
printf '%s%s\\n' "$t" 'Tsl    a  b' "$t" 'D<sl   Dll'
`,
  );
  chmodSync(host, 0o755);
  const tool = baseTools.find(({ path }) => path === '/bin/ps');
  if (tool === undefined) throw new Error('there is no ps');
  const text = wrapperText(tool, { host, isBsd: false, user: 'mesh', programs: folder });
  return spawnSync('/bin/sh', ['-c', text, join(folder, 'bin/ps'), ...args, '-p', `${process.pid}`]).stdout.toString();
}

describe('the simulated ps', () => {
  it('prints process states as macOS does, in any column, and leaves other columns unchanged', () => {
    expect(psOf('-o', 'stat=', '-o', 'ucomm=')).toBe('Ts    a  b\nU<s   Dll\n');
    expect(psOf('-o', 'lstart=,stat=,ucomm=')).toMatch(/^Sun .* 2026 Ts {4}a {2}b\nSun .* 2026 U<s {3}Dll\n$/);
    expect(psOf('-o', 'ucomm=')).toBe('Tsl    a  b\nD<sl   Dll\n');
  });
});
