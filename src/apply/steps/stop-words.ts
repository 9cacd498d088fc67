import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { place } from '../../node/paths/node-paths.ts';
import { type StepOf, subjectOf } from './context.ts';

const saidAt = (said: readonly string[], key: string): string | undefined =>
  said.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);

/** Whoever is left inside loses its answer by the stop that follows; so may somebody who could not be counted. */
function drainWords(step: StepOf<'script'>, placement: string, left = 'unknown'): readonly Diagnostic[] {
  if (left === '0') return [];
  const isNumber = /^\d{1,9}$/.test(left);
  const detail = isNumber
    ? `${left} requests to ${placement} are still inside when the time to finish is over.`
    : prose`The doorman of ${placement} on ${named(step.node)} did not say how many requests are inside until the time was over.`;
  return [diagnose('mesh/cut-off', { subject: subjectOf(step), detail })];
}

/** What a person should know of a step that went well: how a rank ended that it has stopped. */
export function stopWords(step: StepOf<'script'>, said: readonly string[]): readonly Diagnostic[] {
  if (step.act.name === 'drain-door') return drainWords(step, step.act.args.placement, saidAt(said, 'left'));
  if (step.act.name !== 'stop-rank') return [];
  const { placement, beforeReboot } = step.act.args;
  const rank = prose`The rank of ${placement} on ${named(step.node)}`;
  const sample = saidAt(said, 'sample');
  const file = sample === undefined ? '' : `; its stack before that: ${place.log.path}/${escapeText(sample)} there`;
  const processes = saidAt(said, 'processes');
  if (processes !== undefined) {
    const detail = prose`${rank} does not end, not even by KILL (${escapeText(processes)})${file}.`;
    return [diagnose('mesh/left-to-restart', { subject: subjectOf(step), detail })];
  }
  const ended = saidAt(said, 'ended');
  const isKilled = ended === 'killed' || sample !== undefined;
  const killed = prose`${rank} did not end by itself and was killed${file}.`;
  const kill = isKilled ? [diagnose('mesh/killed', { subject: subjectOf(step), detail: killed })] : [];
  if (ended !== 'needs-reboot') return kill;
  const [wired = '', before = ''] = ['wired', 'baseline'].map((key) => saidAt(said, key) ?? 'unknown');
  const numbers = `${escapeText(wired)} bytes stay wired, ${escapeText(before)} were before any rank ran`;
  const fields = { subject: subjectOf(step), detail: prose`${rank} has ended: ${numbers}.` };
  if (beforeReboot) return [...kill, diagnose('mesh/left-to-restart', fields)];
  const hint = prose`Restart it; nothing is started there until then: ${meshwright('reboot', step.node)}`;
  return [...kill, diagnose('mesh/needs-reboot', { ...fields, hint })];
}
