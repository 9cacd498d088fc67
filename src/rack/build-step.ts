import type { NetworkCall, ScriptCall } from '../model/node-script.ts';
import { type Effect, type Patch, type Step, stepId } from '../model/step.ts';
import { type Property, patchesOf, propertyKey } from './resource.ts';

type CommonParts = Pick<Step, 'deadlineMs'> & {
  /** Unique on its node, such as `power/set`. */
  readonly name: string;
  readonly needs?: readonly Step[];
  readonly effect?: Effect;
};

/** The parts that every step has to set; {@link buildStep} fills in the others. */
export type StepParts = CommonParts &
  Pick<Step, 'act' | 'class'> & {
    /** The properties that have their desired values after this step. */
    readonly makes?: readonly Property[];
    /** The properties that this step only prepares. */
    readonly towards?: readonly Property[];
  };

/** A step without group and peers, on these properties' node. */
function stepAbout(
  [first]: readonly Property[],
  { name, needs = [], effect = { kind: 'none' }, ...rest }: CommonParts & Pick<Step, 'act' | 'class'>,
): Step {
  if (first === undefined) throw new Error(`the step ${name} is about no property`);
  const { node, about } = first;
  return {
    id: stepId(`${node}/${name}`),
    node,
    resource: about.kind,
    effect,
    changes: [],
    needs: needs.map(({ id }) => id),
    peers: [],
    establishes: [],
    ...rest,
  };
}

export function buildStep({ makes = [], towards = [], ...rest }: StepParts): Step {
  const changed = [...makes, ...towards];
  return { ...stepAbout(changed, rest), changes: changed.map(propertyKey), establishes: patchesOf(makes) };
}

/** A script that can be sent again after a new observation. */
export const scriptStep = ({ call, ...rest }: Omit<StepParts, 'act' | 'class'> & { readonly call: ScriptCall }): Step =>
  buildStep({ ...rest, class: 'converge', act: { kind: 'script', ...call } });

/** A network change that the node rolls back unless the run confirms it. Can be sent again after a new observation. */
export const transactionStep = ({
  call,
  ...rest
}: Omit<StepParts, 'act' | 'class' | 'effect'> & { readonly call: NetworkCall }): Step =>
  buildStep({ ...rest, class: 'converge', effect: { kind: 'network' }, act: { kind: 'transaction', ...call } });

/** Observes again until these properties have their desired values and every value in `also` is seen. */
export const gateStep = ({
  awaits,
  also = [],
  ...rest
}: CommonParts & { readonly awaits: readonly Property[]; readonly also?: readonly Patch[] }): Step => {
  const expect = [...patchesOf(awaits), ...also];
  return stepAbout(awaits, { ...rest, class: 'probe', act: { kind: 'gate', expect, aborts: [] } });
};
