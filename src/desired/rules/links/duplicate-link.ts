import { linkSubject } from '../../../model/subject.ts';
import type { Draft, DraftLink } from '../../draft/draft.ts';
import type { Finding, PlaceText } from '../../draft/finding.ts';
import { linkText } from '../../links/link-network.ts';

/** Both ways of writing a link have one key. */
export const linkKey = (link: DraftLink): string => linkText(link.ends);

/** A cable stands in the file once, in either direction. */
export function duplicateLink(draft: Draft, place: PlaceText): readonly Finding[] {
  const first = new Map<string, DraftLink>();
  const findings: Finding[] = [];
  for (const link of draft.links) {
    const other = first.get(linkKey(link));
    if (other === undefined) {
      first.set(linkKey(link), link);
      continue;
    }
    const otherPlace = { pointer: other.pointer, at: 'value' } as const;
    findings.push({
      code: 'topology/duplicate-link',
      pointer: link.pointer,
      at: 'value',
      label: `same cable as ${place(otherPlace)}`,
      detail: 'It names the same two receptacles; the order of the ends has no meaning.',
      hint: 'Remove one of the two lines.',
      subject: linkSubject(link.ends, link.text),
      others: [{ ...otherPlace, detail: 'The first link with these ends.' }],
    });
  }
  return findings;
}
