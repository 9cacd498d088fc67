import type { Performed, PlaybookOptions } from '../../apply/playbook-report.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { runSecretCommand } from '../../secrets/resolve-secret.ts';
import { bench } from '../bench/bench.ts';
import { exitCode } from '../exit-codes.ts';
import type { Run } from '../verb.ts';
import { recoverPlacements } from './recover.ts';

interface PerformOptions {
  /** The cluster file's folder, in which its other programs run, too. */
  readonly folder: string;
  readonly mayReboot: boolean;
}

/** Does the tasks of a playbook that are commands of their own. */
export const performer =
  (run: Run, { folder, mayReboot }: PerformOptions): NonNullable<PlaybookOptions['perform']> =>
  async (work) => {
    switch (work.kind) {
      case 'recover':
        return recoverPlacements(run, work.placements, mayReboot);
      case 'bench':
        return benchAll(run, work.placements);
      case 'notify':
        return { failed: [], diagnostics: await sendNotice(run, work.command, folder) };
    }
  };

async function benchAll(run: Run, placements: readonly string[]): Promise<Performed> {
  const failed: string[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const name of placements) {
    const ended = await bench({ ...run, words: [name], own: {} });
    if (typeof ended === 'number') throw new Error('bench returns its result');
    if (!run.options.json) run.console.out(`${ended.text}\n`);
    if (ended.exit !== exitCode.done) failed.push(name);
    diagnostics.push(...(ended.findings ?? []));
  }
  return { failed, diagnostics };
}

/** Why a notice was not sent. */
async function sendNotice(run: Run, argv: readonly string[], folder: string): Promise<readonly Diagnostic[]> {
  if (run.options.sim === true) return [];
  const ran = await runSecretCommand({ kind: 'command', argv }, { env: run.env, folder, signal: run.signal });
  return ran.kind === 'bytes' ? [] : [diagnose('task/notice-failed', { detail: ran.why })];
}
