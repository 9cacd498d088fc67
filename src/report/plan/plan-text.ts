import { columnsOf, firmSpace } from '../../diagnostics/cells.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import { entryOf } from '../../engine/diagnose/rules.ts';
import type { NodeForecast } from '../../engine/plan/forecast.ts';
import type { HashWork } from '../../engine/plan/hash-works.ts';
import { type EffectTotal, isEmptyPlan, type Plan } from '../../engine/plan/plan.ts';
import { sentSteps } from '../../engine/plan/transfers.ts';
import { alike, groupBy, listText } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import type { Change, ChangeKind, EffectKind } from '../../model/step.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { diskText, durationText } from '../../model/text/units.ts';
import type { NodeBudget } from '../../rack/placement/placement-blockers.ts';
import { findingLines, mergeFindings } from '../findings.ts';
import { nodesText, seenText } from '../nodes-text.ts';
import { counted, fitLines, hang, headLines, isNarrow, type Page, padEnd, pageText, type Tone } from '../page.ts';
import { hashLines } from './hash-lines.ts';
import { budgetLines, memoryLines } from './memory-lines.ts';
import { blockerBlocks, waitingLines } from './pending.ts';
import { transferLines } from './transfer-lines.ts';

interface DriftTextInput {
  readonly plan: Plan;
  /** The lock file's name and its missing entries. */
  readonly lock: { readonly shown: string; readonly additions: readonly string[] };
  /** The command that shows the details. */
  readonly next: Prose;
}

/** The differences from the file: changes in full, the rest as counts, and a one-line verdict. */
export function driftText(input: DriftTextInput, page: Page): string {
  const { plan } = input;
  const errors = plan.diagnostics.filter((one) => one.severity === 'error');
  return pageText([
    planHead(plan, page),
    // A drift report has no effects, so it marks none.
    changeLines({ changes: plan.changes, steps: [] }, page),
    ...mergeFindings(errors).map((finding) => findingLines(finding, page)),
    driftVerdict(input, page),
  ]);
}

const proseLines = (text: Prose, page: Page): readonly string[] =>
  fitLines(proseText(text, page, firmSpace), page.columns);

function driftVerdict({ plan, lock, next }: DriftTextInput, page: Page): readonly string[] {
  const { changes, blockers, waiting } = plan;
  const parts = [
    ...(changes.length === 0 ? [] : [`${counted(changes.length, 'change')} pending`]),
    ...(blockers.length === 0 ? [] : [counted(blockers.length, 'blocker')]),
    ...(waiting.length === 0 ? [] : [`${counted(waiting.length, 'change')} waiting`]),
    ...(lock.additions.length === 0 ? [] : [`${lock.additions.length} missing from ${lock.shown}`]),
  ];
  const lost = lostText(plan);
  if (Object.keys(plan.observed).length > 0 && parts.length > 0) {
    return [...fitLines(`${parts.join(', ')}.${lost}`, page.columns), ...proseLines(next, page)];
  }
  return fitLines(matchText(lost === '' ? 'No drift' : 'No drift seen', plan), page.columns);
}

/** A sentence such as ` Not reached: studio-3.`; empty if all nodes were reached. */
function lostText({ unreached = {} }: Plan): string {
  const lost = Object.keys(unreached);
  return lost.length === 0 ? '' : ` Not reached: ${nodesText(lost)}.`;
}

/** `No drift: 4 nodes match the file.`, or a different text if no node was observed. */
function matchText(said: string, plan: Plan): string {
  const count = Object.keys(plan.observed).length;
  if (count === 0) return 'No node was observed.';
  return `${said}: ${counted(count, 'node')} ${count === 1 ? 'matches' : 'match'} the file.${lostText(plan)}`;
}

/** `studio-rack   4 nodes: 3 to add, 2 to change, 1 to remove` */
function planHead({ cluster, observed, unreached, changes }: Plan, page: Page): readonly string[] {
  const counts = Object.keys(signs).flatMap((kind) => {
    const { length } = changes.filter((change) => change.kind === kind);
    return length === 0 ? [] : [`${length} to ${kind}`];
  });
  const seen = seenText(Object.keys(observed).length, unreached);
  return headLines(cluster, counts.length === 0 ? seen : `${seen}: ${counts.join(', ')}`, page);
}

