import { linkSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** A cable joins two different nodes. */
export function linkToItself(draft: Draft): readonly Finding[] {
  return draft.links.flatMap((link) => {
    const [from, to] = link.ends;
    if (from.node !== to.node) return [];
    return {
      code: 'topology/link-to-itself' as const,
      pointer: link.pointer,
      at: 'value' as const,
      part: { start: to.start, end: to.end },
      label: `the other end is at ${from.node} too`,
      detail: `Both ends of this link are at ${from.node}.`,
      subject: linkSubject(link.ends, link.text),
    };
  });
}
