import { linkText } from '../../desired/addresses.ts';
import { needsFastLink } from '../../desired/layouts.ts';
import { compareText } from '../../model/lists.ts';
import { type Resource, type UnobservedDependency, type View, verifyOnly } from '../resource.ts';

/** Reports unknowns only for links with two targeted ends. For other links, another observation would not help. */
function unobserved({ asked, desired, examination }: View): readonly UnobservedDependency[] {
  return examination.cabling.links.flatMap(({ link: { ends }, judgement }): readonly UnobservedDependency[] => {
    const [node, peer] = ends.map((end) => end.node).toSorted(compareText);
    const isUnseen = judgement.kind === 'unknown';
    const isUnmeasured = judgement.kind === 'as-declared' && judgement.bitsPerSecond === undefined;
    const isNeeded = needsFastLink(desired, ends);
    const isAsked = ends.every((end) => asked.includes(end.node));
    const what = isUnseen ? 'the cable' : 'the speed of the cable';
    return node !== undefined && peer !== undefined && isAsked && (isUnseen || (isUnmeasured && isNeeded))
      ? [{ node, peers: [peer], resource: 'thunderbolt-link', text: `${what} ${linkText(ends)}` }]
      : [];
  });
}

/** The cables, by the domain UUIDs at their ends. People move them, but only after no bridge can close a ring. */
export const thunderboltLink: Resource = verifyOnly({
  kind: 'thunderbolt-link',
  after: ['identity', 'thunderbolt-bridge'],
  unobserved,
});
