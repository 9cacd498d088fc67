import { suggesterAmong } from '../../desired/did-you-mean.ts';
import { needsRdma } from '../../desired/layouts.ts';
import { type Diagnostic, hasTrait, isHandsWork } from '../../diagnostics/diagnostic.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Json } from '../../model/digest.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { Known } from '../../model/known.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import { type AddressParts, subjectNodes, typedKind } from '../../model/subject.ts';
import { leftToApply, type Prose } from '../../model/text/prose.ts';
import { linkAddressProperties } from '../../rack/addresses/resource.ts';
import { type ExaminedNode, examine, type FleetObservation, observedNodes } from '../../rack/examination.ts';
import {
  type Blocker,
  judgeProperty,
  propertyKey,
  type Reading,
  type Resource,
  type View,
} from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { settings } from '../../rack/settings/settings.ts';
import { uninstallReadings } from '../../rack/uninstall/uninstall-properties.ts';
import { fleetFindings } from '../diagnose/diagnose-fleet.ts';
import { roleOf } from '../diagnose/rules.ts';
import { type FactName, factsWithoutAnswer, isFactName } from '../observe/facts.ts';
import { resources } from '../resources.ts';

/** Unobserved nodes by name: the code of the first problem (null if the node was not asked) and the reason. */
export type Unreached = Readonly<Record<string, { readonly code: string | null; readonly reason: string }>>;

/** The unobserved nodes among `nodes`, each with its first problem. */
export const unreachedOf = (nodes: readonly string[], { failures }: Pick<FleetObservation, 'failures'>): Unreached =>
  Object.fromEntries(
    nodes.map((node) => {
      const [first] = failures[node] ?? [];
      return [node, { code: first?.code ?? null, reason: first?.summary ?? 'The node was not asked.' }] as const;
    }),
  );

interface ViewParts extends Pick<View, 'desired' | 'observation' | 'goal'> {
  /** The nodes that answered; by default those in the observation. */
  readonly answered?: readonly ExaminedNode[];
  /** The nodes that may be changed. */
  readonly targets: readonly NodeName[];
}

/** Prepares the fleet once for all resources. Ignores names that are not in the file. */
export function viewOf({ desired, observation, targets, answered, ...rest }: ViewParts): View {
  const nodes = answered ?? observedNodes(desired, observation);
  let examination: View['examination'] | undefined;
  let findings: View['findings'] | undefined;
  const view: View = {
    desired,
    observation,
    asked: desired.nodes.map(({ name }) => name).filter((name) => targets.includes(name)),
    ...rest,
    staying: { placements: [], stoppedRanks: [] },
    targets: nodes.filter(({ name }) => targets.includes(name)),
    // Computed on first use, because most gates need neither.
    get examination() {
      examination ??= examine(desired, observation);
      return examination;
    },
    get findings() {
      findings ??= fleetFindings(desired, observation);
      return findings;
    },
    findingBlockers: (kind) => findingBlockers(view, kind),
  };
  return view;
}

/** The role of a finding in this fleet's plan. */
type Meaning = 'reported' | 'converged' | { readonly blocks: ResourceKind };

/** The file's nodes in a finding's subject, in file order. */
const aboutNodes = ({ desired }: View, { subject }: Diagnostic): readonly NodeName[] =>
  subjectNodes(subject).flatMap((name) => desired.nodes.find((node) => node.name === name)?.name ?? []);

const hasNewAddress = (view: View, nodes: readonly NodeName[]): boolean =>
  linkAddressProperties(view).some(
    (property) => nodes.includes(property.node) && judgeProperty(property) === 'differs',
  );

function meaningOf(view: View, finding: Diagnostic): Meaning {
  const role = roleOf(finding.code);
  if (role === 'reported' || role === 'converged') return role;
  if (role === 'converged-by-clock') return view.desired.system.clock === 'set' ? 'converged' : 'reported';
  const nodes = aboutNodes(view, finding);
  if (role === 'converged-by-address') return hasNewAddress(view, nodes) ? 'converged' : 'reported';
  const isNeeded = nodes.some((node) => needsRdma(view.desired, node));
  switch (role.when) {
    case 'bridge-stays':
      return view.desired.thunderbolt.bridge === 'remove' ? 'converged' : role;
    case 'bridge-stays-else-reported':
      return view.desired.thunderbolt.bridge === 'remove' ? 'reported' : role;
    case 'rdma-needed':
      return isNeeded ? role : 'reported';
    case 'rdma-needed-and-addressed':
      if (hasNewAddress(view, nodes)) return 'converged';
      return isNeeded ? role : 'reported';
    default:
      return role;
  }
}

/** apply itself removes the macOS bridges that must be gone before any cable work. */
const actionOf = ({ desired: { thunderbolt } }: View, { hint }: Diagnostic): Prose =>
  thunderbolt.bridge === 'remove' ? leftToApply(hint) : hint;

function blockerOf(view: View, finding: Diagnostic, resource: ResourceKind): readonly Blocker[] {
  const { code } = finding;
  const action = actionOf(view, finding);
  const nodes = aboutNodes(view, finding);
  // A cable has two ends; the blocker is assigned to the node that the action names.
  const place = nodes.find((name) => finding.handsAt?.includes(name) === true);
  const node = place ?? nodes[0];
  const peers = nodes.filter((name) => name !== node);
  return node === undefined ? [] : [{ code, node, resource, action, isHands: isHandsWork(finding), peers, blocks: [] }];
}

