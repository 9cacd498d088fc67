import { addressed } from '../model/address.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { Facts } from '../model/facts/observation.ts';
import type { Json } from '../model/json.ts';
import type { Known } from '../model/known.ts';
import type { ScriptCall } from '../model/node-script.ts';
import { scriptStep } from './build-step.ts';
import { changedProperties } from './change.ts';
import type { ObservedTarget, Property, Resource } from './resource.ts';
import type { ResourceKind } from './resource-kind.ts';
import { knownWords } from './seen-fact.ts';

/** One setting of a Mac that one script sets. */
export interface Setting<T extends Json> {
  /** The kind of the resource, and the address of its one property. */
  readonly kind: ResourceKind;
  /** What the file wants; undefined where it leaves it as it is. */
  readonly wanted: (fleet: DesiredFleet) => T | undefined;
  readonly observed: (facts: Facts) => Known<T>;
  readonly words: (value: T) => string;
  /** The key of the file. */
  readonly key: string;
  readonly call: (wanted: T) => ScriptCall;
}

function propertyOf<T extends Json>(setting: Setting<T>, wanted: T, { desired, facts }: ObservedTarget): Property {
  const observed = setting.observed(facts);
  return {
    node: desired.name,
    ...addressed({ kind: setting.kind }),
    desired: wanted,
    observed,
    from: knownWords(observed, setting.words),
    to: setting.words(wanted),
    reason: setting.key,
  };
}

/** The resource that keeps one setting, where the file has a wish for it. */
export function settingResource<T extends Json>(setting: Setting<T>): Resource {
  const { kind, call } = setting;
  return {
    kind,
    after: ['identity', 'sudo'],
    properties: ({ desired, targets }) => {
      const wanted = setting.wanted(desired);
      return wanted === undefined ? [] : targets.map((target) => propertyOf(setting, wanted, target));
    },
    steps: (changes, { desired, targets }) => {
      const wanted = setting.wanted(desired);
      const steps = targets.flatMap((target) => {
        const makes = wanted === undefined ? [] : changedProperties(changes, [propertyOf(setting, wanted, target)]);
        const { name: node } = target.desired;
        return wanted === undefined || makes.length === 0
          ? []
          : [scriptStep({ node, resource: kind, name: `${kind}/set`, call: call(wanted), makes, deadlineMs: 60_000 })];
      });
      return { steps, rescues: [] };
    },
    blockers: () => [],
  };
}
