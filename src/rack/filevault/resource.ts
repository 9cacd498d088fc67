import { read } from '../fact.ts';
import { type Resource, verifyOnly } from '../resource.ts';
import { filevaultFact } from './fact.ts';

/** FileVault, if the file sets it. This resource only checks it, because switching FileVault needs a password. */
export const filevault: Resource = verifyOnly({
  kind: 'filevault',
  after: ['identity'],
  unobservedText: ({ facts }, { system }) =>
    system.fileVault !== 'any' && read(facts, filevaultFact).kind === 'unknown' ? 'whether FileVault is on' : undefined,
});
