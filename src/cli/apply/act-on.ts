import { readFileSync } from 'node:fs';
import type { StepReport } from '../../apply/execute.ts';
import type { PlaybookReport } from '../../apply/run-playbook.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { Goal } from '../../engine/goals/goal.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { PlayScope } from '../../engine/playbooks/expand.ts';
import { loadPlaybook } from '../../engine/playbooks/load.ts';
import type { Playbook, Task } from '../../engine/playbooks/playbook.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { doorOf, insideOf } from '../../rack/placement/endpoint/doors.ts';
import type { SettledCluster } from '../cluster/settle-cluster.ts';
import type { Ways } from '../cluster/ways.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { LookedPlan } from '../look/look-and-plan.ts';
import { createConsent, type GuardedEffect } from '../plan/consent.ts';
import { showPlan } from '../plan/show-plan.ts';
import { unlockedByItself, withUnlocks } from '../unlock/unlock-by-itself.ts';
import type { Run } from '../verb.ts';
import { changeNodes, type RunHooks } from './change-nodes.ts';
import { outcomeOf, showOutcome, withKeptStops } from './run-outcome.ts';

const folder = new URL('../../../playbooks/', import.meta.url);

const shipped = ['apply', 'drain', 'restart', 'reboot', 'shutdown'] as const;

/** The verbs whose whole behaviour is a file. */
type ShippedPlaybook = (typeof shipped)[number];

/** Whether a word is the name of such a verb. */
export const isShipped = (word: string): word is ShippedPlaybook => shipped.some((name) => name === word);

/**
 * A playbook of this package. Only its own folder is looked at, so that no file of a user can stand in for it.
 * @throws Error when the package is damaged
 */
export function shippedPlaybook(name: ShippedPlaybook): Playbook {
  const file = `${name}.yaml`;
  const { playbook, diagnostics } = loadPlaybook(readFileSync(new URL(file, folder)), { file, name });
  if (playbook === undefined)
    throw new Error(`${file} is damaged: ${plainText(diagnostics[0]?.detail ?? 'it is empty')}`);
  return playbook;
}

/** A verb that is these tasks for its targets. */
export const playbookOf = (name: string, ...tasks: readonly Task[]): Playbook => ({
  name,
  plays: [{ nodes: { kind: 'targets' }, serial: [], maxFailures: 0, tasks }],
});

/** What a verb does to its targets, and how it is judged. */
export interface Action extends RunHooks {
  readonly verb: string;
  readonly playbook: Playbook;
  /** The file of `run`, as it is called in text. */
  readonly file?: string;
  readonly scope: PlayScope;
  /** Effects that the verb itself names. */
  readonly named: readonly GuardedEffect[];
  /** Effects that `--allow` may name; absent where the verb names them all. */
  readonly allowable?: readonly GuardedEffect[];
  /** The nodes whose state decides the exit code. */
  readonly judged: readonly NodeName[];
  /** The same, where that follows from the last look. */
  readonly judgedAt?: (observation: FleetObservation) => readonly NodeName[];
  /** What the last look is compared with; absent where the steps themselves say how it went. */
  readonly goal?: Goal;
  /** What the first plan leads to besides its own changes, a sentence each. */
  readonly leadsTo?: readonly Prose[];
  /** What the last look has found where nothing is left to do: `chat is stopped`. */
  readonly checked?: string;
  /** Sentences behind the last line, made of what was done. */
  readonly closing?: (report: PlaybookReport) => readonly Prose[];
  /** The same, made of the last look. */
  readonly lastWords?: (observation: FleetObservation) => readonly Prose[];
}

