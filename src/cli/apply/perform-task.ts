import type { Performed, PerformedWork, PlaybookOptions } from '../../apply/playbook-report.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { runSecretCommand } from '../../secrets/resolve-secret.ts';
import { bench } from '../bench/bench.ts';
import { exitCode } from '../exit-codes.ts';
import type { Run, VerbBody } from '../verb.ts';
import { recoverPlacements } from './recover.ts';
import { upgradeMacos } from './upgrade-macos.ts';
import { runtimesOn, upgradeUnits } from './upgrade-runtime.ts';

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
      case 'upgrade':
        return upgrade(run, work);
      case 'bench':
        return benchAll(run, work.placements);
      case 'notify':
        return { failed: [], diagnostics: await sendNotice(run, work.command, folder) };
    }
  };

/** Runs the upgrade commands for these nodes; the playbook has asked already. */
async function upgrade(run: Run, { what, nodes }: Extract<PerformedWork, { kind: 'upgrade' }>): Promise<Performed> {
  const { nodes: _nodes, label: _label, ...options } = run.options;
  const agreed: Run = { ...run, words: [], own: {}, options: { ...options, yes: true } };
  const diagnostics: Diagnostic[] = [];
  let isDone = true;
  const finish = async (command: () => ReturnType<VerbBody>): Promise<void> => {
    if (run.signal.aborted) return;
    try {
      const ended = await command();
      if (typeof ended === 'number') throw new Error('an upgrade returns its result');
      if (!run.options.json) run.console.out(`${ended.text}\n`);
      isDone &&= ended.exit === exitCode.done;
      diagnostics.push(...(ended.problems ?? []), ...(ended.findings ?? []));
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      isDone = false;
      diagnostics.push(...error.diagnostics);
    }
  };
  if (what === 'macos') await finish(() => upgradeMacos({ ...agreed, words: nodes }));
  else {
    const names = what === 'runtimes' ? runtimesOn(agreed, nodes) : [what.runtime];
    for (const name of names) await finish(() => upgradeUnits({ ...agreed, words: [name] }, nodes));
  }
  return { failed: [], nodes: isDone ? [] : nodes, diagnostics };
}

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
