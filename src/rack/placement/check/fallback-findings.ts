import { onFallback } from '../../../desired/layouts.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { withCommands } from '../../../diagnostics/prose-text.ts';
import { placementSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { layoutText } from '../../../model/text/units.ts';
import type { View } from '../../resource.ts';
import { areSeen, awayNodes } from '../state/layouts.ts';
import type { PlacementSurvey } from './placement-survey.ts';

/**
 * Placements that run on their fallback, and those that do not serve while their fallback could be started: each of its
 * nodes was seen.
 */
export const fallbackFindings = (view: View, surveys: readonly PlacementSurvey[]): readonly Diagnostic[] =>
  surveys.flatMap((one) => (one.onFallback === undefined ? offered(one, view) : running(one)));

/** Where it does not serve there; a fallback of which nothing has a process is none that runs. */
const brokenWords: Readonly<Partial<Record<PlacementSurvey['state'], string>>> = {
  hung: ' It gives no token there.',
  partial: ' Some of its ranks do not run there.',
  changed: ' What runs there is not what the file says.',
};

function running(one: PlacementSurvey): readonly Diagnostic[] {
  const { name, nodes, onFallback: there, wanted, state } = one;
  if (there === undefined || wanted === 'stopped') return [];
  const { contextTokens, away } = there;
  const wait = away.length === 0 ? '' : ` To be moved back it waits for ${away.join(', ')}.`;
  const runs = `It runs on its fallback: ${layoutText({ nodes, contextTokens })}.${brokenWords[state] ?? ''}`;
  const detail = `${runs}${wait}`;
  const isBroken = brokenWords[state] !== undefined;
  const hint = withCommands(
    `${isBroken ? 'Restart it there. ' : ''}Once its own nodes can carry it again, move it back, which interrupts it`,
    [...(isBroken ? [meshwright('restart', name)] : []), meshwright('apply', '--allow', 'interrupt')],
  );
  return [diagnose('mesh/on-fallback', { subject: placementSubject(name), detail, hint })];
}

/** States of what was started and is broken; what was never started, or was stopped, only if a node of it is away. */
const broken: readonly PlacementSurvey['state'][] = ['hung', 'partial', 'dead'];

function offered(one: PlacementSurvey, { desired, observation }: View): readonly Diagnostic[] {
  const { name, state, wanted } = one;
  const placement = desired.placements.find((own) => own.name === name);
  if (placement?.fallback === undefined || wanted === 'stopped' || state === 'serving') return [];
  const away = awayNodes(one.nodes, observation);
  if (!areSeen(placement.fallback.nodes, observation) || !(away.length > 0 || broken.includes(state))) return [];
  const why = away.length > 0 ? `Nobody can see ${away.join(', ')}` : 'It does not serve';
  const detail = `${why}; its fallback can be started: ${layoutText(onFallback(placement))}.`;
  const hint = withCommands('Start it there', [meshwright('start', name, '--fallback')]);
  return [diagnose('mesh/fallback-there', { subject: placementSubject(name), detail, hint })];
}
