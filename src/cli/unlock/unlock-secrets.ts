import { dirname } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { Secret, SecretSource } from '../../model/secret.ts';
import { nodeSubject, nodesSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { type ResolvedSecret, resolveSecret } from '../../secrets/resolve-secret.ts';
import { secretContext, typedPasswordSource } from '../sources/secrets.ts';
import type { Run } from '../verb/verb.ts';

/** The password of each node, or why there is none; a source that several share is asked once. */
export type NodeSecrets = ReadonlyMap<
  string,
  { readonly kind: 'resolved'; readonly secret: Secret } | { readonly kind: 'missing'; readonly diagnostic: Diagnostic }
>;

interface Wanted {
  readonly source: SecretSource;
  readonly nodes: readonly WantedNode[];
}

/** A node with the account whose password is meant. */
export interface WantedNode {
  readonly node: DesiredNode;
  readonly user: string;
}

/** Resolves the passwords that these nodes need, one source after another: two questions at once would be mixed up. */
export async function resolvePasswords(
  run: Run,
  clusterFile: string,
  wanted: readonly WantedNode[],
): Promise<NodeSecrets> {
  const typed = typedPasswordSource(run);
  const found = new Map<string, ResolvedSecret>();
  const bySource = new Map<string, Wanted>();
  for (const one of wanted) {
    const source = typed ?? one.node.password ?? (run.console.canAsk ? { kind: 'prompt' as const } : undefined);
    if (source === undefined) {
      found.set(one.node.name, { kind: 'missing', diagnostic: noSource(one.node.name) });
      continue;
    }
    const key = JSON.stringify([one.user, source]);
    bySource.set(key, { source, nodes: [...(bySource.get(key)?.nodes ?? []), one] });
  }
  for (const { source, nodes } of bySource.values()) {
    const names = nodes.map(({ node }) => node.name);
    const context = secretContext(run, {
      subject: nodesSubject(names),
      folder: dirname(clusterFile),
      question: `Password of ${nodes[0]?.user ?? ''} on ${names.join(', ')}`,
    });
    const resolved = await resolveSecret(source, context);
    for (const name of names) found.set(name, resolved);
  }
  return found;
}

const noSource = (name: string): Diagnostic =>
  diagnose('unlock/no-source', {
    subject: nodeSubject(name),
    detail: prose`${named(name)} waits for the password of its account, and nobody can be asked for it here.`,
  });
