import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { groupBy } from '../../model/lists.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { addressHint, interfaceHint } from '../addresses/address-hint.ts';
import { linkAt } from '../cabling/judge-cabling.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { cableMethod } from '../network/cable-method.ts';
import { rdmaSeverity } from '../rdma-severity.ts';
import type { Rule } from '../rule.ts';
import { nodeRdma } from './rdma-node.ts';
import { type ReceptacleRdma, receptacleRdma } from './rdma-receptacle.ts';

interface Trouble {
  readonly end: LinkEnd;
  readonly rdma: Exclude<ReceptacleRdma, { kind: 'ready' | 'unknown' }>;
}

function troublesOf(examination: Examination, node: ExaminedNode): readonly Trouble[] {
  const cabled = node.ends.filter((end) => linkAt(examination.cabling.links, end)?.judgement.kind === 'as-declared');
  return cabled.flatMap((end): Trouble[] => {
    const rdma = receptacleRdma(examination, node, end);
    if (rdma.kind === 'ready' || rdma.kind === 'unknown') {
      return [];
    }
    // A far Mac that has a cause of its own is told; a bridge that is to go is told by its own rule.
    const isFarCause = rdma.kind === 'port-down' && rdma.farRdma !== 'ready' && rdma.farRdma !== 'unknown';
    const isBridgeCause = rdma.kind === 'bridged' && examination.desired.thunderbolt.bridge !== 'keep';
    // IPv4 that is switched off is reported as the cause by its own rule.
    const isOffCause =
      rdma.kind === 'no-address' && cableMethod(examination.desired, node.facts, rdma.interfaceName) === 'off';
    return isFarCause || isBridgeCause || isOffCause ? [] : [{ end, rdma }];
  });
}

function places(troubles: readonly Trouble[]): string {
  const each = troubles.map(({ end, rdma }) => `${end.receptacle} (${rdma.interfaceName})`);
  return `${each.length === 1 ? 'Receptacle' : 'Receptacles'} ${each.join(', ')}`;
}

/** The cure that a kernel needs which lost track of a cable; the verb does it in order, and at most once. */
const restart = (sentence: Prose, nodes: readonly string[]): Prose =>
  withCommands(sentence, [meshwright('reboot', ...nodes)]);

function portDown(
  node: string,
  troubles: readonly Trouble[],
  place: string,
): { readonly detail: string; readonly hint: Prose } {
  const far = troubles.flatMap(({ rdma }) => (rdma.kind === 'port-down' ? [rdma] : []));
  const told = far.map((one) => linkEndText(one.far)).join(', ');
  const farNodes = [...new Set(far.map((one) => one.far.node))];
  const nodes = farNodes.join(' and ');
  return far.every((one) => one.farRdma === 'ready')
    ? {
        detail: `${place}: the RDMA port is down, although the cable to ${told} is there and RDMA is enabled at both ends.`,
        hint: restart(`Restart both Macs, this one and ${nodes}`, [node, ...farNodes]),
      }
    : {
        detail: `${place}: the RDMA port is down; whether RDMA is enabled at ${told} is unknown.`,
        hint: withCommands(`Look at the far end first. On ${nodes}`, ['rdma_ctl status']),
      };
}

function tell(examination: Examination, node: ExaminedNode, troubles: readonly Trouble[]): readonly Diagnostic[] {
  const [first] = troubles;
  const about = { subject: nodeSubject(node.name), severity: rdmaSeverity(examination, [node.name]) };
  const place = places(troubles);
  const bare = troubles.map(({ end, rdma }) => ({ end, interfaceName: rdma.interfaceName }));
  switch (first?.rdma.kind) {
    case undefined:
      return [];
    case 'no-device':
      return [
        diagnose('rdma/no-device', {
          ...about,
          detail: `${place}: no RDMA device, although RDMA is enabled.`,
          hint: restart(prose`Restart ${named(node.name)}`, [node.name]),
        }),
      ];
    case 'port-down':
      return [diagnose('rdma/port-down', { ...about, ...portDown(node.name, troubles, place) })];
    case 'bridged':
      return [diagnose('rdma/bridged', { ...about, detail: `${place}: a member of a bridge, so RDMA cannot start.` })];
    case 'port-not-active':
      return [
        diagnose('rdma/port-not-active', {
          ...about,
          detail: `${place}: the RDMA port is neither active nor down, so nothing can use it yet.`,
        }),
      ];
    case 'interface-down':
      return [
        diagnose('rdma/interface-down', {
          ...about,
          detail: `${place}: the interface is down, although the cable is there.`,
          hint: interfaceHint(node.name, node.facts, bare),
        }),
      ];
    case 'no-address':
      return [
        diagnose('rdma/no-address', {
          ...about,
          detail: `${place}: no IPv4 address, so the RDMA device has no GID that MLX can use.`,
          hint: addressHint(examination.desired, { ...node, bare }),
        }),
      ];
    case 'no-gid':
      return [
        diagnose('rdma/no-gid', {
          ...about,
          detail: `${place}: has an IPv4 address, but the RDMA device has no GID for it.`,
          hint: restart(prose`Look again in a minute; if it stays so, restart ${named(node.name)}`, [node.name]),
        }),
      ];
  }
}

/** What keeps single receptacles of a node that can do RDMA from doing it; equal causes of one node are told together. */
export const rdmaReceptacles: Rule = (examination) =>
  examination.nodes
    .filter((node) => nodeRdma(node) === 'ready')
    .flatMap((node) =>
      [...groupBy(troublesOf(examination, node), ({ rdma }) => rdma.kind).values()].flatMap((same) =>
        tell(examination, node, same),
      ),
    );
