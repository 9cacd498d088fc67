import { resolve } from 'node:path';
import { failure } from '../../diagnostics/diagnose.ts';
import { escapeText, jsonText } from '../../diagnostics/escape.ts';
import type { NodeForecast } from '../../engine/plan/forecast.ts';
import type { HashWork } from '../../engine/plan/hash-works.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { planJson } from '../../engine/plan/plan-json.ts';
import type { StepScript } from '../../engine/scripts/step-scripts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { canonicalJson, digestOf, type Json, jsonObject, parsedJson } from '../../model/digest.ts';
import type { NodeName } from '../../model/node.ts';
import { namedSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { NodeBudget } from '../../rack/placement/placement-blockers.ts';
import { counted } from '../../report/page.ts';
import { type PlanTextInput, planText } from '../../report/plan/plan-text.ts';
import { transfersJson } from '../../report/plan/transfer-lines.ts';
import { launchesJson } from '../../report/status/status-json.ts';
import { refuseOpenToOthers } from '../cluster/open-cluster.ts';
import { readFile, shownPath } from '../files/read-file.ts';
import { pageFor, showEvent } from '../terminal/console.ts';
import { type Run, textOption, usageError } from '../verb.ts';

interface SavedPlan {
  /** The file's displayed path. */
  readonly shown: string;
  readonly document: JsonMap;
  /** The plan's nodes; absent if the plan covers all nodes in the file. */
  readonly targets?: readonly string[];
}

/**
 * Reads the arguments of `apply`, which are nodes or the file of a saved plan.
 * @throws FleetError `cli/usage`, `cli/cannot-read`, `plan/unreadable`
 */
export function readApplyWords(
  run: Run,
  fleet: DesiredFleet,
): { readonly nodes: readonly string[]; readonly saved?: SavedPlan } {
  const isNode = (word: string): boolean => fleet.nodes.some(({ name }) => name === word);
  // An argument that does not look like a file is a node name, so typos in it get a suggestion.
  const file = run.words.find((word) => !isNode(word) && /[./]/.test(word));
  if (file === undefined) return { nodes: run.words };
  const isNarrowed = run.options.nodes !== undefined || run.options.label !== undefined;
  if (run.words.length > 1 || isNarrowed) {
    throw usageError(
      'A saved plan cannot be combined with nodes or another file.',
      'Name only the plan: it contains its nodes.',
    );
  }
  return { nodes: [], saved: readSaved(run, file) };
}

function readSaved(run: Run, file: string): SavedPlan {
  const path = resolve(run.folder, file);
  const shown = shownPath(run.folder, path);
  const read = readFile(path, shown);
  refuseOpenToOthers(run, shown, read);
  return parseSaved(shown, read.text);
}

/** @throws FleetError `plan/unreadable` */
export function parseSaved(shown: string, text: string): SavedPlan {
  const document = parsed(text);
  const format = document?.['steps'] === undefined ? undefined : document['formatVersion'];
  if (document === undefined || format !== planFormat) {
    const why =
      typeof format === 'number'
        ? `has plan format ${format}, but this version of meshwright reads format ${planFormat}`
        : 'is not a saved plan';
    throw failure('plan/unreadable', { detail: `${shown} ${why}.`, subject: namedSubject(shown) });
  }
  const { targets } = document;
  return { shown, document, ...(Array.isArray(targets) && { targets: targets.map(String) }) };
}

/**
 * Compares a saved plan with the document of the current one, except for values that always vary, such as times. A spent
 * launch budget or too little memory appears as a blocker.
 * @throws FleetError `plan/stale` if they differ
 */
export function requireSame({ shown, document }: Pick<SavedPlan, 'shown' | 'document'>, current: string): void {
  const [before, after] = [comparable(document), comparable(parsed(current) ?? {})];
  if (canonicalJson(before) === canonicalJson(after)) return;
  throw failure('plan/stale', {
    subject: namedSubject(shown),
    detail: [`The plan in ${shown} is out of date. Differences:`, ...planDifferences(before, after)].join('\n'),
    hint: prose`Make a new plan: ${meshwright('plan', '--out', 'new.json')}. Check it, then apply it.`,
  });
}

/** The fields in a plan document other than the plan itself. */
interface PlanSurroundings {
  readonly isSimulated: boolean;
  /** Lines that are not in the lock yet. */
  readonly additions: readonly string[];
  /** The selected nodes; absent if all nodes in the file are selected. */
  readonly targets?: readonly string[];
  /** RDMA launch budgets, if the fleet can have any. */
  readonly budgets?: readonly NodeBudget[];
  /** The bytes that the plan brings to each node. */
  readonly transfers?: readonly NodeForecast[];
  /** The copies that apply hashes before it makes its plan, with `--verify=full`. */
  readonly hashes?: readonly HashWork[];
  /** The root scripts, with --scripts. */
  readonly scripts?: readonly StepScript[];
}

/** A plan as a JSON document (`schemas/plan.schema.json`) with a line break, for `--json` and `--out`. */
export const planDocument = (plan: Plan, surroundings: PlanSurroundings): string =>
  `${jsonText(planValue(plan, surroundings))}\n`;

function planValue(plan: Plan, about: PlanSurroundings): Json {
  const { isSimulated, additions, targets, budgets = [], transfers = [], hashes, scripts } = about;
  const [head, ...rest] = entriesOf(planJson(plan, { isSimulated }));
  const launches = Object.entries(launchesJson(budgets)).map(([node, value]) => [node, { ...value }] as const);
  return Object.fromEntries([
    ...(head === undefined ? [] : [head]),
    ...(isSimulated ? [['simulated', true] as const] : []),
    ...(targets === undefined ? [] : [['targets', targets] as const]),
    ...(additions.length === 0 ? [] : [['lock', { additions }] as const]),
    ...(launches.length === 0 ? [] : [['launches', Object.fromEntries(launches)] as const]),
    ...(transfers.length === 0 ? [] : [['transfers', transfersJson(transfers)] as const]),
    ...(hashes === undefined ? [] : [['hashes', hashes.map((one) => ({ ...one }))] as const]),
    ...rest,
    ...(scripts === undefined ? [] : [['scripts', scripts.map((one) => ({ ...one }))] as const]),
  ]);
}

const entriesOf = (value: Json): readonly (readonly [string, Json])[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

const planFormat = 1;

/** The maximum number of differences from a saved plan that are listed. */
const namedChanges = 3;

/** The differences between two plans, one phrase each: restarted Macs and changes, or else the parts that differ. */
export function planDifferences(before: JsonMap, after: JsonMap): readonly string[] {
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
  return [`the changes are the same, but these parts differ: ${parts.join(', ')}`];
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

/** True if a saved plan was made with `--verify=full`. */
export const isHashedPlan = ({ document }: Pick<SavedPlan, 'document'>): boolean => document['hashes'] !== undefined;

type JsonMap = { readonly [key: string]: Json };

const onlyShown: readonly string[] = ['diagnostics', 'hashes', 'launches', 'memory', 'transfers', 'undo'];

/** The document without the parts that are only shown. */
const comparable = (document: JsonMap): JsonMap =>
  Object.fromEntries(Object.entries(document).filter(([key]) => !onlyShown.includes(key)));

const parsed = (text: string): JsonMap | undefined => jsonObject(parsedJson(text)) as JsonMap | undefined;

/** The selected nodes; undefined if none were selected. */
export function narrowed(
  { words, options }: Pick<Run, 'words' | 'options'>,
  targets: readonly string[],
): { readonly targets?: readonly string[] } {
  return words.length > 0 || options.nodes !== undefined || options.label !== undefined ? { targets } : {};
}

export type ShownPlanParts = Omit<PlanTextInput, 'plan'>;

/** Logs a plan and prints it; with `--json`, it is only logged. */
export function showPlan(run: Run, plan: Plan, parts: ShownPlanParts): void {
  run.log?.write({ kind: 'plan', plan });
  showEvent(run, { kind: 'plan', plan });
  if (!run.options.json) run.console.out(planText({ plan, ...parts }, pageFor(run.console)));
}

/** 128 bits: too many to construct two plans with equal digits, and few enough for a label on GitHub. */
const digestDigits = 32;

const shortened = (value: Json): string => digestOf(value).slice(0, digestDigits);

/** The digest of everything that a plan does and leaves, but not of the state in which it was made. */
export const planDigest = (document: string): string => documentDigest(parsed(document) ?? {});

const documentDigest = (document: JsonMap): string => {
  const { whole, lines } = reviewable(document);
  return shortened({ ...whole, lines: lines.map(({ shown, content }) => [shown, content]) });
};

/** The digest of the differences, but not of the observed values, some of which change at every observation. */
export const driftDigest = (
  { changes, waiting, blockers, unreached = {} }: Plan,
  additions: readonly string[],
): string =>
  shortened({
    changes: changes.map(({ node, resource, to }) => [node, resource, to]),
    waiting: waiting.map(({ node, resource }) => [node, resource]),
    blockers: blockers.map(({ code, node }) => [code, node]),
    unreached: Object.keys(unreached),
    additions,
  });

/** One line of a plan: its name, and what two plans must agree on. */
interface PlanLine {
  readonly shown: string;
  readonly content: string;
}

interface Reviewable {
  /** What must be equal as a whole. */
  readonly whole: Readonly<Record<string, Json>>;
  readonly lines: readonly PlanLine[];
}

const listOf = (value: Json | undefined): readonly JsonMap[] => (Array.isArray(value) ? value.map(mapOf) : []);
const textsOf = (value: Json | undefined) => listOf(value) as readonly Readonly<Record<string, string>>[];

/**
 * A step without the names of other steps, because these are fewer if a part of the plan is already done. A gate only
 * observes, and waits for fewer values then. A file to send has a digest, and its folder can differ.
 */
function stepLine(step: JsonMap): PlanLine {
  const { act, effect = null, class: own = null } = step;
  const { id } = step as Readonly<Record<string, string>>;
  const { kind = null, source: _, ...said } = mapOf(act);
  const content = canonicalJson({ act: kind === 'gate' ? { kind } : { kind, ...said }, effect, class: own });
  return { shown: `step ${id}`, content };
}

const updateText = (node: string, to: string): string => `update of ${node} to macOS ${to}`;

function updateTexts({ updates }: JsonMap): readonly string[] {
  const { to, units } = mapOf(updates ?? null);
  const version = typeof to === 'string' ? to : '';
  return listOf(units).flatMap(({ nodes }) =>
    Array.isArray(nodes) ? nodes.map((node) => updateText(String(node), version)) : [],
  );
}

function reviewable(document: JsonMap): Reviewable {
  const { configHash = null, cluster = null, targets = null, later = null, simulated = null } = document;
  const additions = mapOf(document['lock'])['additions'];
  const line = (shown: string): PlanLine => ({ shown, content: '' });
  return {
    whole: { configHash, cluster, targets, later, simulated },
    lines: [
      ...changeTexts(document).map((text) => line(`change of ${text}`)),
      ...listOf(document['steps']).map(stepLine),
      ...listOf(document['rescues']).flatMap(({ steps }) =>
        listOf(steps).map((step) => ({ ...stepLine(step), shown: `clean-up ${stepLine(step).shown}` })),
      ),
      ...textsOf(document['blockers']).map(({ node, action }) => line(`blocker on ${node}: ${action}`)),
      ...updateTexts(document).map(line),
      ...textsOf(document['waiting']).map(({ node, resource }) => line(`${resource} on ${node} waits`)),
      ...(Array.isArray(additions) ? (additions as readonly string[]) : []).map((text) =>
        line(`new in the lock: ${text}`),
      ),
      ...Object.keys(mapOf(document['unreached'])).map((node) => line(`${node} is not reached`)),
    ],
  };
}

/** A plan that people have reviewed. It is only compared: nothing in it is run, and nothing in it is consent. */
interface ReviewedPlan extends Pick<SavedPlan, 'shown' | 'document'> {
  readonly digest: string;
}

/** The plan in `--reviewed FILE`. @throws FleetError `cli/usage`, `cli/cannot-read`, `plan/unreadable` */
export function readReviewed(run: Run): ReviewedPlan | undefined {
  const file = textOption(run, 'reviewed');
  if (file === undefined) return undefined;
  if (run.own['waitForHands'] === true) {
    throw usageError(
      '--reviewed cannot be combined with --wait-for-hands.',
      'Leave out --wait-for-hands: the plans after a manual step were not reviewed.',
    );
  }
  const { shown, document } = readSaved(run, file);
  return { shown, document, digest: documentDigest(document) };
}

const mostNamed = 10;

const wholeTexts: Readonly<Record<string, string>> = {
  configHash: 'the cluster file or its lock differs from the reviewed one',
  cluster: 'the plan is for a different cluster',
  targets: 'the plan covers different nodes',
  later: 'the plan that follows differs',
  simulated: 'only one of the plans is for simulated Macs',
};

/**
 * Compares the current plan with a reviewed one. It may lack lines, because a part was done since.
 * @returns a sentence that names what the current plan lacks; undefined if it lacks nothing
 * @throws FleetError `plan/not-reviewed` if anything else differs
 */
export function requireReviewed({ shown, document, digest }: ReviewedPlan, current: string): string | undefined {
  const [before, after] = [reviewable(document), reviewable(parsed(current) ?? {})];
  const seen = new Map(before.lines.map((one) => [one.shown, one.content]));
  const differences = [
    ...Object.entries(wholeTexts).flatMap(([key, text]) =>
      canonicalJson(before.whole[key] ?? null) === canonicalJson(after.whole[key] ?? null) ? [] : [text],
    ),
    ...after.lines.flatMap(({ shown: name, content }) => {
      const reviewed = seen.get(name);
      if (reviewed === content) return [];
      return [`${reviewed === undefined ? 'new' : 'different'}: ${name}`];
    }),
  ];
  if (differences.length > 0) {
    throw failure('plan/not-reviewed', {
      subject: namedSubject(shown),
      detail: [`The plan differs from the reviewed plan ${digest}:`, ...named(differences)].join('\n'),
      hint: prose`Have this plan reviewed in a new pull request, or apply it at a terminal: ${meshwright('apply')}`,
    });
  }
  const now = new Set(after.lines.map((one) => one.shown));
  const missing = before.lines.flatMap((one) => (now.has(one.shown) ? [] : [`  ${one.shown}`]));
  if (missing.length === 0) return undefined;
  const title = `No longer needed (${counted(missing.length, 'line')} of the reviewed plan ${digest}):`;
  return `${[title, ...named(missing)].map(escapeText).join('\n')}\n`;
}

/**
 * Requires that a reviewed plan names these updates of macOS.
 * @throws FleetError `plan/not-reviewed` if it does not
 */
export function requireReviewedUpdates(
  { shown, document, digest }: ReviewedPlan,
  { cluster, to, nodes }: { readonly cluster: string; readonly to: string; readonly nodes: readonly NodeName[] },
): void {
  const reviewed = document['cluster'] === cluster ? updateTexts(document) : [];
  const others = nodes.map((node) => updateText(node, to)).filter((text) => !reviewed.includes(text));
  if (others.length === 0) return;
  throw failure('plan/not-reviewed', {
    subject: namedSubject(shown),
    detail: [`The reviewed plan ${digest} does not name:`, ...named(others)].join('\n'),
    hint: prose`Have a plan with these updates reviewed, or update at a terminal: ${meshwright('upgrade macos', '--all')}`,
  });
}

const named = (texts: readonly string[]): readonly string[] =>
  texts.length <= mostNamed ? texts : [...texts.slice(0, mostNamed), `${texts.length - mostNamed} more`];
