import { clip, columnsOf } from '../../diagnostics/cells.ts';
import type { Severity } from '../../diagnostics/code-entry.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import { escapeLines, escapeText } from '../../diagnostics/escape.ts';
import { commandText, proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { MacosUpdates } from '../../engine/diagnose/update-states.ts';
import { type EffectTotal, isEmptyPlan, type Plan } from '../../engine/plan/plan.ts';
import { alike, groupBy, listText } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import type { Change, Step } from '../../model/step.ts';
import { meshwright } from '../../model/text/command.ts';
import { durationText } from '../../model/text/units.ts';
import { findingLines, mergeFindings } from '../findings.ts';
import { nodesText } from '../nodes-text.ts';
import { counted, type Page, padEnd, plainPaint } from '../page.ts';
import { hashLines } from './hash-lines.ts';
import { budgetLines, memoryLines } from './memory-lines.ts';
import { blockerBlocks, waitingLines } from './pending.ts';
import { effectTexts, isStarting, type PlanTextInput, signs, transferTexts } from './plan-text.ts';
import { transferLines } from './transfer-lines.ts';

export interface PlanMarkdownInput extends Pick<PlanTextInput, 'plan' | 'lock' | 'budgets' | 'transfers' | 'hashes'> {
  /** A report of differences has no effects. */
  readonly kind: 'plan' | 'drift';
  readonly digest: string;
  readonly isSimulated: boolean;
}

/** GitHub refuses a comment of more than 65,536 characters. */
const mostCharacters = 60_000;
/** For the lines above and below the sections. */
const reservedCharacters = 4_000;
const columns = 96;

/** A part of the page, as plain lines in a code block. There, no text is a link, a mention or HTML. */
interface Section {
  readonly title: string;
  readonly lines: readonly string[];
  readonly isFolded?: boolean;
  readonly language?: 'diff' | 'text';
}

/**
 * A plan or a drift as a comment for a pull request or an issue. Its first five lines say what is interrupted. The last
 * line is a hidden marker for programs. Text from nodes and from the file appears only in code, where it has no effect.
 */
export function planMarkdown(input: PlanMarkdownInput): string {
  const { plan, kind, digest, isSimulated } = input;
  const title = kind === 'plan' ? 'Plan for' : 'Drift of';
  const { shown, left } = fitted(sectionsOf(input), mostCharacters - reservedCharacters);
  const effects = [...plan.effects.map((one) => one.kind), ...(plan.updates === undefined ? [] : ['upgrade'])];
  const lines = [
    `### ${title} ${code(plan.cluster)}${isSimulated ? ' (simulated)' : ''}`,
    '',
    kind === 'plan' ? effectsText(plan, { isSimulated }) : driftText(plan),
    '',
    countsText(input),
    ...shown.flatMap((one) => ['', one]),
    ...(left.length === 0 ? [] : ['', leftText(left, { isSimulated })]),
    ...(plan.undo === undefined || kind === 'drift' ? [] : ['', code(proseText(plan.undo, { isSimulated }))]),
    '',
    `Digest of this ${kind}: ${code(digest)}`,
    '',
    `<!-- meshwright: ${JSON.stringify({ kind, cluster: plan.cluster, digest, effects })} -->`,
  ];
  return `${escapeLines(lines.join('\n'))}\n`;
}

/** Code within a line. A name in the file cannot contain a backtick, but a comment must be safe without this. */
const code = (text: string): string => `\`${escapeText(text).replaceAll('`', "'")}\``;

/** A name without code if it cannot have any effect. */
const nameText = (text: string): string => (/^[\w. -]+$/.test(text) ? text : code(text));

const html = (text: string): string =>
  escapeText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The longest interruption of each placement, in seconds. */
function interruptions(steps: readonly Pick<Step, 'effect'>[]): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const { effect } of steps) {
    if (effect.kind !== 'interrupt') continue;
    for (const name of [effect.placement, ...(effect.others ?? [])]) {
      seconds.set(name, Math.max(seconds.get(name) ?? 0, effect.seconds));
    }
  }
  return seconds;
}

