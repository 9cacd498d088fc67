import { type Addressed, addressed } from '../../model/address.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { PowerSettings } from '../../model/facts/mac-settings.ts';
import type { Known } from '../../model/known.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import type { Step } from '../../model/step.ts';
import { scriptStep } from '../build-step.ts';
import { changedProperties } from '../change.ts';
import type { ObservedTarget, Property, Resource } from '../resource.ts';
import { knownWords, mapKnown } from '../seen-fact.ts';

const sleep = addressed({ kind: 'power', part: 'sleep' });
const restart = addressed({ kind: 'power', part: 'restart-after-power-loss' });

const sleepWords = (minutes: number): string => (minutes === 0 ? 'never sleeps' : `sleeps after ${minutes} min`);
const restartWords = (restarts: boolean): string =>
  restarts ? 'starts by itself after a power cut' : 'stays off after a power cut';

function sleepProperty({ desired, facts }: ObservedTarget, minutes: number): Property {
  const observed = mapKnown(facts.power, ({ sleepMinutes }) => sleepMinutes);
  return {
    node: desired.name,
    ...sleep,
    desired: minutes,
    observed,
    from: knownWords(observed, sleepWords),
    to: sleepWords(minutes),
    reason: `power.sleep: ${minutes === 0 ? 'never' : minutes}`,
  };
}

/** A Mac that cannot do it at all is told by the doctor: there is nothing to keep. */
function restartProperty({ desired, facts }: ObservedTarget, restarts: boolean): readonly Property[] {
  const { power: seen } = facts;
  if (seen.kind === 'known' && seen.value.restartAfterPowerLoss === 'unsupported') {
    return [];
  }
  const observed: Known<boolean> = mapKnown(seen, (value: PowerSettings) => value.restartAfterPowerLoss === true);
  return [
    {
      node: desired.name,
      ...restart,
      desired: restarts,
      observed,
      from: knownWords(observed, restartWords),
      to: restartWords(restarts),
      reason: `power.restartAfterPowerLoss: ${restarts}`,
    },
  ];
}

function propertiesOf({ power: wanted }: DesiredFleet, target: ObservedTarget): readonly Property[] {
  return [
    ...(wanted.sleepMinutes === undefined ? [] : [sleepProperty(target, wanted.sleepMinutes)]),
    ...(wanted.restartAfterPowerLoss === undefined ? [] : restartProperty(target, wanted.restartAfterPowerLoss)),
  ];
}

/** Only what differs is set, so that nothing else of the same tool is touched. */
function argsOf({ power: wanted }: DesiredFleet, made: readonly Property[]): ScriptArgs['set-power'] {
  const isMade = ({ address }: Addressed): boolean => made.some((one) => one.address === address);
  return {
    ...(wanted.sleepMinutes !== undefined && isMade(sleep) ? { sleepMinutes: wanted.sleepMinutes } : {}),
    ...(wanted.restartAfterPowerLoss !== undefined && isMade(restart)
      ? { restartAfterPowerLoss: wanted.restartAfterPowerLoss }
      : {}),
  };
}

/** Power settings on mains; only those that the file names. @see pmset(1) */
export const power: Resource = {
  kind: 'power',
  after: ['identity', 'sudo'],
  properties: ({ desired, targets }) => targets.flatMap((target) => propertiesOf(desired, target)),
  steps: (changes, { desired, targets }) => {
    const steps = targets.flatMap((target): readonly Step[] => {
      const makes = changedProperties(changes, propertiesOf(desired, target));
      const call = { name: 'set-power', args: argsOf(desired, makes) } as const;
      const { name: node } = target.desired;
      return makes.length === 0
        ? []
        : [scriptStep({ node, resource: 'power', name: 'power/set', call, makes, deadlineMs: 30_000 })];
    });
    return { steps, rescues: [] };
  },
  blockers: () => [],
};
