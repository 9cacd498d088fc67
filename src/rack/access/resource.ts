import { read } from '../fact.ts';
import { type Resource, verifyOnly } from '../resource.ts';
import { sudoFact } from './fact.ts';

/** Checks whether a node can be changed. A plan mentions sudo only if there is something to change. */
export const sudo: Resource = verifyOnly({
  kind: 'sudo',
  after: ['identity'],
  isPrecondition: true,
  unobservedText: ({ facts }) => (read(facts, sudoFact).kind === 'unknown' ? 'whether sudo may be used' : undefined),
});
