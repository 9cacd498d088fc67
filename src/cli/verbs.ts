import type { ListedVerb, Verb } from './verb.ts';
import { actVerbs } from './verbs-act.ts';
import { changeVerbs } from './verbs-change.ts';
import { lookVerbs } from './verbs-look.ts';
import { modelVerbs } from './verbs-models.ts';
import { ownVerbs } from './verbs-own.ts';
import { setUpVerbs } from './verbs-set-up.ts';

const groups: Readonly<Record<string, readonly ListedVerb[]>> = {
  'Set up:': setUpVerbs,
  'Change:': changeVerbs,
  'Models:': modelVerbs,
  'Look:': lookVerbs,
  'Act:': actVerbs,
  'Tools:': ownVerbs,
};

/** The commands that users need every day, which come first in the help. */
const everyday = ['plan', 'apply', 'status', 'doctor', 'restart', 'ask', 'logs', 'endpoints'];

/** All commands in `--help` order. */
export const verbs: readonly Verb[] = Object.entries(groups)
  .flatMap(([group, listed]) =>
    listed.map((verb) => ({
      uses: [],
      options: [],
      ...verb,
      group: everyday.includes(verb.name) ? 'Everyday:' : group,
    })),
  )
  .sort((one, other) => placeOf(one) - placeOf(other));

/** These commands come first, in list order; the sort keeps the order of all others. */
function placeOf({ name }: Verb): number {
  const place = everyday.indexOf(name);
  return place < 0 ? everyday.length : place;
}
