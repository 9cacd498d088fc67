import { everyNode } from '../../desired/fallback.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { type SecretSource, secretSourceText } from '../../model/secret.ts';
import type { Run } from '../verb/verb.ts';
import { readKeysOf } from './read-keys.ts';

/** One source of a key of a published endpoint, and whether it gives one. */
export interface KeySourceRow {
  readonly placement: string;
  readonly source: string;
  readonly kind: SecretSource['kind'];
  readonly state: 'resolves' | 'missing';
  /** Why it gives none. */
  readonly why?: string;
}

/** Tries every source of a key of the placements that have one of these nodes, their fallbacks included. No key is kept. */
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
      rows.push({ ...base, ...(missing ?? { state: 'resolves' }) });
    }
  }
  return rows;
}
