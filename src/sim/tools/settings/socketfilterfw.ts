import { withMac } from '../../model/fleet.ts';
import {
  capture,
  lines,
  published,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

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
const socketfilterfwWrites: Writes = { forms, write };

const publisher = 'log of a posture tool, MacBook Pro M3 Max';

const stateWords = { 0: 'disabled', 1: 'enabled', 2: 'blocking all non-essential incoming connections' } as const;

/** The application firewall's tool. */
export const socketfilterfw: TableTool = {
  kind: 'table',
  path: '/usr/libexec/ApplicationFirewall/socketfilterfw',
  rows: ({ mac: { firewall } }) => [
    {
      args: ['--getglobalstate'],
      source:
        firewall === 0
          ? capture('socketfilterfw-getglobalstate.disabled.txt', publisher)
          : published('"enabled" with 1, "blocking all non-essential incoming connections" with 2, in public scripts'),
      stdout: lines(`Firewall is ${stateWords[firewall]}. (State = ${firewall})`),
    },
    {
      args: ['--getblockall'],
      source: published('"Firewall has block all state set to disabled." in logs of 26, "enabled." in public checks'),
      stdout: lines(`Firewall has block all state set to ${firewall === 2 ? 'enabled' : 'disabled'}.`),
    },
    {
      args: ['--getstealthmode'],
      source: capture('socketfilterfw-getstealthmode.off.txt', publisher),
      stdout: lines('Firewall stealth mode is off'),
    },
  ],
  writes: socketfilterfwWrites,
  usage: {
    text: lines('usage: /usr/libexec/ApplicationFirewall/socketfilterfw [-h]'),
    exitCode: 1,
    source: unconfirmed("socketfilterfw's usage text and exit code 1"),
  },
};