export interface PlanTextInput {
  readonly plan: Plan;
  /** The lock file's name and its new or changed entries as text; counts only if the plan covers only some nodes. */
  readonly lock: { readonly shown: string; readonly additions: readonly string[]; readonly isCounted?: true };
  /** RDMA launch budgets, shown if the plan starts something. */
  readonly budgets?: readonly NodeBudget[] | undefined;
  /** The bytes that the plan brings to each node. */
  readonly transfers?: readonly NodeForecast[] | undefined;
  /** The copies that apply hashes before it makes its plan; undefined without `--verify=full`. */
  readonly hashes?: readonly HashWork[] | undefined;
  /** Commands to type next, one per line; shown only if there is work to do. */
  readonly next?: readonly Prose[];
  /** A sentence about the saved file, shown in place of `next`. */
  readonly saved?: string | undefined;
  /** The text if there is nothing to do; by default, it reports that the nodes match the file. */
  readonly nothing?: string;
}

/** True if a plan has steps other than manual ones. */
export const hasMachineSteps = ({ steps }: Pick<Plan, 'steps'>): boolean =>
  steps.some(({ act }) => act.kind !== 'hands');

/** True if the plan uses the launch budget, or waits because the budget is spent. */
export const isStarting = ({ steps, blockers }: Plan): boolean =>
  steps.some(({ act }) => act.kind === 'script' && act.name === 'kick-rank') ||
  blockers.some(({ code }) => hasTrait(entryOf(code), 'spent-device'));

const isTooMuch = ({ blockers }: Plan): boolean => blockers.some(({ code }) => hasTrait(entryOf(code), 'no-memory'));

/**
 * A plan on one page: blockers, changes by node, waiting changes, effects, and commands to type. Omits everything that
 * already matches the file. Text from nodes is escaped; ends with a line break.
 */
export function planText(input: PlanTextInput, page: Page): string {
  const { plan, lock, next = [], saved } = input;
  const isToDo = hasMachineSteps(plan) || lock.additions.length > 0;
  return pageText([
    planHead(plan, page),
    input.hashes === undefined ? [] : hashLines(input.hashes, page),
    ...findingBlocks(plan, page, isUrgent),
    ...blockerBlocks(plan.blockers, page),
    changeLines(plan, page),
    waitingLines(plan, page),
    lockLines(lock, page),
    ...findingBlocks(plan, page, (one) => !isUrgent(one)),
    isStarting(plan) ? budgetLines(input.budgets ?? [], page) : [],
    isStarting(plan) || isTooMuch(plan) ? memoryLines(plan.memory ?? [], page) : [],
    transferLines(input.transfers ?? [], page),
    verdictLines(input, page),
    (isToDo ? next : saved === undefined ? [] : [saved]).flatMap((line) => proseLines(line, page)),
  ]);
}

/** Findings that are shown first because they do harm until they are fixed. */
const isUrgent = (one: Diagnostic): boolean => hasTrait(one, 'urgent');

const findingBlocks = (
  { diagnostics }: Plan,
  page: Page,
  isIncluded: (one: Diagnostic) => boolean,
): readonly (readonly string[])[] =>
  mergeFindings(diagnostics.filter(isIncluded)).map((finding) => findingLines(finding, page));

/** The plan's effects, or a statement that the observed nodes need no change. */
function verdictLines({ plan, nothing, saved }: PlanTextInput, page: Page): readonly string[] {
  if (hasMachineSteps(plan)) {
    const said = [...effectTexts(plan), ...transferTexts(plan)];
    const effects = said.length === 0 ? [] : [`Effects: ${said.join('; ')}.`];
    const lines = [
      ...effects,
      laterText(plan, saved !== undefined),
      denialText([...plan.effects, ...(plan.later ?? [])]),
      plan.undo ?? '',
    ];
    return lines.filter((line) => line !== '').flatMap((line) => proseLines(line, page));
  }
  if (!isEmptyPlan(plan)) return fitLines('apply cannot change anything now.', page.columns);
  return fitLines(nothing ?? matchText('Nothing to change', plan), page.columns);
}

/** A saved plan ends before the plan that follows in an apply. */
function laterText({ later = [] }: Plan, isSaved: boolean): string {
  if (later.length === 0) return '';
  const said = effectTexts({ effects: later, changes: [], steps: [] }).join('; ');
  return `${isSaved ? 'A second plan is needed afterwards' : 'Then a second plan follows in the same apply'}: ${said}.`;
}

function lockLines({ shown, additions, isCounted }: PlanTextInput['lock'], page: Page): readonly string[] {
  if (additions.length === 0) return [];
  const listed = isCounted
    ? [proseText(prose`List them: ${meshwright('plan')}`, page, firmSpace)]
    : additions.map(escapeText);
  return [
    page.paint('strong', `New in ${shown} (${additions.length})`),
    ...listed.flatMap((line) => hang('  ', line, page.columns)),
  ];
}

type Shown = Exclude<EffectKind, 'none'>;

