import { capture, unconfirmed } from './source.ts';
import { lines, type TableTool } from './tool.ts';

const publisher = 'log of a posture tool, MacBook Pro M3 Max';

/** The reading forms of the application firewall's tool: it is off. */
export const socketfilterfw: TableTool = {
  kind: 'table',
  path: '/usr/libexec/ApplicationFirewall/socketfilterfw',
  rows: () => [
    {
      args: ['--getglobalstate'],
      source: capture('socketfilterfw-getglobalstate.disabled.txt', publisher),
      stdout: lines('Firewall is disabled. (State = 0)'),
    },
    {
      args: ['--getstealthmode'],
      source: capture('socketfilterfw-getstealthmode.off.txt', publisher),
      stdout: lines('Firewall stealth mode is off'),
    },
  ],
  usage: {
    text: lines('usage: /usr/libexec/ApplicationFirewall/socketfilterfw [-h]'),
    exitCode: 1,
    source: unconfirmed("socketfilterfw's usage text and exit code 1"),
  },
};
