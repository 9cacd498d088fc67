import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { panicReportFiles } from '../../../../src/node/probes/panic-reports.ts';
import { makeNodeRoot, removedAfter, startScript } from './node-root.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeNodeRoot);

/** The output of the probe for these files in the folder of reports. */
async function printed(shell: Shell, names: readonly string[], text?: Uint8Array): Promise<Buffer> {
  const { folder, tool } = newRoot(shell);
  tool('usr/bin/awk', 'exec /usr/bin/awk "$@"');
  const reports = join(folder, 'Library/Logs/DiagnosticReports');
  mkdirSync(join(reports, 'Retired'), { recursive: true });
  for (const name of names) {
    writeFileSync(join(reports, name), text ?? `{"bug_type":"210"}\n  "panicString" : "${name}"\n`);
  }
  const { stdout, stderr } = await startScript(shell, `set -u\nR='${folder}'\n${panicReportFiles.ask[2]}`).end;
  expect(stderr).toBe('');
  expect(stdout.toString('utf8')).toMatch(/^end\n$/m);
  return stdout;
}

const namesIn = (stdout: Buffer): readonly string[] =>
  [...stdout.toString('utf8').matchAll(/^panic (.*)$/gm)].flatMap(([, name]) => name ?? []);
const full = (day: number) => `panic-full-2026-09-0${day}-131320.0002.panic`;

it.each(scriptShells)('the latest panic reports of each kind are printed in $name', async (shell) => {
  const names = async (...all: string[]) => namesIn(await printed(shell, all));
  const few = [full(1), full(2)];
  expect([await names(), await names(...few)]).toEqual([[], few]);
  // Reports of another kind do not displace the newest ones, even if their names sort later.
  const newest = ['Kernel_2026-09-30-091500_studio-1.panic', 'panic-base-2026-09-09-131320.0002.panic'];
  const last = [5, 6, 7, 8].map(full);
  expect(await names(...newest, full(4), ...last)).toEqual([...newest, ...last]);
});

it.each(scriptShells)('panic reports in Retired and with unusual names are printed in $name', async (shell) => {
  const base = 'panic-base+socd-2026-09-15-153750.000.panic';
  const stdout = await printed(shell, [base, `Retired/${full(1)}`, 'Retired/Kernel_Ana\u2019s Mac.panic']);
  expect(namesIn(stdout)).toEqual([base, 'Kernel_Ana???s?Mac.panic', full(1)]);
});

it.each(scriptShells)('a truncated UTF-8 character does not spoil the output in $name', async (shell) => {
  const head = `{"bug_type":"210","a":"${'\u00e9'.repeat(300)}"}`;
  const text = Buffer.from(`${head}\n  "panicString" : "a${'\u00e9'.repeat(4_000)}"\n`);
  const stdout = await printed(shell, [full(1)], Buffer.concat([text, Buffer.from([0xff, 0x0a])]));
  expect(stdout.toString('latin1')).toMatch(/^[\n -~]+$/);
  expect(
    stdout
      .toString('latin1')
      .split('\n')
      .map((line) => line.length),
  ).toEqual([45, 501, 6_001, 3, 0]);
});
