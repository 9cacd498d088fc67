import { diagnosticsOf, type Problem, quoted } from '../../config/problem.ts';
import { type ReadDocument, readDocument } from '../../config/read-document.ts';
import { schemaProblems } from '../../config/schema-problems.ts';
import { spanOf } from '../../config/source-map.ts';
import { nameHint, suggesterAmong } from '../../desired/did-you-mean.ts';
import { pointerTo } from '../../desired/draft.ts';
import { everyNode } from '../../desired/layouts.ts';
import { placementNamesFor } from '../../desired/replicas.ts';
import { selectNodes } from '../../desired/select.ts';
import type { GeneralCode } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasErrors } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { jsonObject } from '../../model/digest.ts';
import type { PlaybookBatch, PlaybookDocument, PlaybookPlay, PlaybookTask } from '../../model/files.generated.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import { everyNodeText, type NodeName, nodeName } from '../../model/node.ts';
import { unknownProperty } from '../plan/view.ts';
import { tooSmallSizes } from './batches.ts';
import { type PlayScope, playNodes } from './expand.ts';
import {
  type BatchBlocker,
  type BatchSize,
  durationMs,
  type FieldText,
  type FileTask,
  fieldsIn,
  isTaskWord,
  type NodeChoice,
  type Play,
  type Playbook,
  type TaskWord,
  tasks,
  updatesMacos,
} from './playbook.ts';
import { playbookSchema, validatePlaybook } from './validator.generated.ts';
import { isZone } from './windows.ts';

/** A playbook's file and name, and the fleet to check it against. */
interface PlaybookOrigin {
  /** Shown in diagnostics. */
  readonly file: string;
  /** `restart` for `restart.yaml`. */
  readonly name: string;
  /** The valid nodes, labels and placements. If absent, names are not checked. */
  readonly fleet?: DesiredFleet;
  /** The nodes on the command line, for plays with `nodes: targets`. */
  readonly targets?: readonly NodeName[];
}

/** Reads a playbook. Returns all problems with their places, and the playbook unless one is an error. Never throws. */
export function loadPlaybook(
  input: string | Uint8Array,
  { file, name, fleet, targets = [] }: PlaybookOrigin,
): { readonly playbook?: Playbook; readonly diagnostics: readonly Diagnostic[] } {
  const document = readDocument(input, file);
  if (document.value === undefined) return { diagnostics: diagnosticsOf(document.source, document.problems) };
  const misshapen = schemaProblems({ schema: playbookSchema, validate: validatePlaybook }, document);
  const isShaped = (play: Placed): boolean =>
    misshapen.every(
      ({ pointer = '' }) => `${pointer}/`.startsWith('/plays/') && !`${pointer}/`.startsWith(`${play.pointer}/`),
    );
  const diagnostics = diagnosticsOf(document.source, [
    ...document.problems,
    ...playbookProblems(document, fleet),
    ...(fleet === undefined ? [] : sizeProblems(document, { desired: fleet, targets }, isShaped)),
    ...misshapen,
  ]);
  if (hasErrors(diagnostics)) return { diagnostics };
  const { about, plays } = document.value as PlaybookDocument;
  const read = plays.map((play) => ({ ...readPlay(play), ...given({ sparesHung: fleet && sparesHung(play.tasks) }) }));
  return { playbook: { name, ...given({ about }), plays: read }, diagnostics };
}

function readPlay(spec: PlaybookPlay): Play {
  const { name, nodes, serial, maxFailures, respect, bake, windows, blockers, rescue, tasks } = spec;
  return {
    ...given({ name, respect, windows, bakeMs: bake === undefined ? undefined : durationMs(bake) }),
    ...given({ rescue: rescue?.flatMap(readTask), blockers: blockers?.map((one) => one as BatchBlocker) }),
    nodes: readNodes(nodes),
    serial: serial === undefined ? [] : [serial].flat().map(readBatch),
    maxFailures: maxFailures ?? 0,
    tasks: tasks.flatMap(readTask),
  };
}

/** True if the play stops placements although no earlier task ends their requests, whatever state they are in. */
function sparesHung(tasks: readonly PlaybookTask[]): boolean {
  const isStop = (spec: PlaybookTask): boolean =>
    [spec.stop, spec.restart, spec.reboot, spec.shutdown, spec.upgrade].some((one) => one !== undefined);
  const stop = tasks.findIndex(isStop);
  const before = tasks.slice(0, Math.max(0, stop));
  return stop !== -1 && !before.some(({ drain, recover }) => drain?.deadline !== undefined || recover !== undefined);
}

