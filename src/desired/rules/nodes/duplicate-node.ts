import { nodeSubject } from '../../../model/subject.ts';
import type { Draft, DraftNode } from '../../draft/draft.ts';
import type { Finding, PlaceText } from '../../draft/finding.ts';

/** Names of nodes differ in more than upper and lower case. (Equal names are found where the file is read.) */
export function duplicateNode(draft: Draft, place: PlaceText): readonly Finding[] {
  const first = new Map<string, DraftNode>();
  const findings: Finding[] = [];
  for (const node of draft.nodes) {
    const folded = node.name.toLowerCase();
    const other = first.get(folded);
    if (other === undefined) {
      first.set(folded, node);
      continue;
    }
    const otherPlace = { pointer: other.pointer, at: 'key' } as const;
    findings.push({
      code: 'topology/duplicate-node',
      pointer: node.pointer,
      at: 'key',
      label: `same name as ${place(otherPlace)}`,
      detail: `\`${node.name}\` and \`${other.name}\` differ only in upper and lower case.`,
      subject: nodeSubject(node.name),
      others: [{ ...otherPlace, detail: 'The first one.' }],
    });
  }
  return findings;
}
