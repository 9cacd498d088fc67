import { read } from '../fact.ts';
import type { Resource } from '../resource.ts';
import { verifyOnly } from '../verify-only.ts';
import { sudoFact } from './sudo-fact.ts';

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
