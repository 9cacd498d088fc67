import { inRange } from '../../desired/version-range.ts';
import { exoCards } from './tables.generated.ts';
import type { ExoCard } from './tables.ts';

const cards: ReadonlyMap<string, ExoCard> = new Map(
  exoCards.flatMap(({ owner, models, ...card }) => models.map((name) => [`${owner}/${name}`, card] as const)),
);

/** The card that an exo version has for a repository. */
export function exoCard(repository: string, version: string): ExoCard | undefined {
  const card = cards.get(repository);
  return card !== undefined && inRange(version, card.versions) ? card : undefined;
}
