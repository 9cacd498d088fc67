import { read } from '../fact.ts';
import { type Resource, verifyOnly } from '../resource.ts';
import { macosVersionFact } from './fact.ts';

/** The macOS version: inside of what the file accepts, and equal on cabled nodes. Updating it is another verb. */
export const macos: Resource = verifyOnly({
  kind: 'macos',
  after: ['identity'],
  gaps: ({ desired, targets }) =>
    targets.flatMap(({ desired: { name: node }, facts }) =>
      desired.macos.accept !== undefined && read(facts, macosVersionFact).kind === 'unknown'
        ? [{ node, resource: 'macos', text: 'the macOS version' }]
        : [],
    ),
});
