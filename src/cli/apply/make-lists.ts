import { isDone } from '../../apply/execute.ts';
import { type PlaybookWork, stepsOf } from '../../apply/playbook-report.ts';
import { everyNode } from '../../desired/layouts.ts';
import { packageText, sourceFile } from '../../desired/package-source.ts';
import { extraName } from '../../desired/settle/settle-trees.ts';
import { hasTrait } from '../../diagnostics/diagnostic.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { EffectTotal, Plan, StepReport } from '../../engine/plan/plan.ts';
import type { DesiredNode, UnreadArchive } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import { upperFirst } from '../../model/text/prose.ts';
import { isListed, type UnmadeRuntime, unmadeRuntimes } from '../../rack/artifacts/runtimes/list-packages.ts';
import type { Goal } from '../../rack/goal.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { observeAndSettle } from '../look/observe-and-plan.ts';
import type { Consent } from '../plan/consent.ts';
import { showPlan } from '../plan/plan-document.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';
import { actOn, type CommandSpec, playbookOf } from './act-on.ts';
import type { ClusterTargets } from './hash-first.ts';
import { takeMade } from './read-made.ts';

interface MadeLists {
  /** The lists and archives that could not be made, by the lock's name of the file, each with the reason. */
  readonly missing: Readonly<Record<string, UnreadArchive>>;
  /** True if a node was changed. */
  readonly hasChanged: boolean;
}

/** Any of the targets may make a list. */
interface ListWork extends ClusterTargets {
  /** The consent to the plan that makes the lists, and in advance to the one that follows. */
  readonly consent: Consent;
}

/**
 * Makes the missing lists of packages, and the wheels and archives of commits, on one node, and writes them next to the
 * cluster file. Tries the nodes one after another until one of them has tried. Asks before it changes a node, for the
 * effects of the next plan, too.
 * @returns undefined if none was missing
 */
export async function makeLists(run: Run, work: ListWork): Promise<MadeLists | undefined> {
  const wanted = unmadeRuntimes(work.cluster.fleet);
  if (wanted.length === 0) return undefined;
  const missing = new Map(wanted.map((one) => [one, 'No node that was reached can do it.']));
  const later = await effectsAhead(run, work);
  let hasChanged = false;
  for (const node of makersOf(work, wanted)) {
    const { isTried, results, ...made } = await makeOn(run, { ...work, later }, node, wanted);
    hasChanged ||= made.hasChanged;
    for (const { one, problem } of results) {
      if (problem === undefined) missing.delete(one);
      else missing.set(one, `On ${node.name}: ${problem}`);
    }
    if (isTried || run.signal.aborted) break;
  }
  if (!run.options.json) run.console.out('\n');
  const entries = [...missing].flatMap(([one, why]) =>
    namesOf(one).map((name) => [name, unmade(one.made, why)] as const),
  );
  return { missing: Object.fromEntries(entries), hasChanged };
}

async function effectsAhead(run: Run, { cluster, targets, ways }: ListWork): Promise<readonly EffectTotal[]> {
  const { planned } = await observeAndSettle(run, cluster, { ways, goal: { kind: 'converge' }, targets });
  return [...planned.plan.effects, ...(planned.plan.later ?? [])];
}

/** The list, and the wheel if it is built; or the archive. */
const namesOf = ({ runtime: { name, extras }, made }: UnmadeRuntime): readonly string[] =>
  !isListed(made)
    ? [name]
    : extras.filter(({ lists }) => lists !== undefined).map((extra) => extraName(name, extra.name));

const unmade = (made: UnmadeRuntime['made'], why: string): UnreadArchive =>
  isListed(made)
    ? { kind: 'unlisted', detail: `The packages of ${packageText(made)} could not be listed. ${why}` }
    : { kind: 'unbuilt', detail: `Building ${packageText(made)} failed. ${why}` };

/** The targets, with the nodes that need one of these runtimes first. */
function makersOf({ cluster: { fleet }, targets }: ListWork, wanted: readonly UnmadeRuntime[]): readonly DesiredNode[] {
  const names = wanted.map(({ runtime }) => runtime.name);
  const users = fleet.placements.filter(({ runtime }) => names.includes(runtime)).flatMap(everyNode);
  const all = fleet.nodes.filter(({ name }) => targets.includes(name));
  return [...all.filter(({ name }) => users.includes(name)), ...all.filter(({ name }) => !users.includes(name))];
}

