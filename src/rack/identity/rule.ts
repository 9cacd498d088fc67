import { paceOf } from '../../desired/fit-macs.ts';
import { layoutsOf } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { identityDigest } from '../../model/facts/mac.ts';
import { macModel, macModelsDate } from '../../model/macs.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject, nodesSubject, placementSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import { defineNodeRule, defineRule, type Rule } from '../define-rule.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { read, readValue } from '../fact.ts';
import { hardwareFact, identityFact } from './fact.ts';
import { hardwareDifferences, isOtherMac, nodesOfOneMac } from './reading.ts';

/** Macs whose model is in neither the file nor the table of Macs. An unknown model in the file is reported with the file. */
export const unknownModel: Rule = ({ nodes, desired }) =>
  nodes.flatMap(({ name, facts }) => {
    const hardware = read(facts, hardwareFact);
    const isDeclared = desired.nodes.some((node) => node.name === name && node.hardware.model !== undefined);
    if (isDeclared || hardware.kind === 'unknown' || macModel(hardware.value.model) !== undefined) return [];
    const detail = `${hardware.value.model} (${hardware.value.chip}) is not in the table of Macs from ${macModelsDate}.`;
    const hint = 'Nothing to do: the Mac itself reports its receptacles. A newer meshwright may know the model.';
    return [diagnose('topology/unknown-model', { subject: nodeSubject(name), detail, hint })];
  });

/** The Macs that set the pace of a placement, if the Macs report models that the file does not declare. */
export const unequalMacs: Rule = ({ desired, nodes }) =>
  desired.placements.flatMap(layoutsOf).flatMap(({ name, nodes: own, ownLayout }) => {
    const declaredOf = (node: NodeName): string | undefined =>
      desired.nodes.find((one) => one.name === node)?.hardware.model;
    const isDeclared = own.every((node) => declaredOf(node) !== undefined);
    const macs = own.flatMap((node) => {
      const hardware = readValue(nodes.find((one) => one.name === node)?.facts, hardwareFact);
      const model = hardware?.model ?? declaredOf(node);
      return model === undefined ? [] : [{ name: node, model }];
    });
    const pace = isDeclared || macs.length < own.length ? undefined : paceOf(macs);
    if (pace === undefined) return [];
    const detail = ownLayout === undefined ? pace.detail : `On its fallback: ${pace.detail}`;
    return [diagnose('placement/unequal-macs', { subject: placementSubject(name), detail })];
  });

function isSeenAs({ identity }: DesiredNode, facts: ExaminedNode['facts']): boolean {
  const seen = readValue(facts, identityFact);
  return identity !== undefined && seen !== undefined && identityDigest(seen) === identity;
}

function wrongMacHint({ desired }: Examination, { name, desired: own, facts }: ExaminedNode): Prose {
  const serial = readValue(facts, identityFact)?.serial;
  const declared = desired.nodes.find((node) => node.name !== name && node.hardware.serial === serial);
  const known = desired.nodes.find((node) => node.name !== name && isSeenAs(node, facts));
  if (known !== undefined)
    return prose`This is the Mac of ${known.name}: correct the addresses of ${named(name)} and ${known.name} in the file.`;
  if (isOtherMac({ desired: own, facts })) {
    const replace = withCommands('If you replaced the Mac', [meshwright('replace', name)]);
    return prose`${replace}\nOtherwise correct the address (${own.host}) in the file.`;
  }
  return serial !== undefined && declared !== undefined
    ? prose`This is the Mac of ${declared.name}: correct the addresses of ${named(name)} and ${declared.name} in the file.`
    : prose`Correct the address (${own.host}) or the hardware section of ${named(name)} in the file.`;
}

/** Nodes whose address leads to a Mac that the file does not describe. {@link sameMac} reports a Mac of several nodes. */
export const wrongMac = defineNodeRule(
  {
    'identity/wrong-mac': {
      summary: 'The Mac that answers is not the one in the file.',
      cause:
        "Its serial number, model or memory differs from the node's hardware section, or the lock has a different Mac.",
      hint: "Correct this node's address or hardware section in the file.",
      role: { blocks: 'identity' },
      facts: [identityFact],
    },
  },
  (node, examination) => {
    const isTwin = nodesOfOneMac(examination).flat().includes(node);
    const found = isTwin ? [] : hardwareDifferences(node);
    const detail = prose`A different Mac answers as ${named(node.name)}: ${found.join('; ')}.`;
    return found.length === 0 ? [] : { code: 'identity/wrong-mac', detail, hint: wrongMacHint(examination, node) };
  },
);

/** If the Mac's hardware fits only one of the nodes, the addresses of the others are wrong. */
function sameMacHint(same: readonly ExaminedNode[]): string {
  const names = same.map((node) => node.name);
  const fitting = same.filter((node) => hardwareDifferences(node).length === 0);
  const [only] = fitting;
  if (only === undefined || fitting.length > 1) return `Correct the addresses of ${names.join(' and ')} in the file.`;
  const others = names.filter((name) => name !== only.name).join(' and ');
  return `Correct the address of ${others} in the file: the hardware belongs to ${only.name}.`;
}

/** Nodes that answer with the same hardware UUID and so are one Mac at several addresses. */
export const sameMac = defineRule(
  {
    'identity/same-mac': {
      summary: 'Several nodes in the file are the same Mac.',
      cause: "The same hardware UUID answered at more than one address, so nothing is known about these nodes' cables.",
      hint: 'Correct the addresses in the file.',
      role: { blocks: 'identity' },
      facts: [identityFact],
    },
  },
  (examination) =>
    nodesOfOneMac(examination).map((same) => {
      const hosts = same.map((node) => prose`${named(node.name)} (${node.desired.host})`);
      return {
        code: 'identity/same-mac',
        subject: nodesSubject(same.map((node) => node.name)),
        detail: prose`${joinProse(hosts, ' and ')} are the same Mac.`,
        hint: sameMacHint(same),
      };
    }),
);
