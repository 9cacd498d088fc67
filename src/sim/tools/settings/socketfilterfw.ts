import { capture, published, unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { socketfilterfwWrites } from './socketfilterfw-write.ts';

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
