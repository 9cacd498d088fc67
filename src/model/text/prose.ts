import { joinText } from '../lists.ts';
import { everyNodeText, type LinkEnd } from '../node.ts';
import { type Command, type CommandWord, commandKey, traitsOf } from './command.ts';

/** A node's name in a text. Texts that differ only in node names are merged into one that lists all the names. */
export interface NodeMention {
  readonly kind: 'node';
  readonly name: string;
  /** Set if the name precedes the text: `studio-1: `. */
  readonly isLabel?: true;
  /** Set if the name stands for several nodes: `studio-1..4`. */
  readonly isList?: true;
}

/** A prerequisite before the rest of the text: `First …; then `. */
export interface FirstPart {
  readonly kind: 'first';
  readonly act: Prose;
}

/** Work that apply can do if the file allows it, in the imperative: `remove the Thunderbolt Bridge on studio-1`. */
export interface AppliedPart {
  readonly kind: 'applied';
  readonly text: string;
  /** True if the text leaves this work to apply. */
  readonly isLeft: boolean;
}

/** The end of a sentence that is followed by lines to copy; without lines, a period. */
export interface LinesPart {
  readonly kind: 'lines';
  readonly lead: ':' | '.';
  readonly lines: readonly (string | Command)[];
}

/** A part of a text: words, or data to render. */
export type Part = string | Command | NodeMention | FirstPart | AppliedPart | LinesPart;

/** A text for people, rendered by `proseText`. Everything that programs use for decisions is data in the text. */
export type Prose = string | readonly Part[];

export const named = (name: string): NodeMention => ({ kind: 'node', name });

/** One end of a cable in a text: `studio-1:2`. */
export const namedEnd = ({ node, receptacle }: LinkEnd): Prose => [named(node), `:${receptacle}`];

/** Names of nodes in a text: `studio-1..4`. */
export const namedList = (names: readonly string[]): Prose => [
  { kind: 'node', name: everyNodeText(names), ...(names.length > 1 && { isList: true as const }) },
];

/** A node's name as a label before the text about it: `studio-1: `. */
export const labelled = (name: string): NodeMention => ({ kind: 'node', name, isLabel: true });

/** True if the text begins with its node's name as a label. */
export function isLabelled(text: Prose): boolean {
  const [first] = partsOf(text);
  return typeof first === 'object' && first.kind === 'node' && first.isLabel === true;
}

const partsOf = (text: Prose): readonly Part[] => (typeof text === 'string' ? [text] : text);

/** Joins adjacent strings; a text without data becomes a single string. */
function joined(parts: readonly Part[]): Prose {
  const all = joinText(parts);
  const [first = ''] = all;
  return all.length < 2 && typeof first === 'string' ? first : all;
}

/** Template tag for texts that contain data. */
export const prose = (words: TemplateStringsArray, ...values: readonly (Prose | Part | number)[]): Prose =>
  joined(
    words.flatMap((text, index): readonly Part[] => {
      const value = values[index];
      if (value === undefined) return [text];
      if (typeof value === 'number') return [text, String(value)];
      return [text, ...(Array.isArray(value) ? (value as readonly Part[]) : [value as Part])];
    }),
  );

export const joinProse = (texts: readonly Prose[], between: string): Prose =>
  joined(texts.flatMap((text, index) => (index === 0 ? partsOf(text) : [between, ...partsOf(text)])));

export const mapProse = (text: Prose, change: (part: Part) => Part): Prose => joined(partsOf(text).map(change));

export const mapWords = (text: Prose, change: (words: string) => string): Prose =>
  mapProse(text, (part) => (typeof part === 'string' ? change(part) : part));

export const upperFirst = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

export function changeStart(text: Prose, change: (words: string) => string): Prose {
  const [first, ...rest] = partsOf(text);
  return typeof first === 'string' ? joined([change(first), ...rest]) : text;
}

const commandNames = (one: Command, change: (name: string) => readonly string[]): Command => ({
  ...one,
  words: one.words.flatMap((word): readonly CommandWord[] => (typeof word === 'string' ? change(word) : [word])),
});

/** Removes the lines that consist of one of these commands. */
export const withoutLines = (text: Prose, commands: readonly Command[]): Prose =>
  mapProse(text, (part) => {
    if (typeof part === 'string' || part.kind !== 'lines') return part;
    const keys = commands.map(commandKey);
    return {
      ...part,
      lines: part.lines.filter((line) => typeof line === 'string' || !keys.includes(commandKey(line))),
    };
  });

export const mapNames = (text: Prose, change: (name: string) => readonly string[]): Prose =>
  mapProse(text, (part): Part => {
    if (typeof part === 'string') return part;
    switch (part.kind) {
      case 'node':
        return { ...part, name: everyNodeText(change(part.name)) };
      case 'command':
        return commandNames(part, change);
      case 'lines':
        return {
          ...part,
          lines: part.lines.map((line) => (typeof line === 'string' ? line : commandNames(line, change))),
        };
      case 'first':
        return { ...part, act: mapNames(part.act, change) };
      case 'applied':
        return part;
    }
  });

/** Marks the work that apply can do as left to apply. */
export const leftToApply = (text: Prose): Prose =>
  mapProse(text, (part): Part => {
    if (typeof part === 'string') return part;
    if (part.kind === 'first') return { ...part, act: leftToApply(part.act) };
    return part.kind === 'applied' ? { ...part, isLeft: true } : part;
  });

/** Rewrites a text with a prerequisite so that it can follow a different one: `remove …; then put …`. */
export function behindFirst(text: Prose): Prose {
  const [first, ...rest] = partsOf(text);
  return typeof first === 'object' && first.kind === 'first' ? prose`${first.act}; then ${joined(rest)}` : text;
}

export const mentionsAny = (text: Prose, names: readonly string[]): boolean =>
  partsOf(text).some(
    (part) => typeof part === 'object' && part.kind === 'node' && (part.isList === true || names.includes(part.name)),
  );

export function allCommands(text: Prose): readonly Command[] {
  return partsOf(text).flatMap((part) => {
    if (typeof part === 'string') return [];
    if (part.kind === 'first') return allCommands(part.act);
    if (part.kind === 'lines') return part.lines.filter((line) => typeof line !== 'string');
    return part.kind === 'command' ? [part] : [];
  });
}

/**
 * Returns the commands in a text that a program could run, in order. They are complete, change something or measure, and
 * need no input from a person.
 *
 * @param names the names in the finding's subject
 */
export function commandsIn(text: Prose, names: readonly string[] = []): readonly Command[] {
  return allCommands(text).flatMap((one) => {
    const { kind, takesNames } = traitsOf(one.verb);
    const isMeasuring = one.verb === 'cables' && one.words.includes('--measure');
    if (one.isAside || (kind !== undefined && !isMeasuring)) return [];
    const words = one.words.flatMap((word): readonly CommandWord[] =>
      typeof word !== 'string' && word.isIts ? names : [word],
    );
    const isNamed = words.some((word) => typeof word !== 'string' || !word.startsWith('--'));
    if (takesNames === true && !isNamed && names.length === 0) return [];
    const whole = takesNames === true && !isNamed ? [...names, ...words] : words;
    return [...whole, ...one.tail].some((word) => typeof word !== 'string') ? [] : [{ ...one, words: whole }];
  });
}
