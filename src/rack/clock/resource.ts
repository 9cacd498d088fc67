import type { ClockOffset } from '../../model/facts/mac.ts';
import { mapKnown } from '../../model/known.ts';
import type { Step } from '../../model/step.ts';
import { addressed } from '../../model/subject.ts';
import { durationText } from '../../model/text/units.ts';
import { gateStep, scriptStep } from '../build-step.ts';
import { knownWords } from '../compare-values.ts';
import { read } from '../fact.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../resource.ts';
import { clockFact } from './fact.ts';
import { type Clocks, judgeClocks } from './reading.ts';

const offsetWords = ({ offsetMs }: ClockOffset): string =>
  `${durationText(offsetMs)} ${offsetMs > 0 ? 'ahead of' : 'behind'} this computer`;

function propertyOf({ kind, off }: Clocks, { desired: { name: node }, facts }: ObservedTarget): Property {
  const isRight = kind === 'this-computer' || off.every(({ name }) => name !== node);
  return {
    node,
    ...addressed({ kind: 'clock' }),
    desired: true,
    observed: mapKnown(read(facts, clockFact), () => isRight),
    from: knownWords(read(facts, clockFact), offsetWords),
    to: 'equal to this computer',
    reason: 'system.clock: set',
  };
}

/** The node cannot check its own clock, so a gate compares it with this computer's. */
function setClock(made: Property): readonly Step[] {
  const call = { name: 'set-clock', args: {} } as const;
  const set = scriptStep({ name: 'clock/set', call, makes: [made], deadlineMs: 60_000 });
  return [set, gateStep({ name: 'clock/gate', needs: [set], awaits: [made], deadlineMs: 30_000 })];
}

/**
 * A Mac's clock, if the file lets apply set wrong clocks. The comparison by `doctor` decides which clocks are wrong.
 *
 * @see sntp(1)
 */
export const clock: Resource = {
  kind: 'clock',
  after: ['identity', 'sudo'],
  ...perTarget(
    ({ system }, target, { examination }) =>
      system.clock === undefined ? [] : [propertyOf(judgeClocks(examination.nodes), target)],
    (_fleet, _target, makes) => makes.flatMap(setClock),
  ),
};