/** Runs a playbook from its first look to its last, and shows how it came out. */
export async function actOn(
  run: Run,
  action: Action,
  { cluster, ways }: { readonly cluster: SettledCluster; readonly ways: Ways },
): Promise<ExitCode> {
  const { verb, playbook, scope, named, file } = action;
  const { lockPlace } = cluster;
  const lock = { shown: lockPlace.shown, additions: [] };
  const unlocked = await unlockedByItself(run, playbook, {
    fleet: { nodes: scope.desired.nodes.filter(({ name }) => scope.targets.includes(name)) },
    ways,
  });
  let next = action.leadsTo ?? [];
  const show = (plan: Plan): void => {
    // Where something waits, what follows may not come.
    const sure = plan.waiting.length === 0 ? next : [];
    showPlan(run, withUnlocks(plan, unlocked), { lock, next: sure });
    next = [];
  };
  const consent = createConsent(run, { named, allowable: action.allowable ?? [], isAgreed: run.options.yes === true });
  // Their users wrote it; of a verb of ours the help tells.
  if (file !== undefined && playbook.about !== undefined && !run.options.json) run.console.out(`${playbook.about}\n\n`);
  const question = (): string => `${verb.charAt(0).toUpperCase()}${verb.slice(1)}: do what is shown above?`;
  const { onLeased, afterTask, tells } = action;
  const about = { verb, playbook, scope, ways, consent, show, question, isForeseen: file !== undefined };
  const change = await changeNodes(run, { ...about, ...given({ onLeased, afterTask, tells }) });
  const { report } = change;
  const judged = (report.observation && action.judgedAt?.(report.observation)) ?? action.judged;
  const last =
    report.observation === undefined
      ? undefined
      : lookedPlan({ ...action, judged }, { ...report, observation: report.observation });
  const goal = action.goal?.kind ?? 'converge';
  return showOutcome(run, outcomeOf(change, { goal, fleet: scope.desired, targets: judged }, last), {
    cluster: scope.desired.name,
    verb,
    lock: { path: lockPlace.path, written: false, additions: [] },
    ...given({ playbook: file, checked: action.checked }),
    closing: [
      ...(action.closing?.(report) ?? []),
      ...(report.observation === undefined ? closedDoorLines(report) : (action.lastWords?.(report.observation) ?? [])),
    ],
  });
}

function lookedPlan(
  { goal, scope, judged }: Action,
  { observation, works }: Required<Pick<PlaybookReport, 'observation' | 'works'>>,
): LookedPlan | undefined {
  if (goal === undefined) return undefined;
  const looked = makePlan({ goal, desired: scope.desired, observation, targets: judged });
  const plan = goal.kind === 'start' ? withKeptStops(looked, { works }) : looked;
  return { plan, observation };
}

/** A door as the steps of a run have left it; `unsure` where nobody knows what became of a step that was to close it. */
interface LeftDoor {
  readonly placement: string;
  readonly node: NodeName;
  readonly state: 'open' | 'closed' | 'unsure';
}

/**
 * What a run that ended without a last look has to say of doors: each that it has closed and not opened again, or behind
 * which it waited for whoever was inside, and what opens it. One line for each placement.
 */
export function closedDoorLines({ works }: Pick<PlaybookReport, 'works'>): readonly Prose[] {
  const doors = new Map<string, LeftDoor>();
  for (const report of works.flatMap(({ run }) => run?.steps ?? [])) {
    for (const door of doorsAfter(report)) doors.set(`${door.node} ${door.placement}`, door);
  }
  const left = [...doors.values()].filter(({ state }) => state !== 'open');
  return [...new Set(left.map(({ placement }) => placement))].map((placement) =>
    lineOf(
      placement,
      left.filter((door) => door.placement === placement),
    ),
  );
}

function doorsAfter({ step, outcome, ms }: StepReport): readonly LeftDoor[] {
  const isDone = outcome === 'changed' || outcome === 'unchanged';
  if (!isDone && ms === 0) return [];
  if (step.act.kind === 'gate') {
    // It only waits behind a door that is closed.
    return step.act.expect.flatMap((patch): readonly LeftDoor[] => {
      const placement = insideOf(patch);
      return placement === undefined ? [] : [{ placement, node: patch.node, state: 'closed' }];
    });
  }
  return step.establishes.flatMap((patch): readonly LeftDoor[] => {
    const { node, value } = patch;
    const placement = doorOf(patch);
    if (placement === undefined || (value !== 'closed' && value !== 'open')) return [];
    return [{ placement, node, state: isDone ? value : 'unsure' }];
  });
}

function lineOf(placement: string, doors: readonly LeftDoor[]): Prose {
  const where = [...new Set(doors.map(({ node }) => node))].join(' and ');
  const isSure = doors.every(({ state }) => state === 'closed');
  const told = `${placement}: its door on ${where} ${isSure ? 'stays closed' : 'may be closed'}.`;
  return prose`${told} What opens it: ${meshwright('start', placement)}, or the next apply.`;
}
