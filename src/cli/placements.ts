import { didYouMean, listText } from '../desired/did-you-mean.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import type { DesiredFleet, DesiredPlacement } from '../model/desired.ts';
import { usageError } from './options.ts';
import type { Run } from './verb.ts';

/**
 * The placements that the words or `--all` name, in the order of the fleet.
 * @throws FleetError `cli/usage` when nothing is named, `select/unknown-placement` with what could be meant
 */
export function namedPlacements(run: Run, fleet: DesiredFleet): readonly DesiredPlacement[] {
  const wantsAll = run.own['all'] === true;
  if (wantsAll && run.words.length > 0) {
    throw usageError('Placements are named and --all is given.', 'Leave one of the two out.');
  }
  if (!wantsAll && run.words.length === 0) {
    throw usageError('No placement is named.', whatThereIs(fleet, 'Name placements'));
  }
  const problems = run.words.flatMap((word) => unknownPlacement(word, fleet));
  const [first, ...others] = problems;
  if (first) throw new FleetError([first, ...others]);
  const named = fleet.placements.filter(({ name }) => wantsAll || run.words.includes(name));
  if (named.length === 0) throw usageError('The file has no placement that was applied.', 'See: meshwright plan');
  return named;
}

/** One placement by its name. @throws FleetError `select/unknown-placement` */
export function placementNamed(fleet: DesiredFleet, word: string): DesiredPlacement {
  const [problem] = unknownPlacement(word, fleet);
  if (problem) throw new FleetError([problem]);
  const found = fleet.placements.find(({ name }) => name === word);
  if (found === undefined) throw new Error(`placement ${word} was judged to be there`);
  return found;
}

function unknownPlacement(word: string, fleet: DesiredFleet): readonly Diagnostic[] {
  const names = fleet.placements.map(({ name }) => name);
  if (names.includes(word)) return [];
  const onNode = fleet.placements.filter(({ nodes }) => nodes.some((node) => node === word));
  const near = didYouMean(word, names);
  const isNode = fleet.nodes.some(({ name }) => name === word);
  const there =
    onNode.length === 0 ? 'Nothing is placed on it.' : `On it: ${listText(onNode.map(({ name }) => name))}.`;
  const hint = isNode ? there : near === undefined ? whatThereIs(fleet, 'Name one') : `Did you mean \`${near}\`?`;
  const detail = isNode ? `${word} is a node, and placements are named here.` : `There is no placement \`${word}\`.`;
  return [diagnose('select/unknown-placement', { detail, hint, subject: `placement ${word}` })];
}

function whatThereIs({ placements }: DesiredFleet, ask: string): string {
  const names = placements.map(({ name }) => name);
  return names.length === 0 ? 'The file has no placements.' : `${ask} (${names.join(', ')}), or say --all.`;
}
