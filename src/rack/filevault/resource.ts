import { read } from '../fact.ts';
import { type Resource, verifyOnly } from '../resource.ts';
import { filevaultFact } from './fact.ts';

/** FileVault, where the file has a wish: switching it asks for a password. */
export const filevault: Resource = verifyOnly({
  kind: 'filevault',
  after: ['identity'],
  gaps: ({ desired, targets }) =>
    targets.flatMap(({ desired: { name: node }, facts }) =>
      desired.system.fileVault !== 'any' && read(facts, filevaultFact).kind === 'unknown'
        ? [{ node, resource: 'filevault', text: 'whether FileVault is on' }]
        : [],
    ),
});
