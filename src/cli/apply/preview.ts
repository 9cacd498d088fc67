import type { ForeseenBatch, ForeseenWork, PlaybookReport } from '../../apply/playbook-report.ts';
import { everyNode } from '../../desired/layouts.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { joinEffects } from '../../engine/plan/effect-totals.ts';
import type { EffectTotal } from '../../engine/plan/plan.ts';
import { itemsOf, unitsOf } from '../../engine/playbooks/batches.ts';
import { inFleetOrder } from '../../engine/playbooks/expand.ts';
import type { Play, Playbook, Task } from '../../engine/playbooks/playbook.ts';
import { windowText } from '../../engine/playbooks/windows.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { ReportDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import { durationText } from '../../model/text/units.ts';
import type { PlacementSurvey } from '../../rack/placement/check/placement-survey.ts';
import { nodesText } from '../../report/nodes-text.ts';
import { counted, fitLines, hang, type Page, padEnd, pageText } from '../../report/page.ts';
import { denialText, effectTexts, hasMachineSteps } from '../../report/plan/plan-text.ts';
import { shownWord } from '../verb.ts';

/** The effects of all batches together, as far as the current state shows them. */
export const effectsOf = (batches: readonly ForeseenBatch[]): readonly EffectTotal[] =>
  joinEffects(batches.flatMap(({ works }) => works.flatMap(ownEffects)));

/** What a preview depends on, besides the batches. */
interface PreviewContext {
  readonly desired: DesiredFleet;
  /** True with `--allow reboot`. */
  readonly mayReboot: boolean;
}

/**
 * The most that `recover` may do, in order of severity. Its cures depend on what it measures when it runs, so no plan
 * shows them. A reboot also interrupts the other placements on these Macs.
 */
function possibleEffects({ work }: ForeseenWork, { desired, mayReboot }: PreviewContext): readonly EffectTotal[] {
  if (work.kind !== 'recover' || work.placements.length === 0) return [];
  const { nodes, placements } = work;
  const all = desired.placements.filter((one) => everyNode(one).some((node) => nodes.includes(node)));
  return [
    { kind: 'network', nodes, placements: [] },
    { kind: 'interrupt', nodes, placements: mayReboot ? all.map(({ name }) => name) : placements },
    ...(mayReboot ? [{ kind: 'reboot', nodes, placements: [] } as const] : []),
  ];
}

function ownEffects({ work, plan }: ForeseenWork): readonly EffectTotal[] {
  if (work.kind !== 'run' || work.effect === 'none') return plan?.effects ?? [];
  return [{ kind: work.effect, nodes: work.commands.map(({ node }) => node), placements: [] }];
}

const actsAlone: readonly string[] = ['run', 'recover', 'notify'];

/** True if a task would act, as far as the current state shows it. A rescue may act, but sends its notices unasked. */
export const hasActs = (batches: readonly ForeseenBatch[], { withRescues = false } = {}): boolean =>
  batches.some(({ works }) =>
    works.some(
      ({ work: { kind }, plan, isRescue }) =>
        (isRescue !== true || (withRescues && kind !== 'notify')) &&
        (actsAlone.includes(kind) || (isRescue && kind === 'upgrade') || (plan !== undefined && hasMachineSteps(plan))),
    ),
  );

/** The Macs that a plan was made for, but that were not observed. */
export const unseenIn = (batches: readonly ForeseenBatch[]): readonly string[] => [
  ...new Set(batches.flatMap(({ works }) => works.flatMap(({ plan }) => Object.keys(plan?.unreached ?? {})))),
];

const totalTexts = (effects: readonly EffectTotal[]): readonly string[] =>
  effectTexts({ effects, changes: [], steps: [] });

