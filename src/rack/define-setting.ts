import type { DesiredFleet } from '../model/desired.ts';
import type { Json } from '../model/digest.ts';
import type { Facts } from '../model/facts/fact-values.ts';
import { given } from '../model/given.ts';
import type { Known } from '../model/known.ts';
import type { ScriptArgs, ScriptCall, ScriptName } from '../model/node-script.ts';
import { type AddressPart, addressed } from '../model/subject.ts';
import { scriptStep } from './build-step.ts';
import type { FactDefinition } from './fact.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from './resource.ts';
import type { ResourceKind } from './resource-kind.ts';
import { compared } from './seen-fact.ts';

/** One property of a setting on one node; `reason` is the key of the file, `part` which one, where the setting has several. */
export type Wish = Pick<Property, 'desired' | 'observed' | 'from' | 'to' | 'reason'> & { readonly part?: AddressPart };

/** What a property is to be and what it is, both in the same words; none where nothing is desired. */
export const wish = <T extends Json>({
  words,
  desired,
  observed,
  ...rest
}: Omit<Wish, 'desired' | 'observed' | 'from' | 'to'> & {
  readonly desired: T | undefined;
  readonly observed: Known<T>;
  readonly words: (value: T) => string;
}): readonly Wish[] => (desired === undefined ? [] : [{ ...rest, ...compared(desired, observed, words) }]);

/** How `uninstall` gives a Mac back what it had before the first change, as a short text of our own. */
export interface Before {
  /** Commands of sh, as root, that print the value; when one fails or nothing is printed, it could not be read. */
  readonly read: string;
  /**
   * Commands of sh that fail when `$o`, which is there now, is not `$v` in what counts; without them the two are equal
   * texts.
   */
  readonly isBack?: string;
  /** Commands of sh that set it back from `$v`, knowing `$o`; a last one that fails has failed. */
  readonly restore: string;
  /** The value as it is now, as `read` prints it; `before` is what was kept. */
  readonly now: (facts: Facts, before: string) => Known<string>;
}

/**
 * One setting of macOS that one script sets. The lists of facts, resources, scripts and values of before take their
 * parts of it.
 */
interface SettingParts<F extends FactDefinition, S extends ScriptName> {
  /** The kind of its resource, the address of its properties and the name of what is kept of before. */
  readonly kind: ResourceKind;
  readonly fact: F;
  /** What the file wants of it on a node; empty where the file leaves it as it is. */
  readonly wishes: (fleet: DesiredFleet, target: ObservedTarget) => readonly Wish[];
  /** The script, and what its text depends on: what the file wants, and those properties that it has to change. */
  readonly script: { readonly name: S; readonly text: (args: ScriptArgs[S]) => string };
  readonly args: (fleet: DesiredFleet, made: readonly Property[]) => ScriptArgs[S];
  /** A minute unless given. */
  readonly deadlineMs?: number;
  readonly before: Before;
}

/** The parts of a setting, each as the list of its kind wants it. */
export function defineSetting<F extends FactDefinition, S extends ScriptName>(parts: SettingParts<F, S>) {
  const { kind, fact, script, before } = parts;
  return { fact, script, before: { key: kind, ...before }, resource: settingResource(parts) };
}

/** The resource that keeps a setting, where the file has a wish for it. */
function settingResource<F extends FactDefinition, S extends ScriptName>(setting: SettingParts<F, S>): Resource {
  const { kind, wishes, script, args, deadlineMs = 60_000 } = setting;
  const propertiesOf = (fleet: DesiredFleet, target: ObservedTarget): readonly Property[] =>
    wishes(fleet, target).map(({ part, ...rest }) => ({
      node: target.desired.name,
      ...addressed({ kind, ...given({ part }) }),
      ...rest,
    }));
  return {
    kind,
    after: ['identity', 'sudo'],
    ...perTarget(propertiesOf, (fleet, { desired: { name: node } }, makes) => {
      const call = { name: script.name, args: args(fleet, makes) } as ScriptCall;
      return [scriptStep({ node, resource: kind, name: `${kind}/set`, call, makes, deadlineMs })];
    }),
  };
}
