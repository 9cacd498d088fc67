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
import { hasRdmaInSettings, isTooOldForRdma } from '../../rack/macos/macos.ts';
import { hardwarePortsFact } from '../../rack/network/services-fact.ts';
import { thunderboltInterfaces } from '../../rack/network/thunderbolt-interfaces.ts';
import { rdmaDevicesFact } from '../../rack/rdma/devices-fact.ts';
import type { FactName } from '../observe/facts.ts';

const rdmaFacts: readonly FactName[] = ['rdma-state', 'rdma-devices', 'rdma-ports', 'other-rdma-devices'];
const cutReasons: readonly UnknownReason[] = ['truncated', 'garbled', 'not-asked', 'unreachable'];

/** Needs no finding: no RDMA tools on an old macOS, no answers after the connection broke. */
function isExplained(node: ExaminedNode, name: FactName, reason: UnknownReason, hasFailed: boolean): boolean {
  const isOldTool = reason === 'tool-missing' && rdmaFacts.includes(name) && isTooOldForRdma(node);
  return isOldTool || (hasFailed && cutReasons.includes(reason));
}

interface UnknownFact {
  readonly name: FactName;
  readonly reason: UnknownReason;
}

function unknownFacts(node: ExaminedNode, hasFailed: boolean): readonly UnknownFact[] {
  const names = Object.keys(node.facts).filter((key): key is FactName => key in node.facts);
  return names.toSorted().flatMap((name) => {
    const fact = factNamed(node.facts, name);
    return fact.kind === 'unknown' &&
      !isOptionalFact(name, node.facts) &&
      !isExplained(node, name, fact.reason, hasFailed)
      ? [{ name, reason: fact.reason }]
      : [];
  });
}

/** Ports that are all named otherwise (cut short, or in another language) leave every receptacle without interface. */
function isWithoutReceptacle({ facts }: ExaminedNode): boolean {
  const hasNone = readValue(facts, thunderboltFact)?.length === 0;
  return read(facts, hardwarePortsFact).kind === 'known' && !hasNone && thunderboltInterfaces(facts) === undefined;
}

/** Receptacles whose bus cannot be read, beside others that can. */
function unreadReceptacles({ facts }: ExaminedNode): readonly string[] {
  const unread = readValue(facts, thunderboltFact)?.filter(({ state }) => state === 'unknown') ?? [];
  const numbers = unread.map(({ receptacle }) => receptacle).toSorted((a, b) => a - b);
  return numbers.length === 0 ? [] : [`thunderbolt (no readable bus for receptacle ${numbers.join(', ')})`];
}

/** One finding per node that lists what is not known of it, with the reasons. */
export const unknownFactsRule: Rule = ({ nodes, failures }) =>
  nodes.flatMap((node) => {
    const unknown = unknownFacts(node, (failures[node.name] ?? []).length > 0);
    const grouped = [...groupBy(unknown, (fact) => reasonWords[fact.reason])].map(
      ([words, facts]) => `${facts.map((fact) => fact.name).join(', ')} (${words})`,
    );
    const told = [
      ...grouped,
      ...unreadReceptacles(node),
      ...(isWithoutReceptacle(node) ? ['hardware-ports (no receptacle among them)'] : []),
    ];
    if (told.length === 0) return [];
    return [
      diagnose('fact/unknown', {
        subject: nodeSubject(node.name),
        detail: `Unknown: ${told.join('; ')}.`,
        hint: withCommands('See why', [meshwright('facts', node.name)]),
      }),
    ];
  });

/** Facts that only make hints more precise, or without which a finding becomes a suspicion. */
const optionalFacts: readonly FactName[] = ['software-updates', 'receptacle-places', 'dhcp-leases'];

/** Facts about RDMA objects: where no RDMA device is known, the driver may not be loaded. */
const kernelFacts: readonly FactName[] = ['rdma-objects', 'rdma-holders'];

const hasRdmaDevices = (facts: Facts): boolean => {
  const devices = read(facts, rdmaDevicesFact);
  return devices.kind === 'known' && devices.value.length > 0;
};

/** Whether a fact may stay unknown without a finding. The RDMA switch decides something from macOS 27 on only. */
export const isOptionalFact = (name: FactName, facts: Facts): boolean =>
  optionalFacts.includes(name) ||
  (name === 'rdma-switch' && !hasRdmaInSettings(facts)) ||
  (kernelFacts.includes(name) && !hasRdmaDevices(facts));
