/** What of a command decides how its advice is rendered and followed. */
interface VerbTraits {
  /** It takes `--sim`. */
  readonly reachesNodes?: true;
  /** `looks`: it changes nothing. `asks`: it wants a password or a fingerprint from a person. */
  readonly kind?: 'looks' | 'asks';
  /** It takes names or `--all`: without any, advice is about whatever its finding names. */
  readonly takesNames?: true;
}

const reachesNodes = true;
const takesNames = true;

/** Every command that a text may advise. A test compares it with the command line. */
const verbTraits = {
  apply: { reachesNodes },
  ask: { reachesNodes },
  bench: { reachesNodes, kind: 'looks' },
  cables: { reachesNodes, kind: 'looks' },
  demo: {},
  doctor: { reachesNodes, kind: 'looks' },
  drain: { reachesNodes },
  drift: { reachesNodes, kind: 'looks' },
  endpoints: {},
  enroll: { reachesNodes, kind: 'asks' },
  exec: { reachesNodes },
  facts: { reachesNodes, kind: 'looks' },
  fit: { kind: 'looks' },
  forget: { reachesNodes, takesNames },
  graph: { reachesNodes },
  history: { reachesNodes, kind: 'looks' },
  hold: { reachesNodes },
  launch: { reachesNodes },
  'lease release': { reachesNodes },
  'lease status': { reachesNodes },
  logs: { reachesNodes, kind: 'looks' },
  plan: { reachesNodes, kind: 'looks' },
  reboot: { reachesNodes, takesNames },
  release: { reachesNodes, takesNames },
  replace: { reachesNodes, kind: 'asks' },
  restart: { reachesNodes, takesNames },
  rollback: { reachesNodes },
  run: { reachesNodes },
  schema: {},
  secrets: { reachesNodes },
  shutdown: { reachesNodes },
  'sim down': {},
  'sim example': {},
  'sim fault': {},
  'sim hands': {},
  'sim power-on': {},
  'sim status': {},
  'sim up': {},
  start: { reachesNodes, takesNames },
  status: { reachesNodes, kind: 'looks' },
  stop: { reachesNodes, takesNames },
  uninstall: { reachesNodes },
  unlock: { reachesNodes, kind: 'asks' },
  validate: { kind: 'looks' },
} as const satisfies Readonly<Record<string, VerbTraits>>;

/** A command, by the words that name it: `reboot`, `lease status`. */
export type CommandVerb = keyof typeof verbTraits;

/** A word that a person fills in. One of a finding (`its`) stands for the names that the finding is about. */
export interface Blank {
  readonly kind: 'blank';
  readonly text: string;
  readonly isIts: boolean;
}

/** A word of a command. */
export type CommandWord = string | Blank;

/** A command of meshwright that a person can type. `--sim` is added where it is rendered. */
export interface Command {
  readonly kind: 'command';
  readonly verb: CommandVerb;
  readonly words: readonly CommandWord[];
  /** What follows ` -- `. */
  readonly tail: readonly CommandWord[];
  /** It is only mentioned: a person decides whether it helps, and no program is to type it. */
  readonly isAside: boolean;
}

/** A command with its words: `meshwright('reboot', name)`. */
export const meshwright = (verb: CommandVerb, ...words: readonly CommandWord[]): Command => ({
  kind: 'command',
  verb,
  words,
  tail: [],
  isAside: false,
});

/** The same command, followed by ` -- ` and the words of a program. */
export const withTail = (one: Command, ...tail: readonly CommandWord[]): Command => ({ ...one, tail });

/** A command that is only mentioned. */
export const aside = (one: Command): Command => ({ ...one, isAside: true });

/** A word that a person fills in, such as `FILE`. */
export const blank = (text: string): Blank => ({ kind: 'blank', text, isIts: false });

const ofFinding = (text: string): Blank => ({ kind: 'blank', text, isIts: true });

/** Words that stand for what the finding is about. */
export const its = { node: ofFinding('NODE'), placement: ofFinding('PLACEMENT'), name: ofFinding('NAME') } as const;

/** The same for two commands that type the same. */
export const commandKey = ({ verb, words, tail }: Command): string => JSON.stringify([verb, words, tail]);

/** What decides how advice to type a command is rendered and followed. */
export const traitsOf = (verb: CommandVerb): VerbTraits => verbTraits[verb];

/** Whether a word alone is a command that a text may advise. */
export const isCommandVerb = (word: string): word is CommandVerb => Object.hasOwn(verbTraits, word);

/** Every command that a text may advise. */
export const commandVerbs = Object.keys(verbTraits) as readonly CommandVerb[];
