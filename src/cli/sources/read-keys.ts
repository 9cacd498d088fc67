import { createHash } from 'node:crypto';
import { everyNode } from '../../desired/layouts.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { type Digest, digest } from '../../model/digest.ts';
import type { SecretsDocument } from '../../model/documents.generated.ts';
import { gatewayKeyDomain } from '../../model/gateway.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { type ApiKeySource, type SecretSource, secretSourceText } from '../../model/secret.ts';
import { placementSubject } from '../../model/subject.ts';
import { resolveSecret } from '../../secrets/resolve-secret.ts';
import type { Run } from '../verb.ts';
import { secretContext, simulatedSecret } from './secrets.ts';

/** One API key source for a published endpoint, with the result of trying it. */
export type KeySourceRow = NonNullable<SecretsDocument['keys']>[number];

/** Tries all API key sources for placements on these nodes, including fallbacks. Does not keep any key. */
export async function keySourceRows(
  run: Run,
  { placements }: Pick<DesiredFleet, 'placements'>,
  { folder, nodes }: { readonly folder: string; readonly nodes: readonly NodeName[] },
): Promise<readonly KeySourceRow[]> {
  const rows: KeySourceRow[] = [];
  for (const one of placements) {
    const { name, publication } = one;
    if (publication?.apiKeys === undefined || !everyNode(one).some((node) => nodes.includes(node))) continue;
    for (const { source, hash } of await readKeysOf(run, publication.apiKeys, { name, folder })) {
      const base = { placement: name, source: secretSourceText(source), kind: source.kind };
      const missing = hash.kind === 'unknown' ? ({ state: 'missing', why: hash.detail } as const) : undefined;
      const isSimulated = simulatedSecret(run, source, { what: 'key', folder }) !== undefined;
      rows.push({ ...base, ...(missing ?? { state: isSimulated ? 'simulated' : 'resolves' }) });
    }
  }
  return rows;
}

/** Long enough to resist guessing. A shorter key could be derived from its hash. */
const strongKey = /^[!-~]{20,1024}$/;

/** The hash of one key, or the reason why it is missing. The reason contains no part of the key. */
interface ReadKey {
  readonly source: ApiKeySource;
  readonly hash: Known<Digest>;
}

/**
 * The hashes of the API keys by placement, or the reason why they are unknown. If one key cannot be read, the whole
 * list is unknown, because a list without the key would lock out a client. The keys never leave this process.
 */
export async function readKeys(
  run: Run,
  { placements }: Pick<DesiredFleet, 'placements'>,
  folder: string,
): Promise<Readonly<Record<string, Known<readonly Digest[]>>>> {
  const keys: Record<string, Known<readonly Digest[]>> = Object.create(null);
  for (const { name, publication } of placements) {
    if (publication?.apiKeys === undefined) continue;
    keys[name] = allHashes(await readKeysOf(run, publication.apiKeys, { name, folder }));
  }
  return keys;
}

/** The keys of one placement in file order. Duplicate keys are refused. */
async function readKeysOf(
  run: Run,
  sources: readonly ApiKeySource[],
  about: { readonly name: string; readonly folder: string },
): Promise<readonly ReadKey[]> {
  const read: ReadKey[] = [];
  for (const source of sources) {
    const hash = await keyHash(run, source, about);
    const same = read.find(
      (other) => hash.kind === 'known' && other.hash.kind === 'known' && other.hash.value === hash.value,
    );
    const detail = same && `${secretSourceText(same.source)} contains the same key, but each source must have its own.`;
    read.push({
      source,
      hash:
        detail === undefined ? hash : unknown('not-asked', `The key comes from ${secretSourceText(source)}. ${detail}`),
    });
  }
  return read;
}

function allHashes(read: readonly ReadKey[]): Known<readonly Digest[]> {
  const hashes: Digest[] = [];
  for (const { hash } of read) {
    if (hash.kind === 'unknown') return hash;
    hashes.push(hash.value);
  }
  return known(hashes);
}

async function keyHash(
  run: Run,
  source: SecretSource,
  { name, folder }: { readonly name: string; readonly folder: string },
): Promise<Known<Digest>> {
  const question = `API key of ${name}`;
  const resolved = await resolveSecret(
    source,
    secretContext(run, { subject: placementSubject(name), folder, question, what: 'key' }),
  );
  if (resolved.kind === 'missing') return unknown('not-asked', plainText(resolved.diagnostic.detail));
  const key = resolved.secret.reveal();
  if (!strongKey.test(key)) {
    const detail = 'It has fewer than 20 characters, or a character that is not allowed in a header.';
    return unknown('not-asked', `The key comes from ${secretSourceText(source)}. ${detail}`);
  }
  return known(digest(createHash('sha256').update(gatewayKeyDomain).update(key).digest('hex')));
}
