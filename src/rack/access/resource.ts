import { read } from '../fact.ts';
import { type Resource, verifyOnly } from '../resource.ts';
import { sudoFact } from './fact.ts';

/** Whether anything can be changed on a node at all. A plan speaks of it only where there is something to change. */
export const sudo: Resource = verifyOnly({
  kind: 'sudo',
  after: ['identity'],
  isPrecondition: true,
  gaps: ({ targets }) =>
    targets.flatMap(({ desired: { name: node }, facts }) =>
      read(facts, sudoFact).kind === 'unknown' ? [{ node, resource: 'sudo', text: 'whether sudo may be used' }] : [],
    ),
});
