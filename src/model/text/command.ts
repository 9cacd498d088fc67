import type { PartsOf } from '../lists.ts';

/** Properties that determine how advice shows a command, and whether programs can run it. */
interface VerbTraits {
  /** Supports `--sim`. */
  readonly reachesNodes?: true;
  /** `reads`: changes nothing. `asks`: needs a password or a fingerprint from a person. */
  readonly kind?: 'reads' | 'asks';
  /** Accepts names or `--all`. In advice without names, the names are those of the finding's subject. */
  readonly takesNames?: true;
}

/** Commands with the same traits. */
const verbs = <Names extends string>(traits: VerbTraits, names: Names) =>
  Object.fromEntries(names.split(', ').map((name) => [name, traits])) as Record<PartsOf<Names, ', '>, VerbTraits>;

/** All commands that advice can contain. A test compares this list with the command line. */
const verbTraits = {
  ...verbs(
    {},
    'demo, endpoints, schema, sim down, sim example, sim fault, sim hands, sim power-on, sim status, sim up',
  ),
  ...verbs({ kind: 'reads' }, 'fit, validate'),
  ...verbs({ reachesNodes: true }, 'apply, ask, drain, exec, graph, hold, launch, lease release, lease status'),
  ...verbs({ reachesNodes: true }, 'models lock, models prune, models pull'),
  ...verbs(
    { reachesNodes: true },
    'recover, rollback, run, secrets, shutdown, uninstall, upgrade macos, upgrade runtime',
  ),
  ...verbs(
    { reachesNodes: true, kind: 'reads' },
    'bench, bundle, cables, doctor, drift, facts, history, logs, models list, models verify, plan, status, wait',
  ),
  ...verbs({ reachesNodes: true, kind: 'asks' }, 'enroll, replace, unlock'),
  ...verbs({ reachesNodes: true, takesNames: true }, 'forget, reboot, release, restart, start, stop'),
};

/** A command's name: `reboot`, `lease status`. */
export type CommandVerb = keyof typeof verbTraits;

/** A placeholder for a person to fill in; with `isIts`, for the names in the finding. */
export interface Blank {
  readonly kind: 'blank';
  readonly text: string;
  readonly isIts: boolean;
}

export type CommandWord = string | Blank;

/** A meshwright command to type. `--sim` is added during rendering. */
export interface Command {
  readonly kind: 'command';
  readonly verb: CommandVerb;
  readonly words: readonly CommandWord[];
  /** The arguments after ` -- `. */
  readonly tail: readonly CommandWord[];
  /** Set if the command is only mentioned: a person decides whether it helps, and programs must not run it. */
  readonly isAside: boolean;
}

/** A command with its arguments: `meshwright('reboot', name)`. */
export const meshwright = (verb: CommandVerb, ...words: readonly CommandWord[]): Command => ({
  kind: 'command',
  verb,
  words,
  tail: [],
  isAside: false,
});

/** The same command, followed by ` -- ` and a program's arguments. */
export const withTail = (one: Command, ...tail: readonly CommandWord[]): Command => ({ ...one, tail });

export const aside = (one: Command): Command => ({ ...one, isAside: true });

/** A placeholder for a person to fill in, such as `FILE`. */
export const blank = (text: string): Blank => ({ kind: 'blank', text, isIts: false });

const ofFinding = (text: string): Blank => ({ kind: 'blank', text, isIts: true });

/** Placeholders for the finding's subject. */
export const its = { node: ofFinding('NODE'), placement: ofFinding('PLACEMENT'), name: ofFinding('NAME') } as const;

export const commandKey = ({ verb, words, tail }: Command): string => JSON.stringify([verb, words, tail]);

export const traitsOf = (verb: CommandVerb): VerbTraits => verbTraits[verb];

export const isCommandVerb = (word: string): word is CommandVerb => Object.hasOwn(verbTraits, word);

export const commandVerbs = Object.keys(verbTraits) as readonly CommandVerb[];
