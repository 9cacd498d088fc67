import type { DesiredFleet } from '../../model/desired.ts';
import { usageError } from '../verb/options.ts';
import type { Run } from '../verb/verb.ts';

/** Names that a hint lists; the rest is counted. */
const mostNames = 8;

/**
 * The words that name targets of a verb that does something: words, `--nodes`, `--label` or `--all`.
 * @throws FleetError `cli/usage` when there is none of them, naming what could be meant.
 */
export function namedTargets(run: Run, fleet: DesiredFleet): readonly string[] {
  const isNarrowed = run.options.nodes !== undefined || run.options.label !== undefined;
  const wantsAll = run.own['all'] === true;
  if (wantsAll && run.words.length > 0) {
    throw usageError('Targets are named and --all is given.', 'Leave one of the two out.');
  }
  if (wantsAll || isNarrowed || run.words.length > 0) return run.words;
  const names = fleet.nodes.slice(0, mostNames).map((node) => node.name);
  const more = fleet.nodes.length > mostNames ? `, ${fleet.nodes.length - mostNames} more` : '';
  throw usageError('No target is named.', `Name nodes (${names.join(', ')}${more}) or say --all.`);
}