interface ListResult {
  readonly one: UnmadeRuntime;
  /** Absent if the list was written. */
  readonly problem?: string;
}

async function makeOn(
  run: Run,
  { cluster, ways, later, ...work }: ListWork & { readonly later: readonly EffectTotal[] },
  node: DesiredNode,
  wanted: readonly UnmadeRuntime[],
): Promise<Pick<MadeLists, 'hasChanged'> & { readonly isTried: boolean; readonly results: readonly ListResult[] }> {
  const goal: Goal = { kind: 'list-packages', names: wanted.map(({ runtime }) => runtime.name) };
  const lock = { shown: cluster.lockPlace.shown, additions: [] };
  const results: ListResult[] = [];
  const command: CommandSpec = {
    verb: 'apply',
    playbook: playbookOf('apply', { kind: 'goal', goal }, { kind: 'converge', only: ['staging'] }),
    scope: { desired: cluster.fleet, targets: [node.name] },
    consent: {
      ...work.consent,
      give: (plan, question) =>
        work.consent.give({ ...plan, effects: [...plan.effects, ...(isListing(plan) ? later : [])] }, question),
    },
    texts: {
      // The second plan only removes what the first one left on the node.
      show: (plan) => (isListing(plan) ? showPlan(run, { ...plan, later }, { lock }) : undefined),
      question: () => `${upperFirst(listText(wanted.map(({ made }) => taskText(made))))} on ${node.name}?`,
    },
    hooks: {
      afterTask: async (done) => {
        if (done.task.kind !== 'goal') return;
        for (const one of wanted) results.push(...(await resultOf(run, { one, node, ways }, done)));
      },
    },
  };
  const { isDeclined, ...report } = (await actOn(run, command, cluster, ways)).outcome.report;
  if (isDeclined) {
    return { isTried: true, hasChanged: false, results: wanted.map((one) => ({ one, problem: 'You declined.' })) };
  }
  const isTried = stepsOf(report).length > 0;
  return { isTried, hasChanged: isTried, results };
}

function taskText(made: UnmadeRuntime['made']): string {
  if (!isListed(made)) return `build ${packageText(made)}`;
  return `${made.source === undefined ? 'list' : 'build and list'} the packages of ${packageText(made)}`;
}

const isListing = ({ changes }: Plan): boolean => changes.some(({ about }) => about.kind === 'runtime');

interface ListPlace {
  readonly one: UnmadeRuntime;
  readonly node: DesiredNode;
  readonly ways: SshTargets;
}

/** Reads the result from its node and writes its files; empty if the node was not asked for it. */
async function resultOf(run: Run, place: ListPlace, { run: ran }: PlaybookWork): Promise<readonly ListResult[]> {
  const { one, node, ways } = place;
  const own = (ran?.steps ?? []).filter(({ step: { act } }) => act.kind === 'job' && isOf(act.args, one));
  const failed = own.find((step) => !isDone(step));
  const last = own.at(-1);
  if (last === undefined) return [];
  if (failed !== undefined) {
    return [{ one, problem: failureOf(one, failed) }];
  }
  const [way] = await ways.toAll([node]);
  if (way === undefined) return [];
  const problem = await takeMade(one, way, useLimits(run));
  return [{ one, ...given({ problem }) }];
}

function failureOf({ runtime, made: { source } }: UnmadeRuntime, { step: { act }, diagnostics }: StepReport): string {
  const [why] = diagnostics;
  if (why === undefined) return 'The work was not finished.';
  const isSource = act.kind === 'job' && act.name === 'fetch-source';
  if (!isSource || source === undefined || !hasTrait(why, 'wrong-digest')) return plainText(why.detail);
  const entry = extraName(runtime.name, sourceFile(source));
  return `The archive of this commit has other bytes than the lock records. GitHub may have packed it differently, or it was replaced. If you trust the new bytes, remove the line \`${entry}\` from the lock.`;
}

const isOf = (args: object, { tree }: UnmadeRuntime): boolean =>
  'tree' in args && JSON.stringify(args.tree) === JSON.stringify(tree);