/** Every play with its batches and their tasks, then the effects of the whole playbook. */
export function previewText(
  { plays }: Playbook,
  batches: readonly ForeseenBatch[],
  context: PreviewContext & { readonly page: Page },
): string {
  const { desired, mayReboot, page } = context;
  const lost = unseenIn(batches);
  const effects = effectsOf(batches);
  const said = totalTexts(effects);
  const possible = joinEffects(batches.flatMap(({ works }) => works.flatMap((one) => possibleEffects(one, context))));
  const most = `At most, recover ${listText(totalTexts(possible))}${mayReboot ? '' : '; it reboots only with --allow reboot'}.`;
  return pageText([
    ...plays.map((play, at) => {
      const own = batches.filter((batch) => batch.play === at);
      const title = `Play ${at + 1} of ${plays.length}${play.name === undefined ? '' : `: ${escapeText(play.name)}`}`;
      return [
        ...fitLines(title, page.columns).map((line) => page.paint('strong', line)),
        ...own.flatMap((batch, index) => batchLines(batch, [index + 1, own.length], context)),
        ...remarkOf(play, own, desired).flatMap((line) => hang('  ', line, page.columns)),
      ];
    }),
    lost.length === 0 ? [] : fitLines(`Not reached, and so not planned: ${nodesText(lost)}.`, page.columns),
    [
      ...(said.length === 0 ? [] : fitLines(`Effects of the whole playbook: ${said.join('; ')}.`, page.columns)),
      ...(possible.length === 0 ? [] : fitLines(most, page.columns)),
      ...fitLines(denialText([...effects, ...possible]), page.columns),
    ].filter((line) => line !== ''),
  ]);
}

function batchLines(
  { nodes, works }: ForeseenBatch,
  [number, count]: readonly [number, number],
  context: PreviewContext & { readonly page: Page },
): readonly string[] {
  const { desired, page } = context;
  const placements = [...new Set(unitsOf(nodes, desired).flatMap((unit) => unit.placements))];
  const runs = placements.length === 0 ? '' : ` (${placements.join(', ')})`;
  const lines = works.flatMap((one, index) => {
    const text = workText(one, works.slice(0, index), totalTexts(possibleEffects(one, context)).at(-1));
    const { kind } = one.task;
    if (one.isRescue === true) return [{ label: 'rescue', text: `${kind}: ${text}` }];
    return text === undefined ? [] : [{ label: kind === 'ready' ? 'first' : kind, text }];
  });
  const width = Math.max(0, ...lines.map(({ label }) => label.length));
  return [
    ...hang('  ', `Batch ${number} of ${count}: ${nodesText(nodes)}${runs}`, page.columns),
    ...lines.flatMap(({ label, text }) => hang(`    ${padEnd(label, width)}  `, text, page.columns)),
  ];
}

/**
 * What a task does, for the current state; undefined if it does nothing worth a line.
 * @param most the highest effect that it may have, if no plan shows it
 */
function workText(
  { work, task, plan, hung = [] }: ForeseenWork,
  before: readonly ForeseenWork[],
  most: string | undefined,
): string | undefined {
  switch (work.kind) {
    case 'plan': {
      const said = plan === undefined ? [] : effectTexts(plan);
      const waits =
        plan === undefined || plan.waiting.length === 0 ? [] : [`${counted(plan.waiting.length, 'change')} waiting`];
      const again = work.goal.kind === 'start' ? stoppedBefore(work.goal.placements, before) : [];
      const starts = again.length === 0 ? [] : [`starts ${again.join(', ')} again`];
      const changes =
        said.length === 0 && plan !== undefined && hasMachineSteps(plan)
          ? [`makes ${counted(plan.changes.length, 'change')}`]
          : [];
      const all = [...said, ...changes, ...starts, ...waits];
      return all.length === 0 ? 'nothing to do now' : all.join('; ');
    }
    case 'verify':
      return 'fails if a change is left';
    case 'wait':
      return `until ${work.for}, at most ${durationText(work.deadlineMs)}`;
    case 'assert':
      return `fails unless ${work.property} is ${work.is}`;
    case 'confirm':
      return `asks: ${escapeText(work.text)}`;
    case 'pause':
      return durationText(work.ms);
    case 'bake':
      return work.placements.length === 0
        ? 'no placement to check'
        : `${work.placements.join(', ')} must serve for ${durationText(work.ms)}`;
    case 'recover':
      return most === undefined
        ? 'no placement to check'
        : `brings back what does not serve of ${listText(work.placements)}; at most ${most}`;
    case 'upgrade':
      return plan === undefined || effectTexts(plan).length === 0
        ? 'stops and starts nothing now'
        : `one unit after another: ${effectTexts(plan).join('; ')}`;
    case 'bench':
      return `measures ${work.placements.length === 0 ? 'nothing' : listText(work.placements)}`;
    case 'notify':
      return `runs ${escapeText(work.command.map(shownWord).join(' '))} on this computer`;
    case 'ready':
      return readyText(task, hung);
    case 'run': {
      const [one] = work.commands;
      const words = one === undefined ? '' : one.command.map(shownWord).join(' ');
      return `runs ${escapeText(words)}${work.effect === 'network' ? '; may break connections' : ''}`;
    }
  }
}

