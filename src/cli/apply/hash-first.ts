import { isDone } from '../../apply/execute.ts';
import { stepsOf } from '../../apply/playbook-report.ts';
import { loadedModels } from '../../desired/layouts.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import { hashWorks } from '../../engine/plan/hash-works.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { Plan, StepReport } from '../../engine/plan/plan.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { ReportDocument } from '../../model/documents.generated.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { usedModels } from '../../rack/artifacts/models/model-resource.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { Goal } from '../../rack/goal.ts';
import { fitLines } from '../../report/page.ts';
import { hashLines } from '../../report/plan/hash-lines.ts';
import type { SettledCluster } from '../cluster/settle-cluster.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { createConsent } from '../plan/consent.ts';
import { pageFor, showDiagnostics } from '../terminal/console.ts';
import { type Run, textOption, usageError } from '../verb.ts';
import { actOn, type CommandSpec } from './act-on.ts';
import type { EndedRun } from './run-outcome.ts';

/** True with `--verify=full`. @throws FleetError `cli/usage` */
export function isFullVerify(run: Run): boolean {
  const text = textOption(run, 'verify');
  if (text === undefined || text === 'full') return text === 'full';
  throw usageError(
    `"${text}" is not a valid value for --verify.`,
    'Enter --verify=full, which hashes every file. Without --verify, only counts and times are compared.',
  );
}

/** Hashes the published models that placements on these nodes use. */
function hashGoal(fleet: DesiredFleet, targets: readonly NodeName[]): Goal & { readonly kind: 'verify-models' } {
  const nodes = fleet.nodes.filter(({ name }) => targets.includes(name));
  const names = nodes.flatMap((desired) => usedModels(fleet, { desired }).map(({ name }) => name));
  return { kind: 'verify-models', names: [...new Set(names)] };
}

/** The plan that `apply --verify=full` runs first. */
export const planToHash = (desired: DesiredFleet, observation: FleetObservation, targets: readonly NodeName[]): Plan =>
  makePlan({ goal: hashGoal(desired, targets), desired, observation, targets });

export type Hashed =
  | {
      readonly kind: 'compared';
      readonly hashed: ReportDocument['hashed'];
      /** Wrong files, which the plan that follows replaces. */
      readonly found: readonly Diagnostic[];
    }
  /** Not every copy could be hashed; the reasons were shown. */
  | { readonly kind: 'stopped'; readonly ended: EndedRun };

export interface ClusterTargets {
  readonly cluster: SettledCluster;
  readonly targets: readonly NodeName[];
  readonly ways: SshTargets;
}

const modelOf = ({ step: { act } }: StepReport): string =>
  act.kind === 'job' && act.name === 'rehash-model' ? act.args.tree.name : '';

const isWrong = ({ diagnostics }: StepReport): boolean => diagnostics.some((one) => hasTrait(one, 'wrong-files'));

/** Hashes the models' files on the nodes, without asking. A model with wrong files then counts as changed. */
export async function hashFirst(run: Run, { cluster, targets, ways }: ClusterTargets): Promise<Hashed> {
  const { fleet } = cluster;
  const sayLines = (lines: readonly string[]): void => {
    if (!run.options.json) run.console.out(`${lines.join('\n')}\n`);
  };
  const command: CommandSpec = {
    verb: 'apply',
    goal: hashGoal(fleet, targets),
    scope: { desired: fleet, targets },
    consent: createConsent(run, { allowable: ['interrupt', 'rdma-start'], isAgreed: true }),
    texts: { show: (plan) => sayLines([...hashLines(hashWorks(plan), pageFor(run.console)), '']) },
    ending: () => ({ closing: ['Not every model could be hashed, so nothing else was changed.'] }),
  };
  const ended = await actOn(run, command, cluster, ways);
  const { report } = ended.outcome;
  const steps = stepsOf(report).filter(({ step: { act } }) => act.kind === 'job');
  const isRefused = report.works.some(({ refusals }) => refusals.length > 0);
  const isCut = report.isInterrupted || run.signal.aborted || isRefused;
  if (isCut || steps.some((one) => !isDone(one) && !isWrong(one))) return { kind: 'stopped', ended };
  const found = steps.filter(isWrong).flatMap((one) => {
    const users = fleet.placements.filter((used) => loadedModels(used).includes(modelOf(one))).map(({ name }) => name);
    const hint = prose`apply fetches the wrong files again. Ranks that are running keep the weights that they have loaded. To load them again: ${meshwright('restart', ...users)}`;
    return one.diagnostics.map((problem): Diagnostic => ({ ...problem, severity: 'warning', hint }));
  });
  if (steps.length === 0) sayLines(hashLines([], pageFor(run.console)));
  else if (found.length === 0)
    sayLines(fitLines('Every file that was hashed matches its SHA-256.', run.console.columns));
  else if (!run.options.json) showDiagnostics(run.console, found);
  sayLines(['']);
  const hashed = steps.map((one) => ({
    node: one.step.node,
    model: modelOf(one),
    state: isWrong(one) ? ('wrong' as const) : ('right' as const),
  }));
  return { kind: 'compared', hashed, found };
}
