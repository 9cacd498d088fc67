import type { ListedVerb, Verb } from './verb.ts';
import { actVerbs } from './verbs-act.ts';
import { changeVerbs } from './verbs-change.ts';
import { lookVerbs } from './verbs-look.ts';
import { ownVerbs } from './verbs-own.ts';
import { setUpVerbs } from './verbs-set-up.ts';

const groups: Readonly<Record<string, readonly ListedVerb[]>> = {
  'Set up:': setUpVerbs,
  'Change:': changeVerbs,
  'Look:': lookVerbs,
  'Act:': actVerbs,
  'Tools:': ownVerbs,
};

/** All commands, in the order of `--help`. */
export const verbs: readonly Verb[] = Object.entries(groups).flatMap(([group, listed]) =>
  listed.map((verb) => ({ uses: [], options: [], ...verb, group })),
);