function readNodes(nodes: string | readonly string[]): NodeChoice {
  if (typeof nodes !== 'string') return { kind: 'names', names: nodes.map(nodeName) };
  if (nodes === 'all' || nodes === 'targets') return { kind: nodes };
  return { kind: 'labels', labels: nodes.split(',').map((term) => term.trim()) };
}

function readBatch(size: PlaybookBatch): BatchSize {
  if (typeof size === 'number') return { kind: 'count', count: size };
  return size === 'unit' ? { kind: 'unit' } : { kind: 'percent', percent: Number(size.replace('%', '')) };
}

interface Placed {
  readonly value: unknown;
  readonly pointer: string;
}

interface PlacedText {
  readonly text: string;
  readonly pointer: string;
}

const placeIn = ({ map }: ReadDocument, pointer: string) => ({ span: spanOf(map, { pointer, at: 'value' }), pointer });

interface Names {
  readonly noun: 'node' | 'placement' | 'runtime';
  readonly code: GeneralCode;
  readonly known: readonly string[];
  readonly near: (word: string) => string | undefined;
}

/** Finds unknown names and invalid fields where a playbook matches the schema; the schema check reports the rest. */
function playbookProblems(document: ReadDocument, fleet: DesiredFleet | undefined): readonly Problem[] {
  const plays = playsIn(document);
  const all = plays.flatMap((play) => ['tasks', 'rescue'].flatMap((key) => itemsOf(childOf(play, key))));
  const own = [
    ...all.flatMap((task) => fieldProblems(document, task)),
    ...plays.flatMap((play) => zoneProblems(document, play)),
  ];
  if (fleet === undefined) return own;
  const nodes = namesAmong({ noun: 'node', code: 'playbook/unknown-node' }, fleet.nodes);
  const placements = namesAmong({ noun: 'placement', code: 'playbook/unknown-placement' }, [
    ...fleet.placements,
    ...fleet.placements.flatMap(({ replica }) => (replica === undefined ? [] : [{ name: replica.of }])),
  ]);
  const runtimes = namesAmong({ noun: 'runtime', code: 'playbook/unknown-runtime' }, fleet.runtimes);
  return [
    ...own,
    ...all.flatMap((task) => nameProblems(document, textOf(childOf(childOf(task, 'upgrade'), 'runtime')), runtimes)),
    ...rebootProblems(document, plays, fleet),
    ...plays.flatMap((play) => {
      const choice = childOf(play, 'nodes');
      return [...nameProblems(document, textsOf(choice), nodes), ...labelProblems(document, choice, fleet)];
    }),
    ...all.flatMap((task) =>
      taskBodies(task).flatMap((body) => nameProblems(document, textsOf(childOf(body, 'placements')), placements)),
    ),
    ...all.flatMap((task) => propertyProblems(document, childOf(childOf(task, 'assert'), 'property'), fleet)),
    ...all.flatMap((task) => closedProblems(document, childOf(childOf(task, 'drain'), 'placements'), fleet)),
  ];
}

function childOf({ value, pointer }: Placed, key: string): Placed {
  const fields = jsonObject(value) ?? {};
  return { value: Object.hasOwn(fields, key) ? fields[key] : undefined, pointer: pointerTo(pointer, key) };
}

const playsIn = ({ value }: ReadDocument): readonly Placed[] => itemsOf(childOf({ value, pointer: '' }, 'plays'));

const itemsOf = ({ value, pointer }: Placed): readonly Placed[] =>
  Array.isArray(value)
    ? value.map((item: unknown, index) => ({ value: item, pointer: pointerTo(pointer, index) }))
    : [];

const textOf = ({ value, pointer }: Placed): readonly PlacedText[] =>
  typeof value === 'string' ? [{ text: value, pointer }] : [];

const textsOf = (list: Placed): readonly PlacedText[] => itemsOf(list).flatMap(textOf);

/** The values of a task's known keys. */
const taskBodies = (task: Placed): readonly (Placed & { readonly texts: readonly FieldText[] })[] =>
  typeof task.value !== 'object' || task.value === null
    ? []
    : Object.keys(task.value)
        .filter(isTaskWord)
        .map((kind) => ({ ...childOf(task, kind), texts: tasks[kind].texts ?? [] }));

function namesAmong(kind: Pick<Names, 'noun' | 'code'>, things: readonly { readonly name: string }[]): Names {
  const known = things.map(({ name }) => name);
  return { ...kind, known, near: suggesterAmong(known) };
}

