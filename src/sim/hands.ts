import { plainText } from '../diagnostics/prose-text.ts';
import { given } from '../model/given.ts';
import { type LinkEnd, linkEndText } from '../model/node.ts';
import { type Aimed, aims } from './faults/fault.ts';
import { type Cable, cableAt, farEnd, hangingAt, isFree, isSameEnd, withSwap } from './model/cables.ts';
import { macNamed, type SimulatedFleet, withMac } from './model/fleet.ts';
import { updateTo } from './tools/macos.ts';

export type HandsAct =
  /** Pulls a plug. The cable then hangs from its other end, or is removed if that end is loose. */
  | { readonly kind: 'unplug'; readonly end: LinkEnd }
  /** Plugs in the loose end of a cable that hangs from one of the two receptacles, or a new cable (default 80 Gb/s). */
  | {
      readonly kind: 'plug';
      readonly ends: readonly [LinkEnd, LinkEnd];
      readonly gigabitsPerSecond?: Cable['gigabitsPerSecond'];
    }
  | { readonly kind: 'move'; readonly from: LinkEnd; readonly to: LinkEnd }
  | { readonly kind: 'swap'; readonly ends: readonly [LinkEnd, LinkEnd] }
  /** Installs macOS in System Settings; the caller restarts the Mac. */
  | { readonly kind: 'update'; readonly mac: string; readonly version: string };

/** The rack after an act, with a description without a period; or the reason why the act is impossible. */
type Acted =
  | { readonly kind: 'done'; readonly fleet: SimulatedFleet; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly hint?: string };

const refused = (reason: string, hint?: string): Acted => ({ kind: 'refused', reason, ...given({ hint }) });
const done = (fleet: SimulatedFleet, text: string): Acted => ({ kind: 'done', fleet, text });

const nothingIn = (end: LinkEnd): Acted => refused(`nothing is plugged into ${linkEndText(end)}`);

const takenText = (fleet: SimulatedFleet, end: LinkEnd): string => {
  const cable = cableAt(fleet.cables, end);
  return cable === undefined
    ? `a cable with a loose end is in ${linkEndText(end)}`
    : `the cable ${cable.ends.map(linkEndText).join(' <-> ')} is in ${linkEndText(end)}`;
};

/** The cable then hangs from the far end, or is removed if it was already hanging. */
function unplug(fleet: SimulatedFleet, end: LinkEnd): Acted {
  if (isFree(fleet, end)) return nothingIn(end);
  const cable = cableAt(fleet.cables, end);
  const far = farEnd(fleet.cables, end);
  if (cable === undefined || far === undefined) {
    const hanging = fleet.hanging.filter((one) => !isSameEnd(one.end, end));
    return done({ ...fleet, hanging }, `removed the cable from ${linkEndText(end)}`);
  }
  const { ends: _, strayCarrier: __, ...rest } = cable;
  const cables = fleet.cables.filter((one) => one !== cable);
  const text = `unplugged ${linkEndText(end)}; the cable still hangs from ${linkEndText(far)}`;
  return done({ ...fleet, cables, hanging: [...fleet.hanging, { ...rest, end: far }] }, text);
}

function plugHanging(fleet: SimulatedFleet, from: LinkEnd, into: LinkEnd): Acted {
  const cable = hangingAt(fleet.hanging, from);
  if (cable === undefined) return refused(`no cable hangs from ${linkEndText(from)}`);
  const { end: _, ...rest } = cable;
  const cables: readonly Cable[] = [...fleet.cables, { ...rest, ends: [from, into] }];
  const hanging = fleet.hanging.filter((one) => one !== cable);
  const text = `plugged the loose end of the cable in ${linkEndText(from)} into ${linkEndText(into)}`;
  return done({ ...fleet, cables, hanging }, text);
}

function plug(fleet: SimulatedFleet, { ends, gigabitsPerSecond }: Extract<HandsAct, { kind: 'plug' }>): Acted {
  const [one, other] = ends;
  if (isSameEnd(one, other)) return refused('both ends are the same receptacle');
  const taken = ends.filter((end) => !isFree(fleet, end));
  const hanging = ends.filter((end) => hangingAt(fleet.hanging, end) !== undefined);
  const [from] = hanging;
  const blocked = taken.find((end) => !hanging.includes(end)) ?? hanging[1];
  if (blocked !== undefined) return refused(takenText(fleet, blocked));
  if (from !== undefined) {
    const isOther =
      gigabitsPerSecond !== undefined && hangingAt(fleet.hanging, from)?.gigabitsPerSecond !== gigabitsPerSecond;
    return isOther
      ? refused(`the cable that hangs from ${linkEndText(from)} has a different speed`)
      : plugHanging(fleet, from, from === one ? other : one);
  }
  const cable: Cable = { ends, gigabitsPerSecond: gigabitsPerSecond ?? 80 };
  const kind = cable.gigabitsPerSecond === 80 ? '' : ` with a ${cable.gigabitsPerSecond} Gb/s cable`;
  const text = `plugged in ${ends.map(linkEndText).join(' <-> ')}${kind}`;
  return done({ ...fleet, cables: [...fleet.cables, cable] }, text);
}

