import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import { canonicalJson, type Json } from '../model/digest.ts';
import type { Facts } from '../model/facts/fact-values.ts';
import type { Known } from '../model/known.ts';
import type { NodeName } from '../model/node.ts';
import type { Change, Patch, Step } from '../model/step.ts';
import type { Addressed } from '../model/subject.ts';
import type { Prose } from '../model/text/prose.ts';
import type { Examination, FleetObservation } from './examination.ts';
import type { ResourceKind } from './resource-kind.ts';

/** A resource that no program can bring to its desired state: it has no properties, only blockers and unknowns. */
export const verifyOnly = ({ gap, ...one }: VerifyOnly): Resource => ({
  properties: () => [],
  steps: () => ({ steps: [] }),
  blockers: ({ findingBlockers }) => findingBlockers(one.kind),
  gaps: ({ desired, targets }) =>
    targets.flatMap((target) => {
      const text = gap?.(target, desired);
      return text === undefined ? [] : [{ node: target.desired.name, resource: one.kind, text }];
    }),
  ...one,
});

type VerifyOnly = Pick<Resource, 'kind' | 'after'> &
  Partial<Pick<Resource, 'blockers' | 'gaps' | 'isPrecondition'>> & {
    /** What of a node is not known; undefined where all of it is. */
    readonly gap?: (target: ObservedTarget, fleet: DesiredFleet) => string | undefined;
  };

/** Whether a property is known to be as it should be, known to differ, or not known. */
export function judgeProperty({ desired, observed }: Property): 'met' | 'differs' | 'unknown' {
  if (observed.kind === 'unknown') return 'unknown';
  return canonicalJson(observed.value) === canonicalJson(desired) ? 'met' : 'differs';
}

/** The change that a differing property asks for. */
export const changeOf = (property: Property): Change => ({
  id: propertyKey(property),
  resource: property.address,
  about: property.about,
  node: property.node,
  from: property.from,
  to: property.to,
  reason: property.reason,
});

/** The properties that these changes are about. */
export function changedProperties(changes: readonly Change[], properties: readonly Property[]): readonly Property[] {
  const ids = new Set(changes.map(({ id }) => id));
  return properties.filter((one) => ids.has(propertyKey(one)));
}

/** Properties and steps of what is kept target by target: `stepsOf` gets those that are to be changed there, at least one. */
export const perTarget = (
  propertiesOf: (fleet: DesiredFleet, target: ObservedTarget) => readonly Property[],
  stepsOf: (fleet: DesiredFleet, target: ObservedTarget, makes: readonly Property[]) => readonly Step[],
): Pick<Resource, 'properties' | 'steps'> => ({
  properties: ({ desired, targets }) => targets.flatMap((target) => propertiesOf(desired, target)),
  steps: (changes, { desired, targets }) => ({
    steps: targets.flatMap((target) => {
      const makes = changedProperties(changes, propertiesOf(desired, target));
      return makes.length === 0 ? [] : stepsOf(desired, target, makes);
    }),
  }),
});

/** What steps that change these properties establish. */
export const patchesOf = (properties: readonly Property[]): readonly Patch[] =>
  properties.map(({ node, address, about, desired }) => ({ node, address, about, value: desired }));

/** `studio-1 power/sleep`: one property of one node, the same in changes, gates and the lists of what waits. */
export const propertyKey = ({ node, address }: { readonly node: NodeName; readonly address: string }): string =>
  `${node} ${address}`;

/** The node and the address in a key that a journal has kept. */
export function readPropertyKey(key: string): { readonly node: string; readonly address: string } {
  const [node = '', ...address] = key.split(' ');
  return { node, address: address.join(' ') };
}

/** Every node that a property lives on, or that a blocker blocks. */
export const nodesOf = ({ node, peers = [] }: Pick<Property, 'node' | 'peers'>): readonly NodeName[] => [
  node,
  ...peers,
];

/** A node that was asked for and that answered. */
export interface ObservedTarget {
  readonly desired: DesiredNode;
  readonly facts: Facts;
}

/** What a resource may look at. */
export interface View {
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  /** Every targeted node, sorted by name, also those that did not answer. */
  readonly asked: readonly NodeName[];
  /** Nodes that the goal restarts or switches off, when everything else of it is done. */
  readonly restarting: readonly NodeName[];
  /** Whether the goal takes doormen away that the file does not have, behind whose doors placements may still serve. */
  readonly endsDoormen: boolean;
  /** Placements that the goal stops, and that are started again when it is reached. */
  readonly comingBack: readonly string[];
  /**
   * Placements that this plan does not stop or move back from their fallback, though the file wants it: what is started
   * on their nodes is started beside them.
   */
  readonly staying: readonly string[];
  /** Keys of ranks of those that this plan stops all the same, each by itself. */
  readonly stopping: readonly string[];
  /** Targeted nodes that answered, by name. Nodes that did not are nobody's to change. */
  readonly targets: readonly ObservedTarget[];
  /** File and observation side by side, cables judged; computed once. */
  readonly examination: Examination;
  /** What the doctor says about the fleet; computed once. */
  readonly findings: readonly Diagnostic[];
  /** The findings that stop a kind of resource, each with its one thing to do. */
  readonly findingBlockers: (kind: ResourceKind) => readonly Blocker[];
}

