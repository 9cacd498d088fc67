import type { Verb } from './verb.ts';
import { actVerbs } from './verbs-act.ts';
import { changeVerbs } from './verbs-change.ts';
import { lookVerbs } from './verbs-look.ts';
import { ownVerbs } from './verbs-own.ts';
import { setUpVerbs } from './verbs-set-up.ts';

/** Every verb, in the order of `--help`. */
export const verbs: readonly Verb[] = [...setUpVerbs, ...changeVerbs, ...lookVerbs, ...actVerbs, ...ownVerbs];