function update(fleet: SimulatedFleet, { mac: name, version }: Extract<HandsAct, { kind: 'update' }>): Acted {
  const mac = macNamed(fleet, name);
  if (mac === undefined) return refused(`there is no ${name}`);
  const macos = updateTo(mac, version);
  if (!('build' in macos)) {
    const offered = macos.length === 0 ? 'nothing' : macos.map((one) => `macOS ${one}`).join(' and ');
    const reason = `the Mac ${name} runs macOS ${mac.macos.version} and is offered ${offered}, not macOS ${version}`;
    return refused(reason, macos.length === 0 ? 'Nothing can be installed on it.' : 'Name one of these versions.');
  }
  if (mac.ailments.update === 'stuck') return done(fleet, `started the update of ${name}, which does not end`);
  const updated = withMac(fleet, name, (one) => ({ ...one, installed: macos }));
  return done(updated, `installed macOS ${macos.version} on ${name}, which restarted`);
}

/** Performs one act. Pure; refuses impossible acts, for example a second plug in one receptacle. */
export function acted(fleet: SimulatedFleet, act: HandsAct): Acted {
  switch (act.kind) {
    case 'unplug':
      return unplug(fleet, act.end);
    case 'plug':
      return plug(fleet, act);
    case 'move': {
      const { from, to } = act;
      if (isFree(fleet, from)) return nothingIn(from);
      if (!isFree(fleet, to)) return refused(takenText(fleet, to));
      const text = `moved the end in ${linkEndText(from)} to ${linkEndText(to)}`;
      return done({ ...fleet, ...withSwap(fleet, from, to) }, text);
    }
    case 'swap': {
      const [one, other] = act.ends;
      const empty = act.ends.find((end) => isFree(fleet, end));
      if (empty !== undefined) return nothingIn(empty);
      const cable = cableAt(fleet.cables, one);
      if (isSameEnd(one, other) || (cable !== undefined && cable === cableAt(fleet.cables, other)))
        return refused('both ends belong to the same cable');
      const text = `exchanged the ends in ${linkEndText(one)} and ${linkEndText(other)}`;
      return done({ ...fleet, ...withSwap(fleet, one, other) }, text);
    }
    case 'update':
      return update(fleet, act);
  }
}

export const handsForms = {
  unplug: 'unplug NODE:RECEPTACLE...',
  plug: 'plug NODE:RECEPTACLE NODE:RECEPTACLE [40g]',
  move: 'move NODE:RECEPTACLE NODE:RECEPTACLE',
  swap: 'swap NODE:RECEPTACLE NODE:RECEPTACLE',
  update: 'update NODE... VERSION',
} as const;

type HandsVerb = keyof typeof handsForms;

export const isHandsVerb = (word: string): word is HandsVerb => Object.hasOwn(handsForms, word);

/** The argument for a Thunderbolt 4 cable. */
const slowWord = '40g';

/** The parsed act, or a sentence with the reason why the arguments are invalid, and a hint. */
type ParsedHands =
  | { readonly kind: 'acts'; readonly acts: readonly HandsAct[] }
  | { readonly kind: 'refused'; readonly detail: string; readonly hint: string };

/** Whether an act has the right number of arguments. */
export function isHandsForm([verb = '', ...words]: readonly string[]): boolean {
  if (!isHandsVerb(verb)) return false;
  if (verb === 'unplug') return words.length > 0;
  if (verb === 'update') return words.length > 1 && /^\d{1,3}(?:\.\d{1,3}){0,2}$/.test(words.at(-1) ?? '');
  const hasSpeed = verb === 'plug' && words[2] === slowWord;
  return words.length === (hasSpeed ? 3 : 2);
}

/** Parses `unplug studio-1:2`, `plug studio-1:2 studio-2:2 40g`, `update studio-1 26.7` and the like for this rack. */
export function parseHands(fleet: SimulatedFleet, words: readonly string[]): ParsedHands {
  const [verb = '', ...rest] = words;
  if (!isHandsVerb(verb) || !isHandsForm(words)) {
    const forms = Object.values(handsForms).join(', ');
    return { kind: 'refused', detail: `Unknown manual step: ${words.join(' ')}.`, hint: `Known steps: ${forms}.` };
  }
  if (verb === 'update') {
    const macs = aimedAll(rest.slice(0, -1), (word) => aims.node.aim(fleet, word));
    if ('kind' in macs) return macs;
    return { kind: 'acts', acts: macs.map(({ name }) => ({ kind: verb, mac: name, version: rest.at(-1) ?? '' })) };
  }
  const isSlow = verb === 'plug' && rest.length === 3;
  const ends = aimedAll(isSlow ? rest.slice(0, 2) : rest, (word) => aims.receptacle.aim(fleet, word));
  if ('kind' in ends) return ends;
  return { kind: 'acts', acts: plugActs(verb, ends, isSlow ? 40 : undefined) };
}

/** What these words name, or the first refusal. */
function aimedAll<T>(
  words: readonly string[],
  aim: (word: string) => Aimed<T>,
): readonly T[] | Extract<ParsedHands, { kind: 'refused' }> {
  const found: T[] = [];
  for (const word of words) {
    const aimed = aim(word);
    if (aimed.kind === 'refused')
      return { kind: 'refused', detail: plainText(aimed.diagnostic.detail), hint: plainText(aimed.diagnostic.hint) };
    found.push(aimed.at);
  }
  return found;
}

function plugActs(
  verb: Exclude<HandsVerb, 'update'>,
  ends: readonly LinkEnd[],
  gigabitsPerSecond?: 40,
): readonly HandsAct[] {
  const [one, other] = ends;
  if (verb === 'unplug') return ends.map((end) => ({ kind: verb, end }));
  if (one === undefined || other === undefined) return [];
  if (verb === 'move') return [{ kind: verb, from: one, to: other }];
  return [{ kind: verb, ends: [one, other], ...given({ gigabitsPerSecond }) }];
}
