import type { Performed, PerformedWork, PlaybookOptions } from '../../apply/playbook-report.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import type { EffectTotal } from '../../engine/plan/plan.ts';
import { given } from '../../model/given.ts';
import { runSecretCommand } from '../../secrets/resolve-secret.ts';
import { bench } from '../bench/bench.ts';
import { exitCode } from '../exit-codes.ts';
import { beyondUpgrade, type GuardedEffect } from '../plan/consent.ts';
import type { Run, VerbBody } from '../verb.ts';
import { recoverPlacements } from './recover.ts';
import { upgradeMacos } from './upgrade-macos.ts';
import { runtimesOn, upgradeUnits } from './upgrade-runtime.ts';

interface PerformOptions {
  /** The cluster file's folder, in which its other programs run, too. */
  readonly folder: string;
  readonly allowed: readonly GuardedEffect[];
  /** The effects that the user has agreed to. */
  readonly agreed: () => readonly EffectTotal[];
}

/** Does the tasks of a playbook that are commands of their own. */
export const performer =
  (run: Run, { folder, allowed, agreed }: PerformOptions): NonNullable<PlaybookOptions['perform']> =>
  async (work) => {
    switch (work.kind) {
      case 'recover':
        return recoverPlacements(run, work.placements, allowed.includes('reboot'));
      case 'upgrade':
        return upgrade({ ...run, agreed: agreed() }, work, allowed);
      case 'bench':
        return benchAll(run, work.placements);
      case 'notify':
        return { failed: [], diagnostics: await sendNotice(run, work.command, folder) };
    }
  };

/** Runs the upgrade commands for these nodes. The playbook has asked already; they ask only about other effects. */
async function upgrade(
  run: Run,
  { what, nodes }: Extract<PerformedWork, { kind: 'upgrade' }>,
  allowed: readonly GuardedEffect[],
): Promise<Performed> {
  const { nodes: _nodes, label: _label, ...options } = run.options;
  const { leaseWait, updateLock } = run.own;
  const own = given({ leaseWait, updateLock });
  const agreedFor = (effects: readonly GuardedEffect[]): Run => {
    const allow = effects.filter((effect) => allowed.includes(effect)).join(',');
    return { ...run, words: [], own: { ...own, allow }, options: { ...options, yes: true } };
  };
  const diagnostics: Diagnostic[] = [];
  const exits = new Set<number>();
  const finish = async (command: () => ReturnType<VerbBody>): Promise<void> => {
    if (run.signal.aborted) return;
    try {
      const ended = await command();
      if (typeof ended === 'number') throw new Error('an upgrade returns its result');
      if (!run.options.json && ended.text !== '') run.console.out(`${ended.text.trimEnd()}\n`);
      exits.add(ended.exit);
      diagnostics.push(...(ended.problems ?? []), ...(ended.findings ?? []));
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      exits.add(exitCode.failed);
      diagnostics.push(...error.diagnostics);
    }
  };
  if (what === 'macos')
    await finish(() => upgradeMacos({ ...agreedFor(['interrupt', 'reboot', ...beyondUpgrade.macos]), words: nodes }));
  else {
    const agreed = agreedFor(['interrupt', ...beyondUpgrade.runtime]);
    const names = what === 'runtimes' ? runtimesOn(agreed, nodes) : [what.runtime];
    for (const name of names) await finish(() => upgradeUnits({ ...agreed, words: [name] }, nodes));
  }
  exits.delete(exitCode.done);
  const isByHand = exits.size === 1 && exits.has(exitCode.handsNeeded) ? true : undefined;
  return { failed: [], nodes: exits.size === 0 ? [] : nodes, diagnostics, ...given({ isByHand }) };
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
