import { waitFor } from '../../apply/run-playbook.ts';
import { everyNode } from '../../desired/layouts.ts';
import { placementsFor } from '../../desired/replicas.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { documentHead } from '../../diagnostics/json.ts';
import {
  type Cure,
  type NextCure,
  nextCure,
  type SeenTroubles,
  silentPlacements,
} from '../../engine/diagnose/next-cure.ts';
import { troublesOf } from '../../engine/diagnose/troubles.ts';
import { withoutVainCommands } from '../../engine/plan/vain-commands.ts';
import { inFleetOrder } from '../../engine/playbooks/expand.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { RecoverDocument } from '../../model/documents.generated.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { Goal } from '../../rack/goal.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { cureText, type DoneCure, doneText, servingText, wrongLines } from '../../report/recover-text.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { placementsNamed } from '../cluster/targets.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { cables } from '../look/cables.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import { checkFleet } from '../look/status.ts';
import { allowedEffects, createConsent } from '../plan/consent.ts';
import { askYes } from '../terminal/ask.ts';
import { diagnosticsJson, pageFor, paragraphText, showWait } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { timingFor } from '../use-limits.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { actOn } from './act-on.ts';
import { reboot, restart, start } from './act-verbs.ts';
import { reaching } from './final-check.ts';
import type { EndedRun } from './run-outcome.ts';

/** What the rung `network` may change; nothing else in the file is applied. */
const networkKinds: readonly ResourceKind[] = [
  ...(['transaction', 'foreign-daemon', 'thunderbolt-bridge', 'thunderbolt-link', 'link-address'] as const),
  ...(['service-order', 'wired-limit', 'keeper'] as const),
];

/** The time in which a Mac comes back by itself, for example after a kernel panic. */
const returnMs = 600_000;

/** `recover [name...]`: one cure after another, smallest first, until each placement returns a token. */
export const recover: VerbBody = async (run) => {
  const mayReboot = allowedEffects(run, ['reboot']).length > 0 || run.options.yes !== true;
  const first = await measure(run);
  const names = namesOf(run, first.desired);
  const begun: Climb = { seen: first, next: nextCure(first, names), done: [], problems: [] };
  if (begun.next.kind === 'serving') return ended(run, names, begun, exitCode.done, servingText(names));
  showWrong(run, names, begun);
  if (begun.next.kind === 'person') return ended(run, names, begun, exitCode.handsNeeded);
  const text = cureText(begun.next.cure);
  if (run.own['check'] === true) return ended(run, names, begun, exitCode.changesPending, `Next: ${text}.`);
  const members = membersOf(first, names);
  const question = `${text}? If that does not help, other cures follow, at most a reboot of ${everyNodeText(members)}.`;
  if (!(await askYes(run, question))) return ended(run, names, begun, exitCode.nothingChanged, 'Nothing was changed.');
  const startedAtMs = performance.now();
  const climbed = await climb(run, names, begun, mayReboot);
  const { next } = climbed;
  if (next.kind === 'serving')
    return ended(run, names, climbed, exitCode.done, servingText(names, performance.now() - startedAtMs));
  showWrong(run, names, climbed);
  if (next.kind === 'person') return ended(run, names, climbed, exitCode.handsNeeded);
  if (run.signal.aborted) return ended(run, names, climbed, exitCode.failed);
  const more = prose`Next: ${cureText(next.cure)}. To allow it: ${meshwright('recover', ...run.words, '--yes', '--allow', 'reboot')}`;
  return ended(run, names, climbed, exitCode.handsNeeded, more);
};

/** What was measured last, what follows from it, and the cures so far. */
interface Climb {
  readonly seen: Measured;
  readonly next: NextCure;
  readonly done: readonly DoneCure[];
  /** Why cures failed. */
  readonly problems: readonly Diagnostic[];
}

interface Measured extends SeenTroubles {
  readonly desired: DesiredFleet;
}

/** One observation of the whole rack, with a token from each placement: the same as that of `doctor`. */
async function measure(run: Run): Promise<Measured> {
  const { nodes: _nodes, label: _label, ...options } = run.options;
  const checked = await checkFleet({ ...run, words: [], options });
  const { desired, locked, observation, placements } = checked;
  return {
    desired,
    observation,
    placements,
    troubles: withoutVainCommands(troublesOf(checked), { desired: locked, observation }),
  };
}

/**
 * The placements that should serve: with these names or with a rank on these nodes; without names, all.
 * @throws FleetError `cli/usage` if there is none, `select/unknown-placement`
 */
function namesOf({ words }: Run, fleet: DesiredFleet): readonly string[] {
  const named = words.flatMap((word) => {
    const onNode = fleet.placements.filter((one) => everyNode(one).some((node) => node === word));
    const found = placementsFor(word, fleet);
    if (found.length > 0) return found;
    return onNode.length > 0 ? onNode : placementsNamed({ fleet }, word);
  });
  const chosen = words.length === 0 ? fleet.placements : named;
  const names = [...new Set(chosen.filter(({ state }) => state === 'serving').map(({ name }) => name))];
  if (names.length > 0) return names;
  throw usageError(
    'The file sets no such placement to serving, so there is nothing to recover.',
    prose`See: ${meshwright('status')}`,
  );
}

