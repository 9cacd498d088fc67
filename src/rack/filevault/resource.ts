import { read } from '../fact.ts';
import { type Resource, verifyOnly } from '../resource.ts';
import { filevaultFact } from './fact.ts';

/** FileVault, where the file has a wish: switching it asks for a password. */
export const filevault: Resource = verifyOnly({
  kind: 'filevault',
  after: ['identity'],
  gap: ({ facts }, { system }) =>
    system.fileVault !== 'any' && read(facts, filevaultFact).kind === 'unknown' ? 'whether FileVault is on' : undefined,
});