function readyText(task: Task, hung: readonly PlacementSurvey[]): string | undefined {
  if (task.kind !== 'ready') return undefined;
  const { windows = [], blockers = [] } = task.play;
  const said = [
    ...(windows.length === 0 ? [] : [windows.map(windowText).join(' or ')]),
    ...blockers.map((one) => {
      if ('file' in one) return `no file ${escapeText(one.file)}`;
      if ('requests' in one) return `at most ${counted(one.requests, 'request')} in flight`;
      return `${escapeText(one.command.map(shownWord).join(' '))} exits with 0`;
    }),
  ];
  const stuck = hung.map(({ name, state }) => `${name} ${state === 'unknown' ? 'is in an unknown state' : 'hangs'}`);
  const all = [
    ...(said.length === 0 ? [] : [`begins only with: ${said.join('; ')}`]),
    ...(stuck.length === 0 ? [] : [`would not begin now: ${listText(stuck)}`]),
  ];
  return all.length === 0 ? undefined : all.join('; ');
}

/** True if a play has conditions or notices, which a check does not evaluate or send. */
export const hasUnchecked = ({ plays }: Playbook): boolean =>
  plays.some(
    ({ windows, blockers, tasks, rescue = [] }) =>
      windows !== undefined || blockers !== undefined || [...tasks, ...rescue].some(({ kind }) => kind === 'notify'),
  );

const stoppedBefore = (names: readonly string[], before: readonly ForeseenWork[]): readonly string[] =>
  names.filter((name) =>
    before.some(({ plan }) =>
      plan?.effects.some(({ kind, placements }) => kind === 'interrupt' && placements.includes(name)),
    ),
  );

const interrupts = ({ works }: ForeseenBatch): boolean =>
  works.some(({ plan }) => plan?.effects.some(({ kind }) => kind === 'interrupt') === true);

/** Says so if a play stops everything at once, because then no canary goes first. */
function remarkOf(play: Play, batches: readonly ForeseenBatch[], desired: DesiredFleet): readonly string[] {
  const [only] = batches;
  if (only === undefined || batches.length > 1 || !interrupts(only)) return [];
  const serving = itemsOf(play, only.nodes, desired).filter(({ placements }) => placements.length > 0);
  const [first, second] = serving;
  if (first === undefined) return [];
  const names = listText(serving.flatMap(({ placements }) => placements));
  // An upgrade divides a batch into units itself.
  if (second !== undefined && play.tasks.some(({ kind }) => kind === 'upgrade')) return [];
  if (second !== undefined)
    return [`Everything stops at once: ${names}. To go one unit after another, add \`serial: unit\` to the play.`];
  const units = `${nodesText(first.nodes)} ${first.nodes.length === 1 ? 'is the only unit' : 'are one unit'}`;
  return [`Everything stops at once: ${units} (${names}), so there is no canary.`];
}

/** Names the Macs that a playbook did not reach because it ended early; empty if it touched nothing. */
export function untouchedLines(
  batches: readonly ForeseenBatch[],
  { works }: Pick<PlaybookReport, 'works'>,
  desired: DesiredFleet,
): readonly string[] {
  const touched = works.filter(({ task }) => task.kind !== 'ready').flatMap(({ nodes }) => nodes);
  const left = inFleetOrder(
    batches.flatMap(({ nodes }) => nodes.filter((node) => !touched.includes(node))),
    { desired },
  );
  return touched.length === 0 || left.length === 0 ? [] : [`Not begun, and so untouched: ${nodesText(left)}.`];
}

/** The batches for `run --json`. */
export const batchesJson = (batches: readonly ForeseenBatch[], context: PreviewContext): ReportDocument['batches'] =>
  batches.map(({ play, nodes, works }) => ({
    play: play + 1,
    nodes,
    placements: [...new Set(unitsOf(inFleetOrder(nodes, context), context.desired).flatMap((unit) => unit.placements))],
    tasks: works
      .filter(({ work }) => work.kind !== 'ready')
      .map((one) => ({
        task: one.task.kind,
        ...given({ rescue: one.isRescue }),
        effects: ownEffects(one),
        possible: possibleEffects(one, context),
      })),
    hung: works.flatMap(({ hung = [] }) => hung.map(({ name }) => name)),
  }));
