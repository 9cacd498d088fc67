import { apple, capture, lines, type TableTool, unconfirmed } from '../tool.ts';

const status = capture('fdesetup-status.on.txt', 'log of a posture tool, MacBook Pro M3 Max');

/** `fdesetup`: whether FileVault is on. */
export const fdesetup: TableTool = {
  kind: 'table',
  path: '/usr/bin/fdesetup',
  rows: ({ mac: { isFileVaultOn } }) => [
    {
      args: ['status'],
      source: isFileVaultOn ? status : apple('fdesetup(8)'),
      stdout: lines(`FileVault is ${isFileVaultOn ? 'On' : 'Off'}.`),
    },
    {
      args: ['isactive'],
      source: unconfirmed('fdesetup isactive: true and exit 0, or false and exit 1'),
      stdout: lines(String(isFileVaultOn)),
      exitCode: isFileVaultOn ? 0 : 1,
    },
    { args: ['supportsauthrestart'], source: apple('fdesetup(8)'), stdout: lines('true') },
  ],
  usage: {
    text: lines('Usage: fdesetup <verb> [options]'),
    exitCode: 1,
    source: unconfirmed("fdesetup's usage text and exit code 1"),
  },
};
