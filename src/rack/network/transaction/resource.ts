import type { DesiredFleet } from '../../../model/desired.ts';
import type { NodeTransaction } from '../../../model/facts/node-records.ts';
import { mapKnown } from '../../../model/known.ts';
import { addressed } from '../../../model/subject.ts';
import { scriptStep } from '../../build-step.ts';
import { knownWords } from '../../compare-values.ts';
import { read, readValue } from '../../fact.ts';
import {
  type Blocker,
  blocker,
  judgeProperty,
  type ObservedTarget,
  type Property,
  perTarget,
  propertiesOn,
  type Resource,
  type View,
} from '../../resource.ts';
import type { ResourceKind } from '../../resource-kind.ts';
import { interfacesFact } from '../interfaces-fact.ts';
import { transactionsFact } from './fact.ts';

interface Touching {
  readonly kind: ResourceKind;
  readonly propertiesOf: (fleet: DesiredFleet, target: ObservedTarget) => readonly Property[];
  readonly touched: (fleet: DesiredFleet, target: ObservedTarget, changed: readonly Property[]) => readonly string[];
}

/** True if an interface carries the connection, by sshd's or the file's address. A jump host hides it from sshd. */
function isReachedBy({ desired: { host }, facts }: ObservedTarget, names: readonly string[]): boolean {
  const touched = (readValue(facts, interfacesFact) ?? []).filter(({ name }) => names.includes(name));
  return touched.some(
    ({ carriesConnection, ipv4 }) => carriesConnection === true || ipv4.some(({ address }) => address === host),
  );
}

/** Blockers for changes that would cut the connection over which they are made. */
export const connectionBlockers = (
  { desired: fleet, targets }: View,
  { kind, propertiesOf, touched }: Touching,
): readonly Blocker[] =>
  targets
    .filter((target) => {
      const changed = propertiesOf(fleet, target).filter((one) => judgeProperty(one) === 'differs');
      return isReachedBy(target, touched(fleet, target, changed));
    })
    .map(({ desired: { name: node, host } }) =>
      blocker({
        code: 'network/carries-connection',
        node,
        resource: kind,
        action: `The connection to ${node} uses Thunderbolt (${host}): set an Ethernet or Wi-Fi address in the file.`,
      }),
    );

const own = addressed({ kind: 'transaction' });

/** The run that made the network change; `unknown` if the node has not recorded it. */
const runOf = ({ fields }: NodeTransaction): string => fields['run'] ?? 'unknown';

const runsOf = (transactions: readonly NodeTransaction[]): readonly string[] => [...new Set(transactions.map(runOf))];

function transactionWords(transactions: readonly NodeTransaction[]): string {
  const [first] = transactions;
  if (first === undefined) return 'none';
  const { by = 'unknown', step = 'a network change' } = first.fields;
  return `${step} of run ${runOf(first)} (${by}) is not confirmed`;
}

function propertyOf({ desired: { name: node }, facts }: ObservedTarget): Property {
  const transactions = read(facts, transactionsFact);
  return {
    node,
    ...own,
    desired: [],
    observed: mapKnown(transactions, runsOf),
    from: knownWords(transactions, transactionWords),
    to: 'rolled back',
    reason: 'no run confirmed that the node is reachable with the change',
  };
}

/**
 * A network change that a run left unconfirmed. The node rolls it back when its time expires. A plan that finds such a
 * change rolls it back immediately. Everything else on the node then waits, because the observation is outdated.
 */
export const transaction: Resource = {
  kind: 'transaction',
  after: ['identity', 'sudo'],
  isPrecondition: true,
  onUninstall: ({ nodes }) => ({ properties: propertiesOn(transaction, nodes) }),
  ...perTarget(
    (_, target) => [propertyOf(target)],
    (_, { facts }, makes) =>
      runsOf(readValue(facts, transactionsFact) ?? []).map((run, at) =>
        scriptStep({
          name: at === 0 ? 'transaction/settle' : `transaction/settle-${at + 1}`,
          call: { name: 'settle-transaction', args: { run } },
          makes,
          effect: { kind: 'network' },
          deadlineMs: 120_000,
        }),
      ),
  ),
};
