import { escapeText } from '../diagnostics/escape.ts';
import { proseText } from '../diagnostics/prose-text.ts';
import type { Cure, NextCure, Rung } from '../engine/diagnose/next-cure.ts';
import { listText } from '../model/lists.ts';
import { everyNodeText } from '../model/node.ts';
import { durationText } from '../model/text/units.ts';
import type { PlacementSurvey } from '../rack/placement/check/placement-survey.ts';
import { findingLines, mergeFindings } from './findings.ts';
import { fitLines, type Page } from './page.ts';

/** What a cure does, as a phrase that begins a sentence: `Reboot studio-2`. */
export function cureText({ rung, names }: Pick<Cure, 'rung' | 'names'>): string {
  const texts: Readonly<Record<Rung, string>> = {
    wait: `Wait for ${everyNodeText(names)} to come back`,
    continue: `Resume the suspended ranks of ${listText(names)}`,
    network: `Put addresses, bridges and the keeper right on ${everyNodeText(names)}`,
    measure: 'Measure the cables, to find the Mac that hangs',
    start: `Start ${listText(names)}`,
    restart: `Restart ${listText(names)}`,
    reboot: `Reboot ${everyNodeText(names)}`,
  };
  return texts[rung];
}

/** A cure that ran, with its duration. */
export interface DoneCure {
  readonly cure: Cure;
  readonly isDone: boolean;
  readonly ms: number;
}

/** The placements without a token, and why; the person's task only if no cure is next. Unknown is never no. */
export function wrongLines(silent: readonly PlacementSurvey[], next: NextCure, page: Page): readonly string[] {
  const states = silent.map(({ name, state, evidence }) =>
    state === 'unknown'
      ? `It is unknown whether ${name} serves: ${evidence}`
      : `${name} does not serve: ${state}, ${evidence}`,
  );
  const reason = next.kind === 'cure' ? proseText(next.cure.finding.detail, page) : [];
  const tasks = next.kind === 'person' ? mergeFindings(next.findings) : [];
  return [
    ...[...states, ...[reason].flat()].flatMap((text) => fitLines(escapeText(text), page.columns)),
    ...tasks.flatMap((one) => findingLines(one, page)),
  ];
}

/** The last sentence if every placement returned a token. */
export function servingText(names: readonly string[], tookMs?: number): string {
  const serve = `${listText(names)} ${names.length === 1 ? 'serves' : 'serve'}`;
  if (tookMs === undefined)
    return `${serve}: ${names.length === 1 ? 'it' : 'each'} returned a token. Nothing was changed.`;
  return `${serve} again: ${names.length === 1 ? 'it' : 'each'} returned a token after ${durationText(tookMs)}.`;
}

/** One line per cure: `1. Restart chat: failed (41 s)`. */
export const doneText = (index: number, { cure, isDone, ms }: DoneCure): string =>
  `${index}. ${cureText(cure)}: ${isDone ? 'done' : 'failed'} (${durationText(ms)})`;