/** Merges two links' blockers if one cable move fixes both. */
function joinSame(blockers: readonly Blocker[]): readonly Blocker[] {
  const joined = new Map<string, Blocker>();
  for (const blocker of blockers) {
    const key = `${blocker.code} ${plainText(blocker.action)}`;
    const before = joined.get(key);
    const nodes = [...new Set([...(before?.peers ?? []), blocker.node, ...blocker.peers])];
    const peers = nodes.filter((node) => node !== (before ?? blocker).node);
    joined.set(key, { ...(before ?? blocker), peers });
  }
  return [...joined.values()];
}

/** The doctor findings that block a resource kind, each with its action. */
function findingBlockers(view: View, kind: ResourceKind): readonly Blocker[] {
  const found = view.findings.flatMap((finding) => {
    const meaning = meaningOf(view, finding);
    return typeof meaning !== 'string' && meaning.blocks === kind ? blockerOf(view, finding, kind) : [];
  });
  const isCable = kind === 'thunderbolt-link';
  return isCable ? joinSame(found) : found;
}

/** Findings that block nothing and that apply does not fix in time. Rings of bridged Macs come first. */
export function reportedFindings(view: View): readonly Diagnostic[] {
  const reported = view.findings.filter((finding) => meaningOf(view, finding) === 'reported');
  const isUrgent = (one: Diagnostic): boolean => hasTrait(one, 'urgent');
  return [...reported.filter(isUrgent), ...reported.filter((one) => !isUrgent(one))];
}

/** Suggests valid properties for an `assert` with a property that no Mac in the fleet can have. */
export function unknownProperty(address: string, fleet: DesiredFleet): string | undefined {
  const found = propertiesByFile(fleet);
  const all = [...found.keys()];
  const kind = resources.map((one) => one.kind).find((one) => one === typedKind(address));
  if (found.has(address) || (kind !== undefined && !kindsByFile.includes(kind))) return undefined;
  const near = suggesterAmong(all)(address);
  if (near !== undefined) return `Did you mean \`${near}\`?`;
  const own = all.filter((one) => found.get(one)?.kind === kind);
  return `Valid here: ${listText(own.length > 0 ? own : all)}.`;
}

/** Kinds whose properties depend only on the file. The properties of other kinds also depend on each Mac. */
export const kindsByFile: readonly ResourceKind[] = [
  ...settings.flatMap((one) => ('resource' in one ? [one.resource.kind] : [])),
  ...(['clock', 'thunderbolt-bridge', 'service-order', 'keeper'] as const),
];

/** The addresses of these properties, such as `power/sleep`, derived from the file only. */
export function propertiesByFile(fleet: DesiredFleet): ReadonlyMap<string, AddressParts> {
  const facts = factsWithoutAnswer('not-asked', 'only the file is read');
  const targets = fleet.nodes.map(({ name }) => name);
  const nodes = Object.fromEntries(targets.map((name) => [name, { node: name, facts }]));
  // A playbook is read before the file's placements are resolved.
  const desired = { ...fleet, placements: [], models: [], runtimes: [] };
  const view = viewOf({ desired, observation: { nodes, failures: {} }, targets });
  const own = resources.filter(({ kind }) => kindsByFile.includes(kind));
  const found = own.flatMap((one) => [...one.properties(view), ...(one.readings?.(view) ?? [])]);
  return new Map(found.map(({ address, about }) => [address, about]));
}

/** Each property's value on every observed node, by `<node> <address>`; only those that a resource manages now. */
export function seenProperties(desired: DesiredFleet, observation: FleetObservation): ReadonlyMap<string, Known<Json>> {
  const view = viewOf({ desired, observation, targets: desired.nodes.map(({ name }) => name) });
  return new Map(seenInTurn(view, resources));
}

/** The readings and properties of these resources, followed by values that `uninstall` would restore or remove. */
function* seenInTurn(view: View, ordered: readonly Resource[]): Generator<readonly [string, Known<Json>]> {
  const entry = (one: Reading): readonly [string, Known<Json>] => [propertyKey(one), one.observed];
  for (const resource of ordered) {
    // Readings come first because they need fewer facts. Each is made only when it is asked for.
    for (const one of resource.readings?.(view) ?? []) yield entry(one);
    yield* resource.properties(view).map(entry);
  }
  yield* uninstallReadings(view.desired, view.targets).map(entry);
}

/** The values with these keys, and the facts from which they follow. Observing only these gives the same values. */
export function seenValues(
  desired: DesiredFleet,
  { nodes, failures }: FleetObservation,
  { kind, keys }: { readonly kind: string; readonly keys: readonly string[] },
): { readonly values: ReadonlyMap<string, Known<Json>>; readonly facts: ReadonlySet<FactName> } {
  const facts = new Set<FactName>();
  const watched = (own: Facts): Facts =>
    new Proxy(own, {
      get: (target, name) => {
        if (typeof name === 'string' && isFactName(name)) facts.add(name);
        return Reflect.get(target, name);
      },
    });
  const own = Object.values(nodes).map(({ node, facts: seen }) => [node, { node, facts: watched(seen) }] as const);
  const observation = { nodes: Object.fromEntries(own), failures };
  const answered = observedNodes(desired, { nodes, failures }).map((one) => ({ ...one, facts: watched(one.facts) }));
  const view = viewOf({ desired, observation, answered, targets: desired.nodes.map(({ name }) => name) });
  const isFirst = (one: Resource): boolean => one.kind === kind;
  const ordered = [...resources.filter(isFirst), ...resources.filter((one) => !isFirst(one))];
  const values = new Map<string, Known<Json>>();
  for (const [key, value] of seenInTurn(view, ordered)) {
    if (keys.includes(key)) values.set(key, value);
    if (values.size === keys.length) break;
  }
  return { values, facts };
}