function nameProblems(document: ReadDocument, words: readonly PlacedText[], names: Names): readonly Problem[] {
  const { noun, code, known } = names;
  return words
    .filter(({ text }) => !known.includes(text))
    .map(({ text, pointer }) => {
      const list = known.length === 0 ? `The file has no ${noun}s.` : `The file has ${listText(known)}.`;
      return {
        code,
        ...placeIn(document, pointer),
        detail: `There is no ${noun} ${quoted(text)} in the cluster file.`,
        ...nameHint(names.near(text), list),
      };
    });
}

function zoneProblems(document: ReadDocument, play: Placed): readonly Problem[] {
  return itemsOf(childOf(play, 'windows')).flatMap((window): readonly Problem[] => {
    const { value, pointer } = childOf(window, 'zone');
    if (typeof value !== 'string' || isZone(value)) return [];
    const near = suggesterAmong(Intl.supportedValuesOf('timeZone'))(value);
    const detail = `There is no time zone ${quoted(value)}.`;
    return [
      {
        code: 'playbook/unknown-zone',
        ...placeIn(document, pointer),
        detail,
        ...nameHint(near, 'Examples: Europe/Berlin, UTC.'),
      },
    ];
  });
}

/** A batch that divides a unit would stop a placement once for each of its Macs. */
function sizeProblems(
  document: ReadDocument,
  scope: PlayScope,
  isShaped: (play: Placed) => boolean,
): readonly Problem[] {
  return playsIn(document)
    .filter(isShaped)
    .flatMap((one) => {
      const play = readPlay(one.value as PlaybookPlay);
      const serial = childOf(one, 'serial');
      return tooSmallSizes(play, playNodes(play, scope), scope.desired).map(({ at, room, unit }) => {
        const { pointer } = itemsOf(serial)[at] ?? serial;
        const { length } = unit.nodes;
        const runs = play.tasks.some(updatesMacos)
          ? `A cable or a placement connects ${everyNodeText(unit.nodes)}`
          : `${listText(unit.placements)} ${unit.placements.length === 1 ? 'runs' : 'run'} on ${everyNodeText(unit.nodes)}`;
        return {
          code: 'playbook/divides-unit' as const,
          ...placeIn(document, pointer),
          detail: `${runs}, so these ${length} Macs stop together, but the batch has room for ${room}.`,
          hint: `Write \`serial: unit\`, or ${length} or more.`,
        };
      });
    });
}

function propertyProblems(document: ReadDocument, { value, pointer }: Placed, fleet: DesiredFleet): readonly Problem[] {
  const hint = typeof value === 'string' ? unknownProperty(value, fleet) : undefined;
  if (hint === undefined) return [];
  const detail = `There is no property ${quoted(String(value))}.`;
  return [{ code: 'playbook/unknown-property', ...placeIn(document, pointer), detail, hint }];
}

/** A reboot stops placements: later tasks have to start each of them, unless earlier ones stop it on purpose. */
function rebootProblems(document: ReadDocument, plays: readonly Placed[], fleet: DesiredFleet): readonly Problem[] {
  const all = plays.flatMap((play) =>
    itemsOf(childOf(play, 'tasks')).map((task) => ({ play, task, on: childOf(play, 'nodes') })),
  );
  return all.flatMap(({ play, task, on }, at): readonly Problem[] => {
    const hasBatches = childOf(play, 'serial').value !== undefined;
    const reboot = childOf(task, 'reboot');
    if (reboot.value === undefined) return [];
    const handled = [
      ...all.slice(0, at).flatMap((one) => placementsIn(one, ['stop'], fleet, on)),
      // The next batch begins before the next play, so a play with batches starts again what it stops.
      ...all
        .slice(at)
        .filter((one) => !hasBatches || one.play === play)
        .flatMap((one) => placementsIn(one, ['start', 'restart', 'converge'], fleet, on)),
    ];
    const left = carriedBy(on, fleet).filter(({ name, state }) => state === 'serving' && !handled.includes(name));
    if (left.length === 0) return [];
    const names = listText(left.map(({ name }) => name));
    const detail = `The reboot stops ${names}, and no later task${hasBatches ? ' for the same batch' : ''} starts ${left.length === 1 ? 'it' : 'them'}.`;
    return [{ code: 'playbook/leaves-stopped', ...placeIn(document, reboot.pointer), detail }];
  });
}

