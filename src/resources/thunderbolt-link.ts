import { linkText } from '../desired/link-network.ts';
import { needsRdma } from '../desired/needs-rdma.ts';
import type { Gap, Resource, View } from './resource.ts';
import { verifyOnly } from './verify-only.ts';

/** What is not known of the declared links of the targets, told at each of their ends. */
function gaps({ desired, examination, targets }: View): readonly Gap[] {
  return examination.cabling.links.flatMap(({ link: { ends }, judgement }) => {
    const own = ends.map(({ node }) => node).filter((node) => targets.some((target) => target.desired.name === node));
    const isUnseen = judgement.kind === 'unknown';
    const isUnmeasured = judgement.kind === 'as-declared' && judgement.bitsPerSecond === undefined;
    const what = isUnseen ? 'the cable' : 'the speed of the cable';
    const isOpen = isUnseen || (isUnmeasured && own.some((node) => needsRdma(desired, node)));
    return isOpen
      ? own.map((node): Gap => ({ node, resource: 'thunderbolt-link', text: `${what} ${linkText(ends)}` }))
      : [];
  });
}

/** The cables, by the domain UUIDs at their ends: hands move them, once no bridge can close a ring any more. */
export const thunderboltLink: Resource = verifyOnly({
  kind: 'thunderbolt-link',
  after: ['identity', 'thunderbolt-bridge'],
  gaps,
});
