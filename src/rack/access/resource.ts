import { read } from '../fact.ts';
import { type Resource, verifyOnly } from '../resource.ts';
import { sudoFact } from './fact.ts';

/** Whether a node can be changed at all. A plan mentions sudo only where there is something to change. */
export const sudo: Resource = verifyOnly({
  kind: 'sudo',
  after: ['identity'],
  isPrecondition: true,
  unobservedText: ({ facts }) => (read(facts, sudoFact).kind === 'unknown' ? 'whether sudo may be used' : undefined),
});