const membersOf = (seen: Measured, names: readonly string[]): readonly NodeName[] =>
  inFleetOrder(
    silentPlacements(seen, names).flatMap(({ nodes }) => nodes),
    seen,
  );

/** Runs one cure after another. After each one, a new measurement decides. */
async function climb(run: Run, names: readonly string[], begun: Climb, mayReboot: boolean): Promise<Climb> {
  let now = begun;
  while (now.next.kind === 'cure' && !run.signal.aborted) {
    const { cure } = now.next;
    if (cure.rung === 'reboot' && !mayReboot) return now;
    const startedAtMs = performance.now();
    const result = await runCure(run, cure, now.seen);
    // A measurement that finds dead cables ends like a failed command, but it has done its work.
    const isDone = result.isDone || (cure.rung === 'measure' && result.problems.length === 0);
    const done = { cure, isDone, ms: performance.now() - startedAtMs };
    if (!run.options.json) run.console.out(paragraphText(run.console, doneText(now.done.length + 1, done)));
    const seen = await measure(run);
    now = {
      seen,
      next: nextCure(seen, names, [...now.done.map((one) => one.cure), cure]),
      done: [...now.done, done],
      problems: [...now.problems, ...result.problems],
    };
  }
  return now;
}

/** Runs one cure without showing its plan. Its own final check decides whether it worked. */
async function runCure(
  run: Run,
  cure: Cure,
  seen: Measured,
): Promise<{ isDone: boolean; problems: readonly Diagnostic[] }> {
  try {
    const ended = await bodyOf(
      cure,
      seen,
    )({ ...run, words: cure.names, own: {}, options: { ...run.options, yes: true, json: true } });
    if (typeof ended === 'number') return { isDone: ended === exitCode.done, problems: [] };
    const isDone = ended.exit === exitCode.done;
    return { isDone, problems: isDone ? [] : (ended.problems ?? []) };
  } catch (error) {
    if (error instanceof FleetError) return { isDone: false, problems: error.diagnostics };
    throw error;
  }
}

function bodyOf({ rung, names }: Cure, seen: Measured): VerbBody {
  const { desired } = seen;
  const targets = desired.nodes.map(({ name }) => name).filter((name) => names.some((one) => one === name));
  switch (rung) {
    case 'wait':
      return (run) => waitForReturn(run, targets, desired);
    case 'continue':
      return (run) => reach(run, { kind: 'continue', placements: names }, membersOf(seen, names));
    case 'network':
      return (run) => reach(run, { kind: 'converge', only: networkKinds }, targets);
    case 'measure':
      return (run) => cables({ ...run, words: [], own: { measure: true } });
    case 'start':
      return start;
    case 'restart':
      return restart;
    case 'reboot':
      return reboot;
  }
}

function reach(run: Run, goal: Goal, targets: readonly NodeName[]): Promise<EndedRun> {
  const cluster = settleFromLock(run);
  const consent = createConsent(run, { named: ['interrupt'] });
  const scope = { desired: cluster.fleet, targets };
  return actOn(run, { verb: 'recover', ...reaching(goal, scope), consent }, cluster);
}

async function waitForReturn(run: Run, nodes: readonly NodeName[], desired: DesiredFleet): Promise<number> {
  const timing = timingFor(run);
  const wait = showWait(run.console);
  const ways = openTargets(run, settleFromLock(run).opened);
  const work = { kind: 'wait', for: 'observed', nodes, placements: [], deadlineMs: returnMs } as const;
  const observe = () =>
    observeNodes(
      run,
      desired.nodes.filter(({ name }) => nodes.includes(name)),
      ways,
      {},
    );
  const scope = { desired, targets: nodes };
  const { failed = [] } = await waitFor(work, {
    options: { timing, signal: run.signal, scope, observe, onWait: wait.show },
  });
  wait.end();
  return failed.length === 0 ? exitCode.done : exitCode.failed;
}

function showWrong({ console, options }: Run, names: readonly string[], { seen, next }: Climb): void {
  if (options.json) return;
  const lines = wrongLines(silentPlacements(seen, names), next, pageFor(console));
  console.out(`${lines.join('\n')}\n`);
}

function findingsOf(next: NextCure): readonly Diagnostic[] {
  if (next.kind === 'cure') return [next.cure.finding];
  return next.kind === 'person' ? next.findings : [];
}

function ended(
  run: Run,
  names: readonly string[],
  { seen, next, done, problems }: Climb,
  exit: ExitCode,
  text: Prose = '',
) {
  const document: RecoverDocument = {
    ...documentHead(run.console, { cluster: seen.desired.name }),
    placements: Object.fromEntries(
      seen.placements.filter(({ name }) => names.includes(name)).map(({ name, state }) => [name, { state }]),
    ),
    cures: done.map(({ cure: { rung, names: of, finding }, isDone, ms }) => ({
      rung,
      names: of,
      code: finding.code,
      done: isDone,
      milliseconds: Math.round(ms),
    })),
    ...(next.kind === 'cure' ? { next: { rung: next.cure.rung, names: next.cure.names } } : {}),
    diagnostics: diagnosticsJson(run.console, [...problems, ...findingsOf(next)]),
  };
  return {
    exit: exitOfSignal(run.signal) ?? exit,
    document,
    problems,
    text: text === '' ? '' : paragraphText(run.console, text),
  };
}
