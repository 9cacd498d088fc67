import { read } from '../fact.ts';
import { type Resource, verifyOnly } from '../resource.ts';
import { macosVersionFact } from './fact.ts';

/** The macOS version: accepted by the file and equal on cabled nodes. This resource only checks it. */
export const macos: Resource = verifyOnly({
  kind: 'macos',
  after: ['identity'],
  unobservedText: ({ facts }, { macos: { accept } }) =>
    accept !== undefined && read(facts, macosVersionFact).kind === 'unknown' ? 'the macOS version' : undefined,
});
