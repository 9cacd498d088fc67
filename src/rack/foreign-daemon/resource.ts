import type { DesiredFleet } from '../../model/desired.ts';
import { type ForeignDaemon, knownDaemons } from '../../model/facts/daemons.ts';
import { mapKnown, seenValue } from '../../model/known.ts';
import { addressed } from '../../model/subject.ts';
import { scriptStep } from '../build-step.ts';
import { compared } from '../compare-values.ts';
import { read } from '../fact.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../resource.ts';
import { foreignDaemonsFact } from './fact.ts';

/** The state of a daemon. `stopped`: unloaded and disabled, so it does not return after a restart. */
type Standing = 'loaded' | 'comes back' | 'stopped' | 'gone';

function standingOf(label: string, daemons: readonly ForeignDaemon[]): Standing {
  const one = daemons.find((daemon) => daemon.label === label);
  if (one === undefined) return 'gone';
  if (one.isLoaded) return 'loaded';
  return one.isDisabled ? 'stopped' : 'comes back';
}

/** One property per known daemon. A daemon that is gone already has its desired state. */
function propertiesOf({ thunderbolt }: DesiredFleet, { desired, facts }: ObservedTarget): readonly Property[] {
  const { foreignDaemons } = thunderbolt;
  if (foreignDaemons !== 'stop' && foreignDaemons !== 'remove') return [];
  return knownDaemons.map(({ label }) => {
    const observed = mapKnown(read(facts, foreignDaemonsFact), (daemons) => standingOf(label, daemons));
    const to: Standing = foreignDaemons === 'remove' || seenValue(observed) === 'gone' ? 'gone' : 'stopped';
    return {
      node: desired.name,
      ...addressed({ kind: 'foreign-daemon', name: label }),
      ...compared(to, observed, (standing) => standing),
      reason: `thunderbolt.foreignDaemons: ${foreignDaemons}`,
    };
  });
}

/** Foreign network daemons that the file wants stopped or removed. @see launchctl(1) */
export const foreignDaemon: Resource = {
  kind: 'foreign-daemon',
  after: ['identity', 'sudo'],
  ...perTarget(propertiesOf, (_fleet, _target, makes) =>
    makes.map((made) =>
      scriptStep({
        name: made.address,
        call: { name: 'stop-daemon', args: { label: made.about.name ?? '', remove: made.desired === 'gone' } },
        makes: [made],
        effect: { kind: 'network' },
        deadlineMs: 60_000,
      }),
    ),
  ),
  blockers: ({ findingBlockers }) => findingBlockers('foreign-daemon'),
};
