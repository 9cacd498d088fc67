import type { DesiredFleet } from '../../model/desired.ts';
import type { Json } from '../../model/digest.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import type { Known } from '../../model/known.ts';
import type { ScriptArgs, ScriptCall, ScriptName } from '../../model/node-script.ts';
import { type AddressPart, addressed } from '../../model/subject.ts';
import { scriptStep } from '../build-step.ts';
import { compared } from '../compare-values.ts';
import type { FactDefinition } from '../fact.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../resource.ts';
import type { ResourceKind } from '../resource-kind.ts';

/** One property of a setting on one node. `reason` is the key in the file; `part` distinguishes several properties. */
export type SettingProperty = Pick<Property, 'desired' | 'observed' | 'from' | 'to' | 'reason'> & {
  readonly part?: AddressPart;
};

/** Expresses the desired and the observed value in the same words; empty if no value is desired. */
export const settingProperty = <T extends Json>({
  words,
  desired,
  observed,
  ...rest
}: Omit<SettingProperty, 'desired' | 'observed' | 'from' | 'to'> & {
  readonly desired: T | undefined;
  readonly observed: Known<T>;
  readonly words: (value: T) => string;
}): readonly SettingProperty[] => (desired === undefined ? [] : [{ ...rest, ...compared(desired, observed, words) }]);

/** The commands with which `uninstall` restores a Mac's value from before the first change. */
export interface Before {
  /** Shell commands that print the value, run as root. If one fails or prints nothing, the value is unreadable. */
  readonly read: string;
  /** Shell commands that fail if the current value `$o` really differs from `$v`; otherwise the texts must be equal. */
  readonly isBack?: string;
  /** Shell commands that restore `$v`; `$o` is the current value. The exit code of the last command decides. */
  readonly restore: string;
  /** The current value, in the form that `read` prints; `before` is the stored value. */
  readonly now: (facts: Facts, before: string) => Known<string>;
}

/** One macOS setting that one script sets, for the lists of facts, resources, scripts and baseline values. */
interface SettingParts<F extends FactDefinition, S extends ScriptName> {
  /** The kind of its resource, the address of its properties, and the name of its baseline value. */
  readonly kind: ResourceKind;
  readonly fact: F;
  /** The desired properties on a node; empty if the file does not set them. */
  readonly properties: (fleet: DesiredFleet, target: ObservedTarget) => readonly SettingProperty[];
  /** The script. Its text depends on the file and on the properties to change. */
  readonly script: { readonly name: S; readonly text: (args: ScriptArgs[S]) => string };
  readonly args: (fleet: DesiredFleet, made: readonly Property[]) => ScriptArgs[S];
  /** One minute by default. */
  readonly deadlineMs?: number;
  readonly before: Before;
}

/** Splits a setting into its fact, script, baseline value, and the resource that enforces the file's value. */
export function defineSetting<F extends FactDefinition, S extends ScriptName>(parts: SettingParts<F, S>) {
  const { kind, fact, properties, script, args, deadlineMs = 60_000, before } = parts;
  const propertiesOf = (fleet: DesiredFleet, target: ObservedTarget): readonly Property[] =>
    properties(fleet, target).map(({ part, ...rest }) => ({
      node: target.desired.name,
      ...addressed({ kind, ...given({ part }) }),
      ...rest,
    }));
  const resource: Resource = {
    kind,
    after: ['identity', 'sudo'],
    ...perTarget(propertiesOf, (fleet, _target, makes) => {
      const call = { name: script.name, args: args(fleet, makes) } as ScriptCall;
      return [scriptStep({ name: `${kind}/set`, call, makes, deadlineMs })];
    }),
  };
  return { fact, script, before: { key: kind, ...before }, resource };
}
