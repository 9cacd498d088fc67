import type { DesiredFleet } from '../../model/desired.ts';
import { known, mapKnown, seenValue } from '../../model/known.ts';
import { addressed } from '../../model/subject.ts';
import { transactionStep } from '../build-step.ts';
import { knownWords } from '../compare-values.ts';
import { adoptedDaemon, keeperArg } from '../foreign-daemon/reading.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../resource.ts';
import { isLeftToKeeper, misplacedServices, orderWords, thunderboltDevices } from './services-reading.ts';
import { connectionBlockers } from './transaction/resource.ts';

function propertiesOf(fleet: DesiredFleet, { desired, facts }: ObservedTarget): readonly Property[] {
  const misplaced = misplacedServices(facts);
  return fleet.thunderbolt.pool === undefined || adoptedDaemon(fleet, facts) !== undefined
    ? []
    : [
        {
          node: desired.name,
          ...addressed({ kind: 'service-order' }),
          desired: true,
          // Only networksetup can set the order. A rule reports Macs where macOS refuses the change.
          observed: isLeftToKeeper(fleet, facts) ? known(true) : mapKnown(misplaced, (found) => found.length === 0),
          from: knownWords(misplaced, orderWords),
          to: orderWords([]),
          reason: 'thunderbolt.addressing',
        },
      ];
}

/** A node may become unreachable over an interface whose service moves. */
const touched = (_: DesiredFleet, { facts }: ObservedTarget, changed: readonly Property[]): readonly string[] => {
  const moved = seenValue(misplacedServices(facts)) ?? [];
  return changed.length === 0 ? [] : moved.flatMap(({ service }) => service.device ?? []);
};

/**
 * The network services of the receptacles come after all others, so that a cable never becomes the default route. The
 * others keep their order. @see networksetup(8), `-ordernetworkservices`
 */
export const serviceOrder: Resource = {
  kind: 'service-order',
  after: ['identity', 'sudo', 'thunderbolt-bridge'],
  ...perTarget(propertiesOf, (fleet, { facts }, makes) => {
    const args = { last: seenValue(thunderboltDevices(facts)) ?? [], ...keeperArg(fleet, facts) };
    const call = { name: 'order-services', args } as const;
    return [transactionStep({ name: 'service-order/set', call, makes, deadlineMs: 30_000 })];
  }),
  blockers: (view) => connectionBlockers(view, { kind: 'service-order', propertiesOf, touched }),
};