const texts: Readonly<Record<Shown, (total: EffectTotal) => string>> = {
  start: ({ placements }) => `starts ${placements.join(', ')}`,
  'rdma-start': ({ placements, nodes }) =>
    `starts ${placements.join(', ')} beyond the launch budget of ${nodesText(nodes)}`,
  network: ({ nodes }) => `changes network settings on ${nodesText(nodes)}`,
  interrupt: ({ placements, seconds }) =>
    `interrupts ${placements.join(', ')}${seconds === undefined || seconds <= 0 ? '' : ` for up to ${durationText(seconds * 1_000)}`}`,
  reboot: ({ nodes }) => `restarts ${nodesText(nodes)}`,
  'locked-reboot': ({ nodes }) => `leaves ${nodesText(nodes)} locked at FileVault after a restart`,
  shutdown: ({ nodes }) => `switches off ${nodesText(nodes)}`,
  delete: ({ nodes, bytes }) => `deletes ${diskText(bytes ?? 0)} of models on ${nodesText(nodes)}`,
};

/** Effects that users may worry about; a plan lists those that it does not have. */
const denials: readonly (readonly [Shown, string])[] = [
  ['interrupt', 'interrupted'],
  ['reboot', 'rebooted'],
  ['shutdown', 'switched off'],
  ['delete', 'deleted'],
];

const isDenied = (kind: EffectKind): boolean => denials.some(([denied]) => denied === withoutLock(kind));

const withoutLock = (kind: EffectKind): EffectKind => (kind === 'locked-reboot' ? 'reboot' : kind);

/** A plan's effects, one phrase each: `interrupts kimi for up to 95 s`. */
export const effectTexts = ({ effects, ...plan }: Pick<Plan, 'effects' | 'changes' | 'steps'>): readonly string[] =>
  effects.flatMap((total) => (total.kind === 'start' ? startTexts(total, plan) : [texts[total.kind](total)]));

/** A placement that returns no token is stopped, whether or not it is then restarted; this is not an interruption. */
function startTexts(total: EffectTotal, { changes, steps }: Pick<Plan, 'changes' | 'steps'>): readonly string[] {
  const of = (name: string): readonly Change[] =>
    changes.filter(({ about }) => about.kind === 'placement' && about.placement === name);
  const isStopped = (name: string): boolean =>
    steps.some(
      ({ act, effect }) =>
        act.kind === 'script' && act.name === 'stop-rank' && effect.kind === 'start' && effect.placement === name,
    );
  // The change that removes orphaned ranks does not name their placement.
  const isEnded = (name: string): boolean =>
    of(name).length > 0 ? of(name).every(({ to }) => to === 'stopped') : isStopped(name);
  const ended = total.placements.filter(isEnded);
  const begun = total.placements.filter((name) => !isEnded(name));
  const again = begun.filter(isStopped);
  const started = begun.filter((name) => !isStopped(name));
  return [
    ...(started.length === 0 ? [] : [texts.start({ ...total, placements: started })]),
    ...(again.length === 0 ? [] : [`stops ${again.join(', ')}, which produces no tokens, and starts it again`]),
    ...(ended.length === 0 ? [] : [`stops the remaining processes of ${ended.join(', ')}`]),
  ];
}

/** `Nothing is interrupted, rebooted, switched off or deleted.`, except for effects that the plan has. */
export function denialText(effects: readonly EffectTotal[]): string {
  const words = denials
    .filter(([kind]) => !effects.some((total) => withoutLock(total.kind) === kind))
    .map(([, word]) => word);
  return words.length === 0 ? '' : `Nothing is ${listText(words, 'or')}.`;
}

/** The data that the plan sends, grouped by size: `735 GB to studio-3`. */
export function transferTexts({ steps }: Pick<Plan, 'steps'>): readonly string[] {
  const bytesByNode = new Map<string, number>();
  for (const { node, act } of sentSteps(steps)) {
    const bytes =
      act.kind === 'send'
        ? act.sizeBytes
        : act.kind === 'job' && act.name === 'fetch-model'
          ? act.args.files.reduce((sum, file) => sum + file.sizeBytes, 0)
          : act.kind === 'job' && (act.name === 'fetch-archive' || act.name === 'fetch-source')
            ? act.args.sizeBytes
            : 0;
    if (bytes > 0) bytesByNode.set(node, (bytesByNode.get(node) ?? 0) + bytes);
  }
  const amounts = [...new Set([...bytesByNode.values()].map(diskText))];
  return amounts.map((amount) => {
    const nodes = [...bytesByNode].filter(([, own]) => diskText(own) === amount).map(([node]) => node);
    return `${amount} to ${nodes.length > 1 ? 'each of ' : ''}${nodesText(nodes)}`;
  });
}

const gap = '   ';

const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf));

