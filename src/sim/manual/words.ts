import { plainText } from '../../diagnostics/prose-text.ts';
import type { LinkEnd } from '../../model/link.ts';
import { aimAtReceptacle } from '../faults/fault-targets.ts';
import type { Cable } from '../model/cables/cables.ts';
import type { SimulatedFleet } from '../model/fleet.ts';
import type { HandsAct } from './acts.ts';

/** What the simulated hands can be told to do, with the words that each takes. */
export const handsForms = {
  unplug: 'unplug NODE:RECEPTACLE...',
  plug: 'plug NODE:RECEPTACLE NODE:RECEPTACLE [40g]',
  move: 'move NODE:RECEPTACLE NODE:RECEPTACLE',
  swap: 'swap NODE:RECEPTACLE NODE:RECEPTACLE',
} as const;

/** The first word of what the hands are told. */
export type HandsVerb = keyof typeof handsForms;

/** Whether this is a word that tells the hands what to do. */
export const isHandsVerb = (word: string): word is HandsVerb => Object.hasOwn(handsForms, word);

/** The word for a Thunderbolt 4 cable. */
const slowWord = '40g';

/** What words for the hands come to: their acts, or why not, in a whole sentence with what to do. */
export type ParsedHands =
  | { readonly kind: 'acts'; readonly acts: readonly HandsAct[] }
  | { readonly kind: 'refused'; readonly detail: string; readonly hint: string };

/** Whether a verb of the hands was given as many receptacles as it takes. */
export function isHandsForm([verb = '', ...words]: readonly string[]): boolean {
  if (!isHandsVerb(verb)) return false;
  if (verb === 'unplug') return words.length > 0;
  const hasSpeed = verb === 'plug' && words[2] === slowWord;
  return words.length === (hasSpeed ? 3 : 2);
}

/** Reads `unplug studio-1:2`, `plug studio-1:2 studio-2:2 40g`, `move …` or `swap …` for this rack. */
export function parseHands(fleet: SimulatedFleet, words: readonly string[]): ParsedHands {
  const [verb = '', ...rest] = words;
  if (!isHandsVerb(verb) || !isHandsForm(words)) {
    const forms = Object.values(handsForms).join(', ');
    return { kind: 'refused', detail: `${words.join(' ')} is nothing that hands can do.`, hint: `They can: ${forms}.` };
  }
  const isSlow = verb === 'plug' && rest.length === 3;
  const ends: LinkEnd[] = [];
  for (const word of isSlow ? rest.slice(0, 2) : rest) {
    const aimed = aimAtReceptacle(fleet, word);
    if (aimed.kind === 'refused')
      return { kind: 'refused', detail: plainText(aimed.diagnostic.detail), hint: plainText(aimed.diagnostic.hint) };
    ends.push(aimed.at);
  }
  return { kind: 'acts', acts: actsOf(verb, ends, isSlow ? 40 : undefined) };
}

function actsOf(
  verb: HandsVerb,
  ends: readonly LinkEnd[],
  gigabitsPerSecond: Cable['gigabitsPerSecond'] | undefined,
): readonly HandsAct[] {
  const [one, other] = ends;
  if (verb === 'unplug') return ends.map((end) => ({ kind: 'unplug', end }));
  if (one === undefined || other === undefined) return [];
  switch (verb) {
    case 'plug':
      return [{ kind: 'plug', ends: [one, other], ...(gigabitsPerSecond === undefined ? {} : { gigabitsPerSecond }) }];
    case 'move':
      return [{ kind: 'move', from: one, to: other }];
    case 'swap':
      return [{ kind: 'swap', ends: [one, other] }];
  }
}
