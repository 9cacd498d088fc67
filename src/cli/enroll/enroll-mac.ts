import { randomBytes } from 'node:crypto';
import { observeFleet } from '../../apply/reach/observe.ts';
import type { LogIn, Way } from '../../apply/reach/with-remote.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import { identityDigest } from '../../model/facts/mac-identity.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { hardwareDifferences } from '../../rack/identity/identity.ts';
import { useLimits } from '../verb/use-limits.ts';
import type { Run } from '../verb/verb.ts';

/** A node that may be logged in to, the others of its file, and which Macs the lock knows. */
export interface AskedMac {
  readonly node: DesiredNode;
  readonly way: Extract<Way, { kind: 'way' }>;
  readonly nodes: readonly DesiredNode[];
  readonly identities: Readonly<Record<string, Digest>>;
  /** How to log in; by key unless given. */
  readonly logIn?: LogIn;
}

/**
 * Which Mac answers: one that nobody has seen under this name, the one that the lock knows, another one than it, one
 * that cannot be this node by the file or since it is another node; or nobody could see it.
 */
export type SeenMac =
  | { readonly kind: 'new' | 'same' | 'other'; readonly identity: Digest }
  | { readonly kind: 'impossible'; readonly diagnostic: Diagnostic }
  | {
      readonly kind: 'unseen' /** Why it was not reached, if that is why. */;
      readonly failures: readonly Diagnostic[];
    };

/** Asks a node which Mac it is, and holds that against the file and the lock. */
export async function lookAtMac(run: Run, { node, way, nodes, identities, logIn }: AskedMac): Promise<SeenMac> {
  const observation = await observeFleet([{ node: node.name, way }], {
    ...useLimits(run),
    parallel: 1,
    newToken: () => randomBytes(16).toString('hex'),
    facts: ['identity', 'hardware'],
    ...(logIn === undefined ? {} : { logIn }),
  });
  const facts = observation.nodes[node.name]?.facts;
  if (facts?.identity.kind !== 'known') return { kind: 'unseen', failures: observation.failures[node.name] ?? [] };
  const { identity: _recorded, ...declared } = node;
  const differences = hardwareDifferences({ desired: declared, facts });
  const subject = nodeSubject(node.name);
  if (differences.length > 0) {
    const detail = prose`Another Mac answers as ${named(node.name)}: ${differences.join('; ')}.`;
    const hint = prose`Correct the address (${named(node.host)}) or the hardware section of ${named(node.name)} in the file.`;
    return { kind: 'impossible', diagnostic: diagnose('identity/wrong-mac', { subject, detail, hint }) };
  }
  const identity = identityDigest(facts.identity.value);
  const { serial } = facts.identity.value;
  const twin = nodes.find(
    ({ name, hardware }) =>
      name !== node.name &&
      (hardware.serial === serial || (Object.hasOwn(identities, name) && identities[name] === identity)),
  );
  if (twin !== undefined) {
    const detail = prose`${named(node.name)} (${named(node.host)}) is the Mac of ${twin.name} (${twin.host}).`;
    const hint = prose`Correct the addresses of ${named(node.name)} and ${twin.name} in the file.`;
    return { kind: 'impossible', diagnostic: diagnose('identity/same-mac', { subject, detail, hint }) };
  }
  const known = Object.hasOwn(identities, node.name) ? identities[node.name] : undefined;
  return { kind: known === undefined ? 'new' : known === identity ? 'same' : 'other', identity };
}

/** A Mac that answered and did not say which one it is. */
export const unseenMac = (name: string): Diagnostic =>
  diagnose('enroll/mac-unseen', {
    subject: nodeSubject(name),
    detail: prose`${named(name)} did not say which Mac it is, so nothing was written down.`,
  });
