import { diagnose } from '../../diagnostics/diagnose.ts';
import { reasonWords, withCommands } from '../../diagnostics/prose-text.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { UnknownReason } from '../../model/known.ts';
import { groupBy } from '../../model/lists.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { thunderboltFact } from '../../rack/cables/fact.ts';
import type { Rule } from '../../rack/define-rule.ts';
import type { ExaminedNode } from '../../rack/examination.ts';
import { factNamed, read, readValue } from '../../rack/fact.ts';
import { hasRdmaInSettings, isTooOldForRdma } from '../../rack/macos/reading.ts';
import { thunderboltInterfaces } from '../../rack/network/interfaces-reading.ts';
import { hardwarePortsFact } from '../../rack/network/services-fact.ts';
import { rdmaDevicesFact } from '../../rack/rdma/devices-fact.ts';
import type { FactName } from '../observe/facts.ts';

const rdmaFacts: readonly FactName[] = ['rdma-state', 'rdma-devices', 'rdma-ports', 'other-rdma-devices'];
const cutReasons: readonly UnknownReason[] = ['truncated', 'garbled', 'not-asked', 'unreachable'];

/** True for unknown facts that need no separate finding: no RDMA tools on an old macOS, or a broken connection. */
function isExplained(node: ExaminedNode, name: FactName, reason: UnknownReason, hasFailed: boolean): boolean {
  const isOldTool = reason === 'tool-missing' && rdmaFacts.includes(name) && isTooOldForRdma(node);
  return isOldTool || (hasFailed && cutReasons.includes(reason));
}

/** A node's unknown facts that meshwright needs, by name. */
export function unknownFacts({
  facts,
}: ExaminedNode): readonly { readonly name: FactName; readonly reason: UnknownReason }[] {
  const names = Object.keys(facts).filter((key): key is FactName => key in facts);
  return names.toSorted().flatMap((name) => {
    const fact = factNamed(facts, name);
    return fact.kind === 'unknown' && !isOptionalFact(name, facts) ? [{ name, reason: fact.reason }] : [];
  });
}

/** True if no receptacle has an interface, because all ports have unexpected (truncated or localized) names. */
function isWithoutReceptacle({ facts }: ExaminedNode): boolean {
  const hasNone = readValue(facts, thunderboltFact)?.length === 0;
  return read(facts, hardwarePortsFact).kind === 'known' && !hasNone && thunderboltInterfaces(facts) === undefined;
}

/** Receptacles whose bus is unreadable, on a Mac where others are readable. */
function unreadReceptacles({ facts }: ExaminedNode): readonly string[] {
  const unread = readValue(facts, thunderboltFact)?.filter(({ state }) => state === 'unknown') ?? [];
  const numbers = unread.map(({ receptacle }) => receptacle).toSorted((a, b) => a - b);
  return numbers.length === 0 ? [] : [`thunderbolt (no readable bus for receptacle ${numbers.join(', ')})`];
}

/** One finding per node that lists its unknown facts with their reasons. */
export const unknownFactsRule: Rule = ({ nodes, failures }) =>
  nodes.flatMap((node) => {
    const hasFailed = (failures[node.name] ?? []).length > 0;
    const unknown = unknownFacts(node).filter(({ name, reason }) => !isExplained(node, name, reason, hasFailed));
    const grouped = [...groupBy(unknown, (fact) => reasonWords[fact.reason])].map(
      ([words, facts]) => `${facts.map((fact) => fact.name).join(', ')} (${words})`,
    );
    const listed = [
      ...grouped,
      ...unreadReceptacles(node),
      ...(isWithoutReceptacle(node) ? ['hardware-ports (no receptacle among them)'] : []),
    ];
    if (listed.length === 0) return [];
    return [
      diagnose('fact/unknown', {
        subject: nodeSubject(node.name),
        detail: `Unknown: ${listed.join('; ')}.`,
        hint: withCommands('See why', [meshwright('facts', node.name)]),
      }),
    ];
  });

/** Facts that only add precision to hints or certainty to findings. */
const optionalFacts: readonly FactName[] = ['software-updates', 'receptacle-places', 'dhcp-leases', 'model-copies'];

/** Facts about RDMA objects. If no RDMA device is known, the driver may not be loaded. */
const kernelFacts: readonly FactName[] = ['rdma-objects', 'rdma-holders'];

/** True if a fact can remain unknown without a finding. The RDMA switch matters only from macOS 27 on. */
const isOptionalFact = (name: FactName, facts: Facts): boolean =>
  optionalFacts.includes(name) ||
  (name === 'rdma-switch' && !hasRdmaInSettings(facts)) ||
  (kernelFacts.includes(name) && (readValue(facts, rdmaDevicesFact) ?? []).length === 0);
