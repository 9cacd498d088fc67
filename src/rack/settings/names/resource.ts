import { type AddressPart, addressed } from '../../../model/address.ts';
import type { DesiredFleet } from '../../../model/desired.ts';
import type { MacNames } from '../../../model/facts/mac-settings.ts';
import type { Step } from '../../../model/step.ts';
import { scriptStep } from '../../build-step.ts';
import { changedProperties } from '../../change.ts';
import type { ObservedTarget, Property, Resource } from '../../resource.ts';
import { knownWords, mapKnown } from '../../seen-fact.ts';
import { isRenamed } from './renamed.ts';

/** Each name is a property of its own: macOS changes the one of Bonjour by itself. */
const keys = [
  { key: 'computerName', part: 'computer' },
  { key: 'localHostName', part: 'bonjour' },
  { key: 'hostName', part: 'host' },
] as const satisfies readonly { readonly key: keyof MacNames; readonly part: AddressPart }[];

const unset = 'not set';

function wordsOf(node: string, key: keyof MacNames, name: string): string {
  const why = key === 'localHostName' && isRenamed(node, name) ? ' (by macOS: another computer has the name)' : '';
  return `${name}${why}`;
}

function propertiesOf(
  { system }: DesiredFleet,
  { desired: { name: node }, facts }: ObservedTarget,
): readonly Property[] {
  return system.computerName === undefined
    ? []
    : keys.map(({ key, part }) => {
        const observed = mapKnown(facts.names, (names) => names[key] ?? '');
        return {
          node,
          ...addressed({ kind: 'names', part }),
          desired: node,
          observed,
          from: knownWords(observed, (name) => (name === '' ? unset : wordsOf(node, key, name))),
          to: node,
          reason: 'system.computerName: node',
        };
      });
}

/** What a Mac is called: its computer name, its Bonjour name and its host name. @see scutil(8) */
export const names: Resource = {
  kind: 'names',
  after: ['identity', 'sudo'],
  properties: ({ desired, targets }) => targets.flatMap((target) => propertiesOf(desired, target)),
  steps: (changes, { desired, targets }) => {
    const steps = targets.flatMap((target): readonly Step[] => {
      const { name: node } = target.desired;
      const makes = changedProperties(changes, propertiesOf(desired, target));
      const made = keys.filter(({ part }) => makes.some(({ about }) => about.part === part));
      const args: MacNames = Object.fromEntries(made.map(({ key }) => [key, node]));
      const call = { name: 'set-names', args } as const;
      return makes.length === 0
        ? []
        : [scriptStep({ node, resource: 'names', name: 'names/set', call, makes, deadlineMs: 30_000 })];
    });
    return { steps, rescues: [] };
  },
  blockers: () => [],
};
