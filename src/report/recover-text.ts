import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { proseText } from '../diagnostics/prose-text.ts';
import type { Cure, NextCure, Rung } from '../engine/diagnose/next-cure.ts';
import { type Incident, lastDuration, type Recoveries } from '../engine/diagnose/past-cures.ts';
import { listText } from '../model/lists.ts';
import { everyNodeText, type NodeName } from '../model/node.ts';
import { subjectName } from '../model/subject.ts';
import { durationText, utcText } from '../model/text/units.ts';
import type { ClientCounts, PlacementSurvey } from '../rack/placement/check/placement-survey.ts';
import type { ChangedPlacement } from '../rack/placement/state/recorded-settings.ts';
import { findingLines, mergeFindings } from './findings.ts';
import { fitLines, type Page } from './page.ts';

/** What a cure does, as a phrase that begins a sentence: `Reboot studio-2`. */
export function cureText({ rung, names }: { readonly rung: string; readonly names: readonly string[] }): string {
  const texts: Readonly<Record<Rung, string>> = {
    wait: `Wait for ${everyNodeText(names)}`,
    gateway: `Open the gateway of ${listText(names)}`,
    continue: `Resume the suspended ranks of ${listText(names)}`,
    instance: `Create the instance of ${listText(names)} again`,
    network: `Put addresses, bridges and the keeper right on ${everyNodeText(names)}`,
    measure: 'Measure the cables, to find the Mac that hangs',
    start: `Start ${listText(names)}`,
    stop: `Stop ${listText(names)}, so that a cable can be moved safely`,
    restart: `Restart ${listText(names)}`,
    reboot: `Reboot ${everyNodeText(names)}`,
    'power-cycle': `Power-cycle ${everyNodeText(names)} by outlet`,
  };
  return texts[rung as Rung] ?? rung;
}

/** A cure that ran, with its duration. */
export interface DoneCure {
  readonly cure: Cure;
  readonly isDone: boolean;
  /** False if it only waited, or if nothing was left to do. */
  readonly hasChanged: boolean;
  readonly ms: number;
}

interface Wrong {
  readonly silent: readonly PlacementSurvey[];
  readonly clients: readonly ClientCounts[];
  /** The placements among these whose settings in the file are newer. */
  readonly changed: readonly ChangedPlacement[];
  /** How often these placements were brought back lately. */
  readonly past: readonly Recoveries[];
  readonly next: NextCure;
}

/** The placements without a token, and why; the person's task only if no cure is next. Unknown is never no. */
export function wrongLines({ silent, clients, changed, past, next }: Wrong, page: Page): readonly string[] {
  const cause = next.kind === 'cure' ? [causeText(next.cure.finding, page)] : [];
  // The finding behind the cure usually says the same.
  const states = silent.filter(({ evidence }) => cause.every((text) => !text.includes(evidence))).map(stateText);
  const tasks = next.kind === 'person' ? mergeFindings(next.findings) : [];
  return [
    ...[
      ...states,
      ...cause,
      ...clients.flatMap(waitingText),
      ...changed.flatMap(asItWas),
      ...killText(silent, next),
      ...past.map(pastText),
    ].flatMap((text) => fitLines(escapeText(text), page.columns)),
    ...tasks.flatMap((one) => findingLines(one, page)),
  ];
}

const asItWas = ({ name, words, isKnown }: ChangedPlacement): readonly string[] =>
  isKnown ? [`The file has changed since ${name} was started: ${words}. It is brought back as it was.`] : [];

/** `studio-1:4 <-> studio-4:2: This cable carries nothing.`: with the subject, unless the sentence names it. */
function causeText({ subject, detail }: Diagnostic, page: Page): string {
  const text = proseText(detail, page);
  const name = subject === undefined ? '' : subjectName(subject);
  return text.includes(name) ? text : `${name}: ${text}`;
}

function stateText({ name, state, evidence }: PlacementSurvey): string {
  if (state === 'unknown') return `It is unknown whether ${name} serves: ${evidence}`;
  if (state === 'changed') return `${name} returned no token, and it does not match the file: ${evidence}`;
  return `${name} does not serve (${state}): ${evidence}`;
}

/** SIGKILL can leave RDMA objects in the kernel, which only a reboot removes. @see mlx issue 3910 */
function killText(silent: readonly PlacementSurvey[], next: NextCure): readonly string[] {
  const isStop = next.kind === 'cure' && (next.cure.rung === 'restart' || next.cure.rung === 'stop');
  const isHung = silent.some(({ transport, state }) => transport === 'rdma' && state === 'hung');
  return isStop && isHung ? ['A rank that ignores SIGTERM for 3 min is killed, which may cost a reboot.'] : [];
}

/** The requests that a cure may cut off. */
function waitingText({ placement, status }: ClientCounts): readonly string[] {
  if (status.kind === 'unknown') return [];
  const { running, waiting, quietMs } = status.value;
  if (running + waiting === 0) return [];
  const quiet = quietMs === undefined ? '' : `; no output for ${durationText(quietMs)}`;
  return [`Requests of clients in flight for ${placement}: ${running + waiting}${quiet}.`];
}

/** `chat was recovered 2 times in 7 days, last 2026-11-29 02:13:05 UTC: Restart chat`. */
export const pastText = ({ placement, times, last: { atMs, cure } }: Recoveries): string =>
  `${placement} was recovered ${times === 1 ? 'once' : `${times} times`} in 7 days, last ${utcText(Math.floor(atMs / 1_000))}: ${cureText(cure)}.`;

/**
 * The one question before the first cure: how long it took last time, what may follow, and what that would interrupt.
 */
export function questionText(
  cure: Cure,
  {
    members,
    placements,
    outlets,
    incidents,
  }: {
    readonly members: readonly NodeName[];
    readonly placements: readonly PlacementSurvey[];
    /** The Macs whose power may be cut. */
    readonly outlets: readonly string[];
    readonly incidents: readonly Incident[];
  },
): string {
  const lastMs = lastDuration(incidents, cure);
  const took = lastMs === undefined ? '' : ` (last time: ${durationText(lastMs)})`;
  if (members.length === 0) return `${cureText(cure)}${took}?`;
  const others = placements
    .filter(({ state, nodes }) => state === 'serving' && nodes.some((node) => members.includes(node)))
    .map(({ name }) => name);
  const also = others.length === 0 ? '' : `, which would also interrupt ${listText(others)}`;
  const switched = members.filter((name) => outlets.includes(name));
  const most = switched.length === 0 ? 'a reboot' : `a power cycle of ${everyNodeText(switched)} and a reboot`;
  return `${cureText(cure)}${took}? If that does not help, other cures follow, at most ${most} of ${everyNodeText(members)}${also}. A reboot cannot be undone.`;
}

/** The last sentence if every placement returned a token. */
export function servingText(names: readonly string[], tookMs?: number): string {
  const serve = `${listText(names)} ${names.length === 1 ? 'serves' : 'serve'}`;
  if (tookMs === undefined)
    return `${serve}: ${names.length === 1 ? 'it' : 'each'} returned a token. Nothing was changed.`;
  return `${serve} again: ${names.length === 1 ? 'it' : 'each'} returned a token after ${durationText(tookMs)}.`;
}

/** One line per cure: `1. Restart chat: failed (41 s)`. */
export function doneText(index: number, { cure, isDone, hasChanged, ms }: DoneCure): string {
  const done = hasChanged || cure.rung === 'wait' ? 'done' : 'nothing was left to do';
  return `${index}. ${cureText(cure)}: ${isDone ? done : 'failed'} (${durationText(ms)})`;
}
