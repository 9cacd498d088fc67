import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import { canonicalJson, type Json } from '../model/digest.ts';
import type { Facts } from '../model/facts/fact-values.ts';
import type { Known } from '../model/known.ts';
import type { NodeName } from '../model/node.ts';
import type { Change, ChangeKind, Patch, Step } from '../model/step.ts';
import type { Addressed } from '../model/subject.ts';
import type { Prose } from '../model/text/prose.ts';
import type { Examination, FleetObservation } from './examination.ts';
import type { Goal, GoalOf } from './goal.ts';
import type { ResourceKind } from './resource-kind.ts';

/** A resource that meshwright can only check: it has no properties, only blockers and unknowns. */
export const verifyOnly = ({ unobservedText, ...one }: VerifyOnly): Resource => ({
  properties: () => [],
  steps: () => ({ steps: [] }),
  blockers: ({ findingBlockers }) => findingBlockers(one.kind),
  ...(unobservedText && { unobserved: unobservedOn(one.kind, unobservedText) }),
  ...one,
});

type VerifyOnly = Pick<Resource, 'kind' | 'after'> &
  Partial<Pick<Resource, 'blockers' | 'unobserved' | 'isPrecondition'>> & { readonly unobservedText?: UnobservedText };

type UnobservedText = (target: ObservedTarget, fleet: DesiredFleet) => string | undefined;

/** The unobserved dependencies of a resource, at most one on each target. */
export const unobservedOn =
  (resource: ResourceKind, textOf: UnobservedText) =>
  ({ desired, targets }: View): readonly UnobservedDependency[] =>
    targets.flatMap((target) => {
      const text = textOf(target, desired);
      return text === undefined ? [] : [{ node: target.desired.name, resource, text }];
    });

export function judgeProperty({ desired, observed }: Property): 'met' | 'differs' | 'unknown' {
  if (observed.kind === 'unknown') return 'unknown';
  return canonicalJson(observed.value) === canonicalJson(desired) ? 'met' : 'differs';
}

/** Values of things that do not exist or do not run. */
const nothing: readonly Json[] = [null, '', 'absent', 'gone', 'missing', 'none', 'not-placed', 'stopped'];

function isNothing(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object' || value === null) return nothing.some((one) => one === value);
  const { state, ...rest } = value as { readonly [key: string]: Json };
  return Object.keys(rest).length === 0 && isNothing(state);
}

function changeKind({ kind, desired, observed }: Pick<Property, 'kind' | 'desired' | 'observed'>): ChangeKind {
  if (observed.kind === 'unknown') return 'change';
  return kind ?? (isNothing(desired) ? 'remove' : isNothing(observed.value) ? 'add' : 'change');
}

export const changeOf = (property: Property): Change => ({
  id: propertyKey(property),
  resource: property.address,
  about: property.about,
  node: property.node,
  kind: changeKind(property),
  from: property.from,
  to: property.to,
  reason: property.reason,
});

export function changedProperties(changes: readonly Change[], properties: readonly Property[]): readonly Property[] {
  const ids = new Set(changes.map(({ id }) => id));
  return properties.filter((one) => ids.has(propertyKey(one)));
}

/** A resource's properties and steps, target by target. `stepsOf` gets the properties to change, at least one. */
export const perTarget = (
  propertiesOf: (fleet: DesiredFleet, target: ObservedTarget, view: View) => readonly Property[],
  stepsOf: (fleet: DesiredFleet, target: ObservedTarget, makes: readonly Property[]) => readonly Step[],
): Pick<Resource, 'properties' | 'steps'> => ({
  properties: (view) => view.targets.flatMap((target) => propertiesOf(view.desired, target, view)),
  steps: (changes, view) => ({
    steps: view.targets.flatMap((target) => {
      const makes = changedProperties(changes, propertiesOf(view.desired, target, view));
      return makes.length === 0 ? [] : stepsOf(view.desired, target, makes);
    }),
  }),
});

export const patchesOf = (properties: readonly Property[]): readonly Patch[] =>
  properties.map(({ node, address, about, desired }) => ({ node, address, about, value: desired }));

/** `studio-1 power/sleep`: identifies one property of one node in changes, gates and lists of waiting changes. */
export const propertyKey = ({ node, address }: { readonly node: NodeName; readonly address: string }): string =>
  `${node} ${address}`;

/** Splits a property key, such as one from a journal, into node and address. */
export function readPropertyKey(key: string): { readonly node: string; readonly address: string } {
  const [node = '', ...address] = key.split(' ');
  return { node, address: address.join(' ') };
}

/** Every node that a property concerns or a blocker blocks. */
export const nodesOf = ({ node, peers = [] }: Pick<Property, 'node' | 'peers'>): readonly NodeName[] => [
  node,
  ...peers,
];

/** A targeted node that answered. */
export interface ObservedTarget {
  readonly desired: DesiredNode;
  readonly facts: Facts;
}

export interface View {
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  /** Every targeted node, sorted by name, including those that did not answer. */
  readonly asked: readonly NodeName[];
  /** The plan's goal; absent in a view that only compares the file with an observation. */
  readonly goal?: Goal;
  readonly staying: Staying;
  /** Targeted nodes that answered, sorted by name. The plan changes no other node. */
  readonly targets: readonly ObservedTarget[];
  readonly examination: Examination;
  readonly findings: readonly Diagnostic[];
  /** The findings that block a kind of resource, each with one action. */
  readonly findingBlockers: (kind: ResourceKind) => readonly Blocker[];
}

