import { withMac } from '../../model/fleet.ts';
import { unconfirmed } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../tool.ts';

const source = unconfirmed('socketfilterfw --setglobalstate: what it prints, and "Must be root to change settings."');

const forms: readonly WriteForm[] = [
  { form: '--setglobalstate on|off', match: "'2:--setglobalstate '*", source },
  { form: '--setblockall on|off', match: "'2:--setblockall '*", source },
];

const states: Readonly<Record<string, 0 | 1 | 2>> = {
  '--setglobalstate off': 0,
  '--setglobalstate on': 1,
  '--setblockall off': 1,
  '--setblockall on': 2,
};

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const words = args.join(' ');
  const state = Object.hasOwn(states, words) ? states[words] : undefined;
  if (state === undefined) return undefined;
  if (!isRoot) return { fleet, stdout: lines('Must be root to change settings.'), exitCode: 1 };
  return { fleet: withMac(fleet, mac.name, (one) => ({ ...one, firewall: state })) };
}

/** The writing forms of the application firewall's tool; it says nothing when it did what it was told. */
export const socketfilterfwWrites: Writes = { forms, write };