const forText = (seconds: number): string => (seconds <= 0 ? '' : ` for up to ${durationText(seconds * 1_000)}`);

/** The start of an interrupted placement is a part of the interruption. */
function withoutStopped(one: EffectTotal, stopped: ReadonlyMap<string, number>): readonly EffectTotal[] {
  if (one.kind === 'interrupt') return [];
  const placements = one.placements.filter((name) => one.kind !== 'start' || !stopped.has(name));
  return placements.length === 0 && one.placements.length > 0 ? [] : [{ ...one, placements }];
}

/** The placements that the plan stops and does not start again. A gateway's change interrupts without a stop. */
function endedBy({ effects, steps }: Pick<Plan, 'effects' | 'steps'>): readonly string[] {
  const started = effects.flatMap(({ kind, placements }) => (kind === 'interrupt' ? [] : placements));
  const stopped = interruptions(steps.filter(({ resource }) => resource === 'placement'));
  return [...stopped.keys()].filter((name) => !started.includes(name));
}

/** What is interrupted and for how long; then the other effects, and everything that the plan does not know. */
function effectsText(plan: Plan, reader: Reader): string {
  const { effects, changes, steps, waiting, later = [], unreached = {}, updates } = plan;
  const stopped = interruptions(steps);
  const ended = endedBy(plan);
  const paused = [...stopped].flatMap(([name, seconds]) =>
    ended.includes(name) ? [] : [`${code(name)}${forText(seconds)}`],
  );
  const others = [
    ...effectTexts({ effects: effects.flatMap((one) => withoutStopped(one, stopped)), changes, steps }),
    ...transferTexts({ steps }).map((text) => `sends ${text}`),
  ];
  const waits = [
    ...new Set(waiting.flatMap(({ about }) => (about.kind === 'placement' ? (about.placement ?? []) : []))),
  ];
  const lost = Object.keys(unreached);
  return [
    ...(ended.length === 0
      ? []
      : [`**Stops ${listText(ended.map(code))} and does not start ${ended.length === 1 ? 'it' : 'them'} again.**`]),
    ...(paused.length === 0 && ended.length > 0 ? [] : [`**Interrupts ${listText(paused) || 'nothing'}.**`]),
    ...(later.length === 0
      ? []
      : [`**A second plan follows: it ${effectTexts({ effects: later, changes: [], steps: [] }).join('; ')}.**`]),
    ...(updates === undefined ? [] : [updatesText(updates, reader)]),
    ...(others.length === 0 ? [] : [`Other effects: ${others.join('; ')}.`]),
    ...(waits.length === 0 ? [] : [`Not included: changes to ${listText(waits.map(code))} that still wait.`]),
    ...(lost.length === 0 ? [] : [`Not reached, so not in this plan: ${nodesText(lost)}.`]),
  ].join(' ');
}

/** `apply` updates no macOS, but the page must not hide what follows from the same change of the file. */
function updatesText({ to, units }: MacosUpdates, reader: Reader): string {
  const command = code(commandText(meshwright('upgrade macos', '--all'), reader));
  const stops = units.flatMap(({ placements }) => (placements.length === 0 ? [] : listText(placements.map(code))));
  const nodes = nodesText(units.flatMap((unit) => unit.nodes));
  const stop = stops.length === 0 ? '' : `stops ${stops.join(', then ')}, and `;
  return `**Not included: the update to macOS ${code(to)}. ${command} ${stop}restarts ${nodes}. It cannot be undone.**`;
}

function driftText(plan: Plan): string {
  const { observed, unreached = {} } = plan;
  const seen = Object.keys(observed).length;
  const lost = Object.keys(unreached);
  const missed = lost.length === 0 ? '' : ` Not reached: ${nodesText(lost)}.`;
  if (seen === 0) return `**No Mac was observed.**${missed}`;
  return `**${isEmptyPlan(plan) ? 'No drift.' : 'The rack differs from the file.'}**${missed}`;
}

