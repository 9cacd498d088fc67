import { nodeSubject } from '../../../model/subject.ts';
import { canonicalAddress } from '../../address.ts';
import type { Draft, DraftNode } from '../../draft/draft.ts';
import type { DraftText } from '../../draft/draft-values.ts';
import type { Finding, PlaceText } from '../../draft/finding.ts';

const sshPort = 22;

/** Two nodes are two Macs, so they have two addresses; the same host at two ports counts as two. */
export function duplicateAddress(draft: Draft, place: PlaceText): readonly Finding[] {
  const first = new Map<string, { readonly node: DraftNode; readonly host: DraftText }>();
  const findings: Finding[] = [];
  for (const node of draft.nodes) {
    const address = node.host === undefined ? undefined : canonicalAddress(node.host.text);
    if (node.host === undefined || address === undefined) continue;
    const key = `${address} ${node.port ?? sshPort}`;
    const other = first.get(key);
    if (other === undefined) {
      first.set(key, { node, host: node.host });
      continue;
    }
    const otherPlace = { pointer: other.host.pointer, at: 'value' } as const;
    findings.push({
      code: 'topology/duplicate-address',
      pointer: node.host.pointer,
      at: 'value',
      label: `${other.node.name} has it already, ${place(otherPlace)}`,
      detail: `${node.name} and ${other.node.name} would both be reached at ${address}.`,
      subject: nodeSubject(node.name),
      others: [{ ...otherPlace, detail: `The address of ${other.node.name}.` }],
    });
  }
  return findings;
}
