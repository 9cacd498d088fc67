import { resolve } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import { jsonText } from '../../diagnostics/escape.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { planJson } from '../../engine/plan/plan-json.ts';
import type { StepScript } from '../../engine/scripts/step-scripts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { canonicalJson, type Json } from '../../model/digest.ts';
import { namedSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { NodeBudget } from '../../rack/placement/placement-blockers.ts';
import { type PlanTextInput, planText } from '../../report/plan/plan-text.ts';
import { launchesJson } from '../../report/status/status-json.ts';
import { refuseOpenToOthers } from '../cluster/open-cluster.ts';
import { readFile, shownPath } from '../files/read-file.ts';
import { pageFor } from '../terminal/console.ts';
import { type Run, usageError } from '../verb.ts';

/** A plan that was saved. */
interface SavedPlan {
  /** How its file is called in text. */
  readonly shown: string;
  readonly text: string;
  /** The nodes that it is about; absent for all of the file. */
  readonly targets?: readonly string[];
}

/**
 * What the words of `apply` name: nodes, or the file of a saved plan.
 * @throws FleetError `cli/usage`, `cli/cannot-read`, `plan/unreadable`
 */
export function readApplyWords(
  run: Run,
  fleet: DesiredFleet,
): { readonly nodes: readonly string[]; readonly saved?: SavedPlan } {
  const isNode = (word: string): boolean => fleet.nodes.some(({ name }) => name === word);
  // What looks like no file is a name, and wrong names are told with what was meant.
  const file = run.words.find((word) => !isNode(word) && /[./]/.test(word));
  if (file === undefined) return { nodes: run.words };
  const isNarrowed = run.options.nodes !== undefined || run.options.label !== undefined;
  if (run.words.length > 1 || isNarrowed) {
    throw usageError(
      'A saved plan is named, and nodes or another file beside it.',
      'Name the plan alone: it knows its nodes.',
    );
  }
  return { nodes: [], saved: readSaved(run, file) };
}

function readSaved(run: Run, file: string): SavedPlan {
  const path = resolve(run.folder, file);
  const shown = shownPath(run.folder, path);
  const read = readFile(path, shown);
  refuseOpenToOthers(run, shown, read);
  const { text } = read;
  const targets = targetsIn(text);
  if (targets === undefined) {
    const format = formatIn(text);
    const why =
      format === undefined
        ? 'holds no plan'
        : `has the plan format ${format}, and this version of meshwright reads format ${planFormat}`;
    throw new FleetError([diagnose('plan/unreadable', { detail: `${shown} ${why}.`, subject: namedSubject(shown) })]);
  }
  return { shown, text, ...(targets === 'all' ? {} : { targets }) };
}

/** @throws FleetError `plan/stale` unless the document is what the saved plan says */
export function requireSame({ shown, text }: SavedPlan, document: string): void {
  if (isSamePlan(text, document) === true) return;
  throw new FleetError([
    diagnose('plan/stale', {
      subject: namedSubject(shown),
      detail: [`What would be done now is not what ${shown} says.`, ...planDifferences(text, document)].join('\n'),
      hint: prose`Look at the difference: ${meshwright('plan', '--out', 'new.json')}. Then apply that.`,
    }),
  ]);
}

/** What a plan document says besides the plan. */
interface PlanSurroundings {
  readonly isSimulated: boolean;
  /** What the lock has not got yet. */
  readonly additions: readonly string[];
  /** The nodes that were chosen; absent for all of the file. */
  readonly targets?: readonly string[];
  /** Of launches over RDMA, where any can come. */
  readonly budgets?: readonly NodeBudget[];
  /** What root would run, where that was asked for. */
  readonly scripts?: readonly StepScript[];
}

/** A plan as a JSON document (`schemas/plan.schema.json`), with a line end: what `--json` prints and `--out` saves. */
export const planDocument = (plan: Plan, surroundings: PlanSurroundings): string =>
  `${jsonText(planValue(plan, surroundings))}\n`;

/** The same as a value. */
function planValue(plan: Plan, { isSimulated, additions, targets, budgets = [], scripts }: PlanSurroundings): Json {
  const [head, ...rest] = entriesOf(planJson(plan, { isSimulated }));
  const launches = Object.entries(launchesJson(budgets)).map(([node, value]) => [node, { ...value }] as const);
  return Object.fromEntries([
    ...(head === undefined ? [] : [head]),
    ...(isSimulated ? [['simulated', true] as const] : []),
    ...(targets === undefined ? [] : [['targets', targets] as const]),
    ...(additions.length === 0 ? [] : [['lock', { additions }] as const]),
    ...(launches.length === 0 ? [] : [['launches', Object.fromEntries(launches)] as const]),
    ...rest,
    ...(scripts === undefined ? [] : [['scripts', scripts.map((one) => ({ ...one }))] as const]),
  ]);
}

const entriesOf = (value: Json): readonly (readonly [string, Json])[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

/** The format of the plans that are read and written here. */
const planFormat = 1;

/** The format of a saved plan; undefined when the text is no plan at all. */
function formatIn(saved: string): number | undefined {
  const { steps, formatVersion } = parsed(saved) ?? {};
  return steps !== undefined && typeof formatVersion === 'number' ? formatVersion : undefined;
}

/**
 * Whether a saved document says what the other one says. What is only told is left out: a clock is never twice the same,
 * and of launches that a node has no more of, and of memory that is too little, a blocker speaks.
 * Undefined when the text is no plan at all.
 */
export function isSamePlan(saved: string, now: string): boolean | undefined {
  const before = parsed(saved);
  if (before === undefined || formatIn(saved) !== planFormat) return undefined;
  return canonicalJson(comparable(before)) === canonicalJson(comparable(parsed(now) ?? {}));
}

/** How many changes are named of a plan that is not the saved one. */
const namedChanges = 3;

/**
 * What a document has that a saved one has not, and the other way round, a phrase each: Macs that have restarted and changes,
 * the first of them, else the parts that differ. Both have to be plans.
 */
export function planDifferences(saved: string, now: string): readonly string[] {
  const [before, after] = [comparable(parsed(saved) ?? {}), comparable(parsed(now) ?? {})];
  const [was, is] = [changeTexts(before), changeTexts(after)];
  const changes = [
    ...restartTexts(before, after),
    ...is.filter((text) => !was.includes(text)).map((text) => `new: ${text}`),
    ...was.filter((text) => !is.includes(text)).map((text) => `gone: ${text}`),
  ];
  if (changes.length > namedChanges) {
    return [...changes.slice(0, namedChanges), `${changes.length - namedChanges} more`];
  }
  if (changes.length > 0) return changes;
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const parts = keys.filter((key) => canonicalJson(before[key] ?? null) !== canonicalJson(after[key] ?? null));
  return [`the same changes, other ${parts.join(', ')}`];
}

function changeTexts({ changes }: JsonMap): readonly string[] {
  if (!Array.isArray(changes)) return [];
  return changes.map((one) => {
    const { node, resource, from, to } = one as Readonly<Record<string, string>>;
    return `${node} ${resource}: ${from} -> ${to}`;
  });
}

function restartTexts({ observed: was }: JsonMap, { observed: is }: JsonMap): readonly string[] {
  const sessionIn = (observed: Json | undefined, node: string): Json | undefined =>
    mapOf(mapOf(observed)[node])['bootSession'];
  return Object.keys(mapOf(is))
    .filter((node) => typeof sessionIn(was, node) === 'string' && typeof sessionIn(is, node) === 'string')
    .filter((node) => sessionIn(was, node) !== sessionIn(is, node))
    .map((node) => `${node} has restarted`);
}

const mapOf = (value: Json | undefined): JsonMap => Object.fromEntries(entriesOf(value ?? null));

/** The nodes that a saved document is about, `all` for those of the file; undefined when the text is no plan. */
export function targetsIn(saved: string): readonly string[] | 'all' | undefined {
  const document = parsed(saved);
  if (document === undefined || formatIn(saved) !== planFormat) return undefined;
  const { targets } = document;
  return Array.isArray(targets) ? targets.map(String) : 'all';
}

type JsonMap = { readonly [key: string]: Json };

const onlyTold: readonly string[] = ['diagnostics', 'launches', 'memory'];

function comparable(document: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(document).filter(([key]) => !onlyTold.includes(key)));
}

function parsed(text: string): JsonMap | undefined {
  try {
    const value: Json = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMap) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether some nodes were chosen, and which. */
export function narrowed(
  { words, options }: Pick<Run, 'words' | 'options'>,
  targets: readonly string[],
): { readonly targets?: readonly string[] } {
  return words.length > 0 || options.nodes !== undefined || options.label !== undefined ? { targets } : {};
}

/** What is shown beside a plan; `next` is what to type now. */
export type ShownPlanParts = Pick<PlanTextInput, 'lock' | 'budgets' | 'next' | 'nothing'>;

/** Logs a plan and shows it as text; with `--json` it shows nothing. */
export function showPlan(run: Run, plan: Plan, parts: Omit<ShownPlanParts, 'next'> & Partial<ShownPlanParts>): void {
  run.log?.write({ kind: 'plan', plan });
  if (!run.options.json) run.console.out(planText({ plan, next: [], ...parts, ...pageFor(run.console) }));
}