const countOf = (count: number, text: string): readonly string[] => (count === 0 ? [] : [text]);

/** `3 to add, 2 to change on 4 Macs; 2 manual steps at the rack; 1 change waits; 1 warning.` */
function countsText({ plan, lock }: PlanMarkdownInput): string {
  const { changes, blockers, waiting, diagnostics, observed } = plan;
  const macs = counted(new Set(changes.map(({ node }) => node)).size, 'Mac');
  const kinds = Object.keys(signs).flatMap((kind) => {
    const { length } = changes.filter((change) => change.kind === kind);
    return countOf(length, `${length} to ${kind}`);
  });
  const hands = blockers.filter(({ isHands }) => isHands).length;
  const others = blockers.length - hands;
  const of = (severity: Severity): number => diagnostics.filter((one) => one.severity === severity).length;
  const parts = [
    ...(kinds.length === 0 ? [] : [`${kinds.join(', ')} on ${macs}`]),
    ...countOf(hands, `${counted(hands, 'manual step')} at the rack`),
    ...countOf(others, `${counted(others, 'blocker')} to clear first`),
    ...countOf(waiting.length, `${counted(waiting.length, 'change')} ${waiting.length === 1 ? 'waits' : 'wait'}`),
    ...countOf(lock.additions.length, `${counted(lock.additions.length, 'new line')} in ${nameText(lock.shown)}`),
    ...countOf(of('error'), counted(of('error'), 'error')),
    ...countOf(of('warning'), counted(of('warning'), 'warning')),
  ];
  const seen = counted(Object.keys(observed).length, 'Mac');
  if (changes.length + blockers.length + waiting.length + lock.additions.length > 0) return `${parts.join('; ')}.`;
  return [`Nothing to change on ${seen}`, ...parts].join('; ').concat('.');
}

function sectionsOf({
  kind,
  plan,
  lock,
  budgets,
  transfers,
  hashes,
  isSimulated,
}: PlanMarkdownInput): readonly Section[] {
  const page: Page = { columns, unicode: false, paint: plainPaint, isSimulated };
  const findings = (title: string, isIncluded: (one: Diagnostic) => boolean): readonly string[] => [
    title,
    ...mergeFindings(plan.diagnostics.filter(isIncluded)).flatMap((one) => findingLines(one, page)),
  ];
  const isUrgent = (one: Diagnostic): boolean => hasTrait(one, 'urgent');
  const isNotice = ({ severity }: Diagnostic): boolean => severity === 'notice';
  const added = lock.additions.map((line) => `+ ${escapeText(line)}`);
  const open = [
    findings('Do this first', isUrgent),
    ...blockerBlocks(plan.blockers, page),
    findings('Errors and warnings', (one) => !isUrgent(one) && !isNotice(one)),
  ];
  const folded = [
    waitingLines(plan, page),
    [`New in ${lock.shown} (${added.length})`, ...added],
    kind === 'plan' ? memoryLines(plan.memory ?? [], page) : [],
    ['RDMA starts', ...(isStarting(plan) ? budgetLines(budgets ?? [], page) : [])],
    transferLines(transfers ?? [], page),
    hashes === undefined ? [] : hashLines(hashes, page),
    findings('Notes', (one) => !isUrgent(one) && isNotice(one)),
  ];
  // A title can have a remark at the right edge of the page.
  const sectionOf = ([title = '', ...lines]: readonly string[]): Section => ({
    title: title.replace(/ {3,}/, ': '),
    lines,
  });
  return [
    ...open.map(sectionOf),
    ...macSections(plan),
    ...folded.map((lines) => ({ ...sectionOf(lines), isFolded: true })),
  ].filter(({ lines }) => lines.length > 0);
}

