import type { NodeRollback } from '../../../model/facts/node-records.ts';
import { type Known, known } from '../../../model/known.ts';
import { addressed } from '../../../model/subject.ts';
import { scriptStep } from '../../build-step.ts';
import { changedProperties } from '../../change.ts';
import { read } from '../../fact.ts';
import { type ObservedTarget, type Property, propertiesOn, type Resource } from '../../resource.ts';
import { knownWords } from '../../seen-fact.ts';
import { rollbacksFact } from './fact.ts';

const own = addressed({ kind: 'rollback' });

/** Whose network change is to be settled: its run; `unknown` when the node does not say. */
const runOf = ({ fields }: NodeRollback): string => fields['run'] ?? 'unknown';

function rollbackWords(rollbacks: readonly NodeRollback[]): string {
  const [first] = rollbacks;
  if (first === undefined) return 'none';
  const { by = 'somebody', step = 'a network change' } = first.fields;
  return `${step} of run ${runOf(first)} (${by}) is not confirmed`;
}

function propertyOf({ desired: { name: node }, facts }: ObservedTarget): Property {
  const rollbacks = read(facts, rollbacksFact);
  const observed: Known<readonly string[]> =
    rollbacks.kind === 'known' ? known([...new Set(rollbacks.value.map(runOf))]) : rollbacks;
  return {
    node,
    ...own,
    desired: [],
    observed,
    from: knownWords(rollbacks, rollbackWords),
    to: 'taken back',
    reason: 'nobody has seen that the node can be reached with it',
  };
}

/**
 * A change of the network that a run has left unconfirmed. The node takes it back by itself when its time is over; a
 * plan that finds one begins by doing so at once, and everything else on the node waits: what was seen there holds no
 * longer.
 */
export const rollback: Resource = {
  kind: 'rollback',
  after: ['identity', 'sudo'],
  isPrecondition: true,
  onUninstall: ({ nodes }) => ({ properties: propertiesOn(rollback, nodes) }),
  properties: ({ targets }) => targets.map(propertyOf),
  steps: (changes, { targets }) => ({
    steps: targets.flatMap((target) => {
      const makes = changedProperties(changes, [propertyOf(target)]);
      const rollbacks = read(target.facts, rollbacksFact);
      if (makes.length === 0 || rollbacks.kind === 'unknown') return [];
      const runs = [...new Set(rollbacks.value.map(runOf))];
      return runs.map((run, at) =>
        scriptStep({
          node: target.desired.name,
          resource: 'rollback',
          name: at === 0 ? 'rollback/settle' : `rollback/settle-${at + 1}`,
          call: { name: 'settle-rollback', args: { run } },
          makes,
          effect: { kind: 'network' },
          deadlineMs: 120_000,
        }),
      );
    }),
    rescues: [],
  }),
  blockers: () => [],
};
