import type { NetworkCall, ScriptCall } from '../model/node-script.ts';
import { type Effect, type Patch, type Step, stepId } from '../model/step.ts';
import { type Property, patchesOf, propertyKey } from './resource.ts';
import type { ResourceKind } from './resource-kind.ts';

/** What every step needs to be told; the rest follows, or is nothing. */
export type StepParts = Pick<Step, 'node' | 'act' | 'class' | 'deadlineMs'> & {
  readonly resource: ResourceKind;
  /** What it does, unique on its node: `power/set`. */
  readonly name: string;
  /** The properties that it brings to what is desired. */
  readonly makes?: readonly Property[];
  /** Those for which it only makes something ready. */
  readonly towards?: readonly Property[];
  readonly needs?: readonly Step[];
  readonly effect?: Effect;
};

/** A step without group and peers, named after its node and what it does. */
export function buildStep({ name, makes = [], towards = [], needs = [], effect, ...rest }: StepParts): Step {
  return {
    id: stepId(`${rest.node}/${name}`),
    node: rest.node,
    resource: rest.resource,
    class: rest.class,
    act: rest.act,
    effect: effect ?? { kind: 'none' },
    changes: [...makes, ...towards].map(propertyKey),
    needs: needs.map(({ id }) => id),
    peers: [],
    establishes: patchesOf(makes),
    deadlineMs: rest.deadlineMs,
  };
}

/** A script that may run again after a look. */
export const scriptStep = (parts: Omit<StepParts, 'act' | 'class'> & { readonly call: ScriptCall }): Step => {
  const { call, ...rest } = parts;
  return buildStep({ ...rest, class: 'converge', act: { kind: 'script', ...call } });
};

/** A change of the network, which the node takes back unless it is confirmed. It may run again after a look. */
export const transactionStep = (
  parts: Omit<StepParts, 'act' | 'class' | 'effect'> & { readonly call: NetworkCall },
): Step => {
  const { call, ...rest } = parts;
  return buildStep({ ...rest, class: 'converge', effect: { kind: 'network' }, act: { kind: 'transaction', ...call } });
};

/** Fresh observations until everything that is expected is seen. */
export const gateStep = ({
  expect,
  ...rest
}: Omit<StepParts, 'act' | 'class'> & { readonly expect: readonly Patch[] }): Step =>
  buildStep({ ...rest, class: 'probe', act: { kind: 'gate', expect, aborts: [] } });
