import type { NetworkCall, ScriptCall } from '../model/node-script.ts';
import { type Effect, type Patch, type Step, stepId } from '../model/step.ts';
import { type Property, patchesOf, propertyKey } from './resource.ts';
import type { ResourceKind } from './resource-kind.ts';

/** The parts that every step has to set; {@link buildStep} fills in the others. */
export type StepParts = Pick<Step, 'node' | 'act' | 'class' | 'deadlineMs'> & {
  readonly resource: ResourceKind;
  /** Unique on its node, such as `power/set`. */
  readonly name: string;
  /** The properties that have their desired values after this step. */
  readonly makes?: readonly Property[];
  /** The properties that this step only prepares. */
  readonly towards?: readonly Property[];
  readonly needs?: readonly Step[];
  readonly effect?: Effect;
};

/** Builds a step without group and peers. */
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

/** A script that may be sent again after a new observation. */
export const scriptStep = (parts: Omit<StepParts, 'act' | 'class'> & { readonly call: ScriptCall }): Step => {
  const { call, ...rest } = parts;
  return buildStep({ ...rest, class: 'converge', act: { kind: 'script', ...call } });
};

/** A network change that the node rolls back unless the run confirms it. It may be sent again after a new observation. */
export const transactionStep = (
  parts: Omit<StepParts, 'act' | 'class' | 'effect'> & { readonly call: NetworkCall },
): Step => {
  const { call, ...rest } = parts;
  return buildStep({ ...rest, class: 'converge', effect: { kind: 'network' }, act: { kind: 'transaction', ...call } });
};

/** Observes again until every expected value is seen. */
export const gateStep = ({
  expect,
  ...rest
}: Omit<StepParts, 'act' | 'class'> & { readonly expect: readonly Patch[] }): Step =>
  buildStep({ ...rest, class: 'probe', act: { kind: 'gate', expect, aborts: [] } });
