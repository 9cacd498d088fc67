import { needsRdma } from '../../desired/layouts.ts';
import { type Diagnostic, isHandsWork } from '../../diagnostics/diagnostic.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { NodeName } from '../../model/node.ts';
import { subjectNodes } from '../../model/subject.ts';
import { leftToApply, type Prose } from '../../model/text/prose.ts';
import { linkAddressProperties } from '../../rack/addresses/link-address-properties.ts';
import { judgeProperty } from '../../rack/change.ts';
import type { Blocker, View } from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { roleOf } from '../diagnose/rules.ts';

/** What one finding means to the plan of this fleet. */
type Meaning = 'told' | 'converged' | { readonly blocks: ResourceKind };

/** The nodes of the file that a finding is about, in the order in which it names them. */
const aboutNodes = ({ desired }: View, { subject }: Diagnostic): readonly NodeName[] =>
  subjectNodes(subject).flatMap((name) => desired.nodes.find((node) => node.name === name)?.name ?? []);

const hasNewAddress = (view: View, nodes: readonly NodeName[]): boolean =>
  linkAddressProperties(view).some(
    (property) => nodes.includes(property.node) && judgeProperty(property) === 'differs',
  );

function meaningOf(view: View, finding: Diagnostic): Meaning {
  const role = roleOf(finding.code);
  if (role === 'told' || role === 'converged') {
    return role;
  }
  if (role === 'converged-by-clock') {
    return view.desired.system.clock === 'set' ? 'converged' : 'told';
  }
  const nodes = aboutNodes(view, finding);
  if (role === 'converged-by-address') {
    return hasNewAddress(view, nodes) ? 'converged' : 'told';
  }
  const isNeeded = nodes.some((node) => needsRdma(view.desired, node));
  switch (role.when) {
    case 'bridge-stays':
      return view.desired.thunderbolt.bridge === 'remove' ? 'converged' : role;
    case 'bridge-stays-else-told':
      return view.desired.thunderbolt.bridge === 'remove' ? 'told' : role;
    case 'rdma-needed':
      return isNeeded ? role : 'told';
    case 'rdma-needed-and-addressed':
      if (hasNewAddress(view, nodes)) {
        return 'converged';
      }
      return isNeeded ? role : 'told';
    default:
      return role;
  }
}

/** Of the bridges that must go before a cable is touched, apply takes those of macOS away itself. */
const actionOf = ({ desired: { thunderbolt } }: View, { hint }: Diagnostic): Prose =>
  thunderbolt.bridge === 'remove' ? leftToApply(hint) : hint;

function blockerOf(view: View, finding: Diagnostic, resource: ResourceKind): readonly Blocker[] {
  const { code } = finding;
  const action = actionOf(view, finding);
  const nodes = aboutNodes(view, finding);
  // A cable has two ends, and the hands go to the one at which the action sends them.
  const place = nodes.find((name) => finding.handsAt?.includes(name) === true);
  const node = place ?? nodes[0];
  const peers = nodes.filter((name) => name !== node);
  return node === undefined ? [] : [{ code, node, resource, action, isHands: isHandsWork(finding), peers, blocks: [] }];
}

/** Two links that one move puts right are one entry of the work list. */
function joinSame(blockers: readonly Blocker[]): readonly Blocker[] {
  const joined = new Map<string, Blocker>();
  for (const blocker of blockers) {
    const key = `${blocker.code} ${plainText(blocker.action)}`;
    const before = joined.get(key);
    const nodes = [...new Set([...(before?.peers ?? []), blocker.node, ...blocker.peers])];
    const peers = nodes.filter((node) => node !== (before ?? blocker).node);
    joined.set(key, { ...(before ?? blocker), peers });
  }
  return [...joined.values()];
}

/** The findings of the doctor that stop a kind of resource, each with its one thing to do. */
export function findingBlockers(view: View, kind: ResourceKind): readonly Blocker[] {
  const found = view.findings.flatMap((finding) => {
    const meaning = meaningOf(view, finding);
    return typeof meaning !== 'string' && meaning.blocks === kind ? blockerOf(view, finding, kind) : [];
  });
  const isCable = kind === 'thunderbolt-link';
  return isCable ? joinSame(found) : found;
}

/**
 * The findings that stop nothing and that apply does not mend either, or not before they do harm: rings of bridged Macs
 * first.
 */
export function toldFindings(view: View): readonly Diagnostic[] {
  const told = view.findings.filter((finding) => meaningOf(view, finding) === 'told');
  const isRing = ({ code }: Diagnostic): boolean => code === 'bridge/loop';
  return [...told.filter(isRing), ...told.filter((one) => !isRing(one))];
}
