import type { NodeRollback } from '../../../model/facts/node-records.ts';
import { mapKnown } from '../../../model/known.ts';
import { addressed } from '../../../model/subject.ts';
import { scriptStep } from '../../build-step.ts';
import { read, readValue } from '../../fact.ts';
import {
  type Blocker,
  judgeProperty,
  type ObservedTarget,
  type Property,
  perTarget,
  propertiesOn,
  type Resource,
  type View,
} from '../../resource.ts';
import type { ResourceKind } from '../../resource-kind.ts';
import { knownWords } from '../../seen-fact.ts';
import { interfacesFact } from '../interfaces-fact.ts';
import { rollbacksFact } from './fact.ts';

/** Whose interfaces a resource would touch. */
interface Touching {
  readonly kind: ResourceKind;
  readonly properties: readonly Property[];
  /** The interfaces that these changes touch. */
  readonly touched: (target: ObservedTarget, changed: readonly Property[]) => readonly string[];
}

/**
 * Whether one of these interfaces carries the connection: by what sshd told the node, or by the address in the file,
 * which a jump host or a tunnel may hide from it.
 */
function isReachedBy({ desired: { host }, facts }: ObservedTarget, names: readonly string[]): boolean {
  const touched = (readValue(facts, interfacesFact) ?? []).filter(({ name }) => names.includes(name));
  return touched.some(
    ({ carriesConnection, ipv4 }) => carriesConnection === true || ipv4.some(({ address }) => address === host),
  );
}

/** Changes that would cut the very connection over which they are made: nobody would be there to take them back. */
export function connectionBlockers({ targets }: View, { kind, properties, touched }: Touching): readonly Blocker[] {
  return targets
    .filter((target) => {
      const own = properties.filter(({ node }) => node === target.desired.name);
      const changed = own.filter((one) => judgeProperty(one) === 'differs');
      return isReachedBy(target, touched(target, changed));
    })
    .map(({ desired: { name: node, host } }) => ({
      code: 'network/carries-connection',
      node,
      resource: kind,
      action: `${node} is reached over its Thunderbolt (${host}): write an address of its Ethernet or Wi-Fi into the file.`,
      isHands: false,
      peers: [],
      blocks: [],
    }));
}

const own = addressed({ kind: 'rollback' });

/** Whose network change is to be settled: its run; `unknown` when the node does not say. */
const runOf = ({ fields }: NodeRollback): string => fields['run'] ?? 'unknown';

const runsOf = (rollbacks: readonly NodeRollback[]): readonly string[] => [...new Set(rollbacks.map(runOf))];

function rollbackWords(rollbacks: readonly NodeRollback[]): string {
  const [first] = rollbacks;
  if (first === undefined) return 'none';
  const { by = 'somebody', step = 'a network change' } = first.fields;
  return `${step} of run ${runOf(first)} (${by}) is not confirmed`;
}

function propertyOf({ desired: { name: node }, facts }: ObservedTarget): Property {
  const rollbacks = read(facts, rollbacksFact);
  return {
    node,
    ...own,
    desired: [],
    observed: mapKnown(rollbacks, runsOf),
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
  ...perTarget(
    (_, target) => [propertyOf(target)],
    (_, { desired: { name: node }, facts }, makes) =>
      runsOf(readValue(facts, rollbacksFact) ?? []).map((run, at) =>
        scriptStep({
          node,
          resource: 'rollback',
          name: at === 0 ? 'rollback/settle' : `rollback/settle-${at + 1}`,
          call: { name: 'settle-rollback', args: { run } },
          makes,
          effect: { kind: 'network' },
          deadlineMs: 120_000,
        }),
      ),
  ),
};