/** What a plan leaves running out of place. */
export interface Staying {
  /** Placements that keep running, unlike in the file, next to ranks that this plan starts on their nodes. */
  readonly placements: readonly string[];
  /** Keys of their single ranks that this plan does stop. */
  readonly stoppedRanks: readonly string[];
}

/** A view with these parts replaced. Unlike a spread, it does not compute the lazy parts. */
export const viewWith = (view: View, parts: Partial<View>): View =>
  Object.create(Object.prototype, {
    ...Object.getOwnPropertyDescriptors(view),
    ...Object.getOwnPropertyDescriptors(parts),
  });

export interface Property extends Addressed {
  readonly node: NodeName;
  readonly desired: Json;
  readonly observed: Known<Json>;
  /** The kind of its change, if the values do not determine it, such as `true` for a bridge that exists. */
  readonly kind?: ChangeKind;
  /** The observed value in words, for the plan. */
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  /** The reason why the observed value is unknown, if the fact's reason is not enough. */
  readonly why?: string;
  /** Set while the desired value is unknown and an apply finds it out first: what `known after` continues with. */
  readonly knownAfter?: string;
  /** Other nodes that it concerns, such as those of a placement: blockers on these nodes also make it wait. */
  readonly peers?: readonly NodeName[];
  /** Set for something that answers now and has to come back: anything that makes it wait also makes restarts wait. */
  readonly isAtStake?: true;
  /** The kinds whose blockers make it wait, if they differ from {@link Resource.after}. */
  readonly after?: readonly ResourceKind[];
}

/** State that gates compare but no step can set, because it follows from other properties. */
export type Reading = Pick<Property, 'node' | 'address' | 'about' | 'observed'>;

/** Something that apply cannot or must not do. It blocks its resource on its nodes, and everything after it. */
export interface Blocker {
  readonly code: string;
  readonly node: NodeName;
  readonly resource: ResourceKind;
  /** The only property that it blocks; if absent, it blocks all of the resource's properties on this node. */
  readonly property?: Addressed;
  /** The complete instruction, exact to the receptacle. */
  readonly action: Prose;
  /** Set if the next apply provides what is missing at its address. */
  readonly isBroughtByApply?: true;
  /** True if a manual step at the rack clears it; otherwise the action names a command or an edit of the file. */
  readonly isHands: boolean;
  /** Other nodes that it blocks, such as the node at the far end of a cable. */
  readonly peers: readonly NodeName[];
  /** The keys of the properties that wait for it, such as `studio-3 placement/kimi`. The plan fills this in. */
  readonly blocks: readonly string[];
}

/** A blocker that no manual step clears and that blocks only its own node. */
export const blocker = <Parts extends Omit<Blocker, 'isHands' | 'peers' | 'blocks'>>(parts: Parts) => ({
  ...parts,
  isHands: false,
  peers: [],
  blocks: [],
});

/** An unobserved dependency of a resource, neither right nor wrong: the resource and everything after it waits. */
export interface UnobservedDependency {
  readonly node: NodeName;
  readonly resource: ResourceKind;
  /** Other nodes that it concerns, such as the node at the far end of a cable. */
  readonly peers?: readonly NodeName[];
  /** The unknown in words: `whether RDMA is enabled`. */
  readonly text: string;
}

/** One kind of thing that meshwright keeps in its desired state. Pure: all results follow from the view. */
export interface Resource {
  readonly kind: ResourceKind;
  /** Kinds whose steps run before this kind's on the same node; blockers of those kinds also make this kind wait. */
  readonly after: readonly ResourceKind[];
  /** Every property that it manages, right or wrong. An unobserved property is `unknown` and never becomes a change. */
  readonly properties: (view: View) => readonly Property[];
  /** Readings that gates may wait for in addition to the properties. */
  readonly readings?: (view: View) => Iterable<Reading>;
  /**
   * The steps for these changes, which are all of this kind; called only if there are any. `needs` names steps of the
   * same resource. The plan adds dependencies on earlier resources from `after`, `node` and `peers`.
   */
  readonly steps: (changes: readonly Change[], view: View) => ResourceSteps;
  readonly blockers?: (view: View) => readonly Blocker[];
  readonly unobserved?: (view: View) => readonly UnobservedDependency[];
  /** Remarks that block nothing. */
  readonly notices?: (view: View) => readonly Diagnostic[];
  /** Set if every change of a node needs it: its blockers and unknowns make everything else on the node wait. */
  readonly isPrecondition?: true;
  /** Its overrides while Macs are uninstalled; absent if `uninstall` does not remove what the resource manages. */
  readonly onUninstall?: (goal: GoalOf<'uninstall'>) => Partial<Resource>;
}

export const propertiesOn =
  ({ properties }: Pick<Resource, 'properties'>, nodes: readonly NodeName[]): Resource['properties'] =>
  (view) =>
    properties(view).filter(({ node }) => nodes.includes(node));

/** Steps of a resource, with the steps that clean up when a group fails. */
export interface ResourceSteps {
  readonly steps: readonly Step[];
  readonly rescues?: readonly { readonly group: string; readonly steps: readonly Step[] }[];
}
