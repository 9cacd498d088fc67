import type { CodeEntry } from '../diagnostics/code-entry.ts';
import type { Json } from '../model/json.ts';
import { type DefinedRule, defineRule, type RuleCode } from './define-rule.ts';
import { type FactDefinition, read } from './fact.ts';
import { type Setting, settingResource } from './setting.ts';

/**
 * All that one setting of macOS consists of. `apply` brings it to its desired value, so its codes never block a plan.
 * The lists of facts, rules, resources and scripts, and the one of all codes, each take their part.
 */
interface SettingParts<N extends string, V extends Json, C extends string> extends Omit<Setting<V>, 'observed'> {
  readonly fact: FactDefinition<N, V>;
  readonly codes: Readonly<Record<C, CodeEntry>>;
  /** What is wrong with it on which nodes. */
  readonly find: Parameters<typeof defineRule<Readonly<Record<C, RuleCode>>>>[1];
  /** Text of the script that `call` names. */
  readonly script: () => string;
}

/** The parts of a setting, each as the list of its kind wants it. */
export function defineSetting<N extends string, V extends Json, C extends string>(parts: SettingParts<N, V, C>) {
  const { fact, find, script } = parts;
  const own = Object.entries<CodeEntry>(parts.codes).map(([code, entry]): readonly [string, RuleCode] => [
    code,
    { ...entry, role: 'converged', facts: [fact.name] },
  ]);
  const rule: DefinedRule<Readonly<Record<C, RuleCode>>> = defineRule(
    Object.fromEntries(own) as Readonly<Record<C, RuleCode>>,
    find,
  );
  return { ...rule, fact, script, resource: settingResource({ ...parts, observed: (facts) => read(facts, fact) }) };
}
