import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { panicReportsScript } from '../../../src/script/node-scripts/panic-reports.ts';
import { makeNodeRoot, removedAfter, startScript } from './node-root.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeNodeRoot);

/** The reports that are printed of these files, in the order in which they are. */
async function printed(shell: Shell, names: readonly string[]): Promise<readonly string[]> {
  const { folder } = newRoot(shell);
  const reports = join(folder, 'Library/Logs/DiagnosticReports');
  mkdirSync(reports, { recursive: true });
  for (const name of names) writeFileSync(join(reports, name), `{"bug_type":"210"}\n  "panicString" : "${name}"\n`);
  const { stdout, stderr } = await startScript(shell, `set -u\nR='${folder}'\n${panicReportsScript}`).end;
  expect(stderr).toBe('');
  return [...stdout.toString('utf8').matchAll(/^panic (.*)$/gm)].flatMap(([, name]) => name ?? []);
}

it.each(scriptShells)('the last reports of panics of each kind are printed under $name', async (shell) => {
  const full = (day: number) => `panic-full-2026-09-0${day}-131320.0002.panic`;
  const few = [full(1), full(2)];
  expect([await printed(shell, []), await printed(shell, few)]).toEqual([[], few]);
  // Not behind those of another kind that come later by name alone.
  const newest = ['Kernel_2026-09-30-091500_studio-1.panic', 'panic-base-2026-09-09-131320.0002.panic'];
  const last = [5, 6, 7, 8].map(full);
  expect(await printed(shell, [...newest, full(4), ...last])).toEqual([...newest, ...last]);
});