/** A change, with a flag for steps that interrupt a placement, restart or switch off a Mac, or delete models. */
interface ShownChange extends Change {
  readonly isDisruptive: boolean;
}

interface ChangeGroup {
  /** `studio-1..4` */
  readonly nodes: string;
  readonly changes: readonly ShownChange[];
}

/** A plan's changes, with equal changes on several nodes merged: nodes, address, old value, new value. */
function changeLines({ changes, steps }: Pick<Plan, 'changes' | 'steps'>, page: Page): readonly string[] {
  if (changes.length === 0) return [];
  const disruptive = new Set(steps.filter(({ effect }) => isDenied(effect.kind)).flatMap((step) => step.changes));
  const shown = changes.map((one): ShownChange => ({ ...one, isDisruptive: disruptive.has(one.id) }));
  const equals = alike(shown, ({ resource, from, to, isDisruptive }) =>
    JSON.stringify([resource, from, to, isDisruptive]),
  );
  const byNodes = groupBy(equals, ([, same]) => everyNodeText(same.map(({ node }) => node)));
  const groups = [...byNodes].map(([nodes, own]) => ({ nodes, changes: own.map(([change]) => change) }));
  const columns = columnsFor(groups, page);
  const rows = groups.flatMap((group) =>
    columns.isOneLine ? tableRows(group, columns, page) : blockRows(group, columns, page),
  );
  const title = `Changes (${changes.length} on ${counted(new Set(changes.map(({ node }) => node)).size, 'node')})`;
  const legend = disruptive.size === 0 ? [] : fitLines('! disruptive, see Effects below', page.columns);
  return [page.paint('strong', title), ...rows, ...legend.map((line) => page.paint('dim', line))];
}

/** The sign for each kind of change, in the order of the counts. */
export const signs: Readonly<Record<ChangeKind, readonly [sign: string, tone: Tone]>> = {
  add: ['+', 'good'],
  change: ['~', 'warn'],
  remove: ['-', 'bad'],
};

/** Inserts a change's sign at a column, preceded by `!` if the change is disruptive. */
function signed(line: string, { kind, isDisruptive }: ShownChange, at: number, page: Page): string {
  const [sign, tone] = signs[kind];
  const rest = line.slice(at + 1);
  if (!isDisruptive) return `${line.slice(0, at)}${page.paint(tone, sign)}${rest}`;
  return `${line.slice(0, at - 1)}${page.paint(tone, `!${sign}`)}${page.paint('warn', rest)}`;
}

interface Columns {
  readonly node: number;
  readonly address: number;
  readonly from: number;
  /** True if every change fits on one line with its node. */
  readonly isOneLine: boolean;
}

function columnsFor(groups: readonly ChangeGroup[], page: Page): Columns {
  const changes = groups.flatMap((group) => group.changes);
  const node = widest(groups.map(({ nodes }) => nodes));
  const address = widest(changes.map((change) => change.resource));
  const from = widest(changes.map((change) => escapeText(change.from)));
  const to = widest(changes.map((change) => escapeText(change.to)));
  const width = 2 + node + gap.length + 2 + address + gap.length + from + 4 + to;
  return { node, address, from, isOneLine: width <= page.columns };
}

function tableRows({ nodes, changes }: ChangeGroup, columns: Columns, page: Page): readonly string[] {
  return changes.map((change, index) => {
    const { resource, from, to } = change;
    const name = `  ${padEnd(index === 0 ? nodes : '', columns.node)}${gap}`;
    const values = `${padEnd(escapeText(from), columns.from)} -> ${escapeText(to)}`;
    const line = `${name}  ${padEnd(resource, columns.address)}${gap}${values}`;
    return signed(line, change, name.length, page);
  });
}

/** A node above its changes; on a narrow page also each address above its values. */
function blockRows({ nodes, changes }: ChangeGroup, { address }: Columns, page: Page): readonly string[] {
  const { columns } = page;
  const isAbove = isNarrow(page);
  return [
    ...hang('  ', nodes, columns),
    ...changes.flatMap((change) => {
      const first = isAbove ? '      ' : `      ${padEnd(change.resource, address)}${gap}`;
      const above = isAbove ? hang('    ', change.resource, columns) : [];
      const [head = '', ...rest] = [...above, ...valueLines(first, change, columns)];
      return [signed(head, change, isAbove ? 2 : 4, page), ...rest];
    }),
  ];
}

function valueLines(first: string, { from, to }: Change, page: number): readonly string[] {
  const [before, after] = [escapeText(from), escapeText(to)];
  const both = `${before} -> ${after}`;
  if (columnsOf(first) + columnsOf(both) <= page) return [`${first}${both}`];
  return [...hang(first, before, page), ...hang(' '.repeat(columnsOf(first)), `-> ${after}`, page)];
}