/** The placements on a play's nodes. The nodes on the command line can be any nodes. */
function carriedBy({ value }: Placed, fleet: DesiredFleet): DesiredFleet['placements'] {
  const isAny = value === 'all' || value === 'targets';
  const names: unknown = typeof value === 'string' ? namesWith(value, fleet) : value;
  const isOn = (node: string): boolean => isAny || (Array.isArray(names) && names.includes(node));
  return fleet.placements.filter((one) => everyNode(one).some(isOn));
}

const namesWith = (labels: string, fleet: DesiredFleet): readonly string[] =>
  selectNodes(fleet, { names: [], labels: [labels] }).nodes.map(({ name }) => name);

/**
 * The placements that a task of these kinds stops or starts: those that it names, or all on its play's nodes. The nodes
 * on the command line cover only a reboot of these nodes.
 */
function placementsIn(
  { task, on }: { readonly task: Placed; readonly on: Placed },
  kinds: readonly TaskWord[],
  fleet: DesiredFleet,
  rebooted: Placed,
): readonly string[] {
  return kinds.flatMap((kind) => {
    const body = childOf(task, kind);
    if (body.value === undefined || childOf(body, 'only').value !== undefined) return [];
    const named = childOf(body, 'placements');
    const names = textsOf(named).map(({ text }) => text);
    if (named.value !== undefined) return placementNamesFor(names, fleet);
    const isCovered = on.value !== 'targets' || rebooted.value === 'targets';
    return isCovered ? carriedBy(on, fleet).map(({ name }) => name) : [];
  });
}

/** Only placements with a gateway can be drained. */
const closedProblems = (document: ReadDocument, names: Placed, { placements }: DesiredFleet): readonly Problem[] =>
  textsOf(names)
    .filter(({ text }) => placements.some(({ name, publication }) => name === text && publication === undefined))
    .map(({ text, pointer }) => ({
      code: 'playbook/not-published',
      ...placeIn(document, pointer),
      detail: `${text} is not published, so it has no gateway to drain.`,
    }));

function labelProblems(document: ReadDocument, choice: Placed, fleet: DesiredFleet): readonly Problem[] {
  const { value, pointer } = choice;
  if (typeof value !== 'string' || !value.includes('=')) return [];
  const { diagnostics } = selectNodes(fleet, { names: [], labels: [value] });
  return diagnostics
    .slice(0, 1)
    .map(({ detail, hint }) => ({ code: 'playbook/no-node-chosen', ...placeIn(document, pointer), detail, hint }));
}

function fieldProblems(document: ReadDocument, task: Placed): readonly Problem[] {
  return taskBodies(task).flatMap((body) =>
    body.texts.flatMap(({ path, known }) => {
      const at = path.reduce<Placed>(childOf, body);
      const texts = typeof at.value === 'string' ? [{ text: at.value, pointer: at.pointer }] : textsOf(at);
      return texts.flatMap((text) => unknownFields(document, text, known));
    }),
  );
}

function unknownFields(
  document: ReadDocument,
  { text, pointer }: PlacedText,
  known: readonly string[],
): readonly Problem[] {
  return fieldsIn(text)
    .filter(({ name }) => !known.includes(name))
    .map(({ name, start, end }) => ({
      code: 'playbook/unknown-field',
      span: spanOf(document.map, { pointer, at: 'value', part: { start, end } }),
      pointer,
      detail: `{${name}} is not a valid field in this text.`,
      hint: `Valid here: ${listText(known.map((one) => `{${one}}`))}. Write {{ for a brace.`,
    }));
}

/** The keys of a task that are read; all others are copied. */
interface TaskValue {
  readonly deadline?: string | undefined;
  readonly [other: string]: unknown;
}

/** Reads one task that matches the schema: a map with one key. */
function readTask(spec: PlaybookTask): readonly FileTask[] {
  const [kind] = Object.keys(spec).filter(isTaskWord);
  if (kind === undefined) throw new Error('a task has exactly one known key');
  if (kind === 'upgrade' && spec.upgrade !== undefined) return [{ kind, what: spec.upgrade }];
  const value: string | TaskValue = spec[kind] ?? {};
  if (typeof value === 'string') return [{ kind, text: value } as FileTask];
  const { deadline, ...rest } = value;
  if (kind === 'restart')
    return [
      { kind: 'stop', ...rest, isRestart: true },
      { kind: 'start', ...rest },
    ];
  const deadlineMs = deadline === undefined ? tasks[kind].usualMs : durationMs(deadline);
  return [{ kind, ...rest, ...given({ deadlineMs }) } as FileTask];
}
