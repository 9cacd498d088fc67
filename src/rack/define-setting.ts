import { type CodeEntry, type CodesOf, defineCodes } from '../diagnostics/code-entry.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Json } from '../model/json.ts';
import type { Examination } from './examination.ts';
import { type FactDefinition, read } from './fact.ts';
import type { Rule } from './rule.ts';
import { type Setting, settingResource } from './setting.ts';

/**
 * All that one setting of macOS consists of. `apply` brings it to its desired value, so its codes never block a plan.
 * The lists of facts, rules, resources and scripts, and the one of all codes, each take their part.
 */
interface SettingParts<N extends string, V extends Json, C extends Readonly<Record<string, CodeEntry>>>
  extends Omit<Setting<V>, 'observed'> {
  readonly fact: FactDefinition<N, V>;
  readonly codes: C;
  /** What is wrong with it on which nodes. */
  readonly find: (examination: Examination, codes: CodesOf<C>) => readonly Diagnostic[];
  /** Text of the script that `call` names. */
  readonly script: () => string;
}

/** The parts of a setting, each as the list of its kind wants it. */
export function defineSetting<N extends string, V extends Json, C extends Readonly<Record<string, CodeEntry>>>(
  parts: SettingParts<N, V, C>,
) {
  const { fact, find, script } = parts;
  const codes = defineCodes(parts.codes);
  const rule: Rule = (examination) => find(examination, codes);
  return { fact, codes, rule, script, resource: settingResource({ ...parts, observed: (facts) => read(facts, fact) }) };
}