/** The changes of each Mac, those that interrupt something first. Macs with equal changes share a section. */
function macSections({ changes, steps }: Pick<Plan, 'changes' | 'steps'>): readonly Section[] {
  const namesByChange = groupBy(
    steps.flatMap(({ changes: ids, ...step }) => ids.map((id) => ({ id, names: [...interruptions([step]).keys()] }))),
    ({ id }) => id,
  );
  const macs = alike(changes, ({ node }) => node).map(([{ node }, own]) => {
    const rows = own.map((change) => ({
      change,
      names: [...new Set(namesByChange.get(change.id)?.flatMap(({ names }) => names))],
    }));
    const sorted = rows.toSorted((a, b) => Number(b.names.length > 0) - Number(a.names.length > 0));
    return { node, lines: changeRows(sorted), names: [...new Set(sorted.flatMap(({ names }) => names))] };
  });
  return alike(macs, ({ lines }) => lines.join('\n'))
    .toSorted(([a], [b]) => Number(b.names.length > 0) - Number(a.names.length > 0))
    .map(([{ lines, names }, same]) => {
      const each = same.length === 1 ? '' : ' each';
      const stops = names.length === 0 ? '' : `, interrupts ${listText(names)}`;
      const title = `${everyNodeText(same.map(({ node }) => node))}: ${counted(lines.length, 'change')}${each}${stops}`;
      return { title, lines, isFolded: true, language: 'diff' };
    });
}

/** Longer values are cut, because a comment has little room. */
const widestValue = 400;

function changeRows(
  rows: readonly { readonly change: Change; readonly names: readonly string[] }[],
): readonly string[] {
  const width = Math.max(...rows.map(({ change }) => columnsOf(change.resource)));
  const shown = (text: string): string => clip(escapeText(text), widestValue);
  return rows.map(({ change: { kind, resource, from, to }, names }) => {
    const stops = names.length === 0 ? '' : `   (interrupts ${listText(names)})`;
    return `${signs[kind][0]} ${padEnd(resource, width)}   ${shown(from)} -> ${shown(to)}${stops}`;
  });
}

/** A code block that no line in it can end. */
function block({ lines, language = 'text' }: Section): readonly string[] {
  const runs = lines.flatMap((line) => line.match(/`+/g) ?? []);
  const fence = '`'.repeat(Math.max(2, ...runs.map(({ length }) => length)) + 1);
  return [`${fence}${language}`, ...lines, fence];
}

function sectionText(section: Section): string {
  const { title, isFolded } = section;
  const lines = isFolded
    ? [`<details><summary>${html(title)}</summary>`, '', ...block(section), '', '</details>']
    : [`**${html(title)}**`, '', ...block(section)];
  return lines.join('\n');
}

/** The sections that fit; the lines that do not are counted. */
function fitted(
  sections: readonly Section[],
  room: number,
): { readonly shown: readonly string[]; readonly left: readonly string[] } {
  const shown: string[] = [];
  const left: string[] = [];
  let free = room;
  for (const section of sections) {
    const { lines, title } = section;
    let count = lines.length;
    while (count > 0 && sectionText({ ...section, lines: lines.slice(0, count) }).length + 2 > free) {
      // Most long sections are far too long.
      count = count > 64 ? Math.floor(count * 0.9) : count - 1;
    }
    if (count < lines.length) left.push(`${counted(lines.length - count, 'line')} of "${html(title)}"`);
    if (count === 0) continue;
    const text = sectionText({ ...section, lines: lines.slice(0, count) });
    shown.push(text);
    free -= text.length + 2;
  }
  return { shown, left };
}

const mostListed = 6;

function leftText(left: readonly string[], reader: Reader): string {
  const listed = left.slice(0, mostListed);
  const rest = left.length - listed.length;
  const all = rest === 0 ? listText(listed) : `${listed.join(', ')} and of ${counted(rest, 'more section')}`;
  return `**Left out, because a comment has too little room: ${all}.** ${code(commandText(meshwright('plan'), reader))} shows everything.`;
}