/** One property of one node: what it is to be, and what it is. */
export interface Property extends Addressed {
  readonly node: NodeName;
  readonly desired: Json;
  readonly observed: Known<Json>;
  /** In words, for the plan. */
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  /** Why it is unknown, where that is more than the reason of a fact. */
  readonly why?: string;
  /** Other nodes that it lives on, as the members of a placement: what blocks them keeps it waiting too. */
  readonly peers?: readonly NodeName[];
  /** Whether it is about something that answers now and is to come back: what keeps it waiting keeps restarts waiting. */
  readonly isAtStake?: true;
  /** The kinds whose blockers keep it waiting, when they are not those of {@link Resource.after}. */
  readonly after?: readonly ResourceKind[];
}

/** Something that gates compare and that is nobody's to change by itself: it follows from other properties. */
export type Sight = Pick<Property, 'node' | 'address' | 'about' | 'observed'>;

/** What apply cannot do, or may not do by itself. It blocks its own resource on its nodes, and all that comes after. */
export interface Blocker {
  readonly code: string;
  readonly node: NodeName;
  /** The kind of resource that it belongs to. */
  readonly resource: ResourceKind;
  /** The one property of its resource that it blocks; all of them on this node when absent. */
  readonly property?: Addressed;
  /** What to do, whole, exact to the receptacle. */
  readonly action: Prose;
  /** Set where the next apply brings what is missing at its address. */
  readonly isBroughtByApply?: true;
  /** Whether hands at the rack can do it; else the action names a verb or an edit of the file. */
  readonly isHands: boolean;
  /** Other nodes that it keeps waiting as well, such as that of the far end of a cable. */
  readonly peers: readonly NodeName[];
  /** Addresses with their nodes that wait for it: `studio-3 placement/kimi`; filled in by the plan. */
  readonly blocks: readonly string[];
}

/** What nobody could see and what a resource depends on: neither right nor wrong, so that it and all that comes after waits. */
export interface Gap {
  readonly node: NodeName;
  readonly resource: ResourceKind;
  /** Other nodes that it is about as well, such as that of the far end of a cable. */
  readonly peers?: readonly NodeName[];
  /** What is not known: `whether RDMA is enabled`. */
  readonly text: string;
}

/** One kind of thing that meshwright keeps in its desired state. Pure: everything follows from the view. */
export interface Resource {
  readonly kind: ResourceKind;
  /** Kinds whose steps on a node come before this one's there; their blockers keep this one waiting. */
  readonly after: readonly ResourceKind[];
  /** Every property that it keeps, met or not. One that nobody could see is `unknown`, and never a change. */
  readonly properties: (view: View) => readonly Property[];
  /** What gates may wait for beside the properties. */
  readonly sights?: (view: View) => readonly Sight[];
  /**
   * The steps that make these changes, all of this kind; called only when there are some. `needs` name steps of the
   * same resource; those on earlier resources are added by the plan from `after`, `node` and `peers`.
   */
  readonly steps: (changes: readonly Change[], view: View) => ResourceSteps;
  readonly blockers?: (view: View) => readonly Blocker[];
  readonly gaps?: (view: View) => readonly Gap[];
  /** What is only worth telling. */
  readonly notices?: (view: View) => readonly Diagnostic[];
  /** Set where goals that change a node need it: its blockers and unknowns keep everything else on the node waiting. */
  readonly isPrecondition?: true;
  /** What is different about it while Macs are uninstalled; absent where that is not its matter. */
  readonly onUninstall?: (uninstallation: Uninstallation) => Partial<Resource>;
}

/** The Macs that are to be as they were before meshwright, and the placements that are stopped for it. */
interface Uninstallation {
  readonly nodes: readonly NodeName[];
  readonly placements: readonly string[];
}

/** Those properties of a resource that lie on these nodes. */
export const propertiesOn =
  ({ properties }: Pick<Resource, 'properties'>, nodes: readonly NodeName[]): Resource['properties'] =>
  (view) =>
    properties(view).filter(({ node }) => nodes.includes(node));

/** Steps of a resource, with what cleans up when a group of them fails. */
export interface ResourceSteps {
  readonly steps: readonly Step[];
  readonly rescues?: readonly { readonly group: string; readonly steps: readonly Step[] }[];
}
