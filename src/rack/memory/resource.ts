import { isBeyondMemory, wantedWiredMegabytes } from '../../desired/amounts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { mapKnown } from '../../model/known.ts';
import { addressed } from '../../model/subject.ts';
import { scriptStep } from '../build-step.ts';
import { compared } from '../compare-values.ts';
import { read, readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { type ObservedTarget, type Property, perTarget, type Resource, unobservedOn } from '../resource.ts';
import { wiredLimitFact } from './fact.ts';
import { limitText } from './rule.ts';

const own = addressed({ kind: 'wired-limit' });

const memoryOf = ({ facts }: ObservedTarget): number | undefined => readValue(facts, hardwareFact)?.memoryBytes;

/** True if the limit cannot be decided yet, because the Mac's memory is unknown. */
const isOpen = ({ system: { wiredLimit: wanted } }: DesiredFleet, target: ObservedTarget): boolean =>
  wanted !== undefined && wanted.kind !== 'default' && memoryOf(target) === undefined;

function propertyOf(fleet: DesiredFleet, target: ObservedTarget): readonly Property[] {
  const { wiredLimit: wanted } = fleet.system;
  const memoryBytes = memoryOf(target);
  const megabytes = wantedWiredMegabytes(wanted, memoryBytes);
  const isTooMuch = memoryBytes !== undefined && isBeyondMemory(wanted, memoryBytes);
  if (wanted === undefined || megabytes === undefined || isTooMuch || isOpen(fleet, target)) return [];
  const observed = mapKnown(read(target.facts, wiredLimitFact), (seen) => seen.megabytes);
  const written = wanted.kind === 'bytes' ? `${wanted.bytes} bytes` : wanted.kind;
  return [
    {
      node: target.desired.name,
      ...own,
      ...compared(megabytes, observed, limitText),
      reason: `system.wiredLimit: ${written}`,
    },
  ];
}

/** The amount of memory that the GPU may wire, which is lost at every reboot. @see sysctl `iogpu.wired_limit_mb` */
export const wiredLimit: Resource = {
  kind: 'wired-limit',
  after: ['identity', 'sudo'],
  ...perTarget(propertyOf, (_fleet, _target, makes) =>
    makes.map(({ desired }) => {
      const call = { name: 'set-wired-limit', args: { megabytes: Number(desired) } } as const;
      return scriptStep({ name: 'wired-limit/set', call, makes, deadlineMs: 30_000 });
    }),
  ),
  blockers: ({ findingBlockers }) => findingBlockers('wired-limit'),
  unobserved: unobservedOn('wired-limit', (target, fleet) =>
    isOpen(fleet, target) ? 'the size of its memory' : undefined,
  ),
};
