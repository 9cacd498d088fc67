/** How a command is shown in advice and followed by programs. */
interface VerbTraits {
  /** It takes `--sim`. */
  readonly reachesNodes?: true;
  /** `looks`: changes nothing. `asks`: needs a password or a fingerprint from a person. */
  readonly kind?: 'looks' | 'asks';
  /** Takes names or `--all`; without names, advice is about the finding's subject. */
  readonly takesNames?: true;
}

const reachesNodes = true;
const takesNames = true;

/** All commands that a text may advise. A test compares them with the command line. */
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

/** A command's name: `reboot`, `lease status`. */
export type CommandVerb = keyof typeof verbTraits;

/** A placeholder for a person to fill in. With `its`, it stands for the names in the finding. */
export interface Blank {
  readonly kind: 'blank';
  readonly text: string;
  readonly isIts: boolean;
}

/** An argument of a command. */
export type CommandWord = string | Blank;

/** A meshwright command to type. `--sim` is added during rendering. */
export interface Command {
  readonly kind: 'command';
  readonly verb: CommandVerb;
  readonly words: readonly CommandWord[];
  /** The arguments after ` -- `. */
  readonly tail: readonly CommandWord[];
  /** Only mentioned: a person decides whether it helps, and programs must not run it. */
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

/** A command that is only mentioned. */
export const aside = (one: Command): Command => ({ ...one, isAside: true });

/** A placeholder for a person to fill in, such as `FILE`. */
export const blank = (text: string): Blank => ({ kind: 'blank', text, isIts: false });

const ofFinding = (text: string): Blank => ({ kind: 'blank', text, isIts: true });

/** Placeholders for the finding's subject. */
export const its = { node: ofFinding('NODE'), placement: ofFinding('PLACEMENT'), name: ofFinding('NAME') } as const;

/** Equal for commands with the same text. */
export const commandKey = ({ verb, words, tail }: Command): string => JSON.stringify([verb, words, tail]);

/** A command's entry in the list above. */
export const traitsOf = (verb: CommandVerb): VerbTraits => verbTraits[verb];

/** Whether a single word is a command that a text may advise. */
export const isCommandVerb = (word: string): word is CommandVerb => Object.hasOwn(verbTraits, word);

export const commandVerbs = Object.keys(verbTraits) as readonly CommandVerb[];
