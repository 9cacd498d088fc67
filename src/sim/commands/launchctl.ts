import { seededInteger } from '../seed.ts';
import { capture, unconfirmed } from './source.ts';
import { lines, type TableTool } from './tool.ts';

const posture = 'log of a posture tool, MacBook Pro M3 Max';
const loaded = capture('launchctl-print.sshd.on.elided.txt', posture);
const missing = capture('launchctl-print.sshd.off.stderr.txt', posture);

/** `launchctl print system/LABEL`: sshd is loaded and started per connection; nothing else is there. */
export const launchctl: TableTool = {
  kind: 'table',
  path: '/bin/launchctl',
  rows: ({ mac }) => [
    {
      args: ['print', 'system/com.openssh.sshd'],
      source: loaded,
      stdout: lines(
        'system/com.openssh.sshd = {',
        '\tactive count = 0',
        `\tpath = (submitted by smd[${seededInteger([mac.bootSession.uuid, 'smd'], 300, 900)}])`,
        '\ttype = Submitted',
        '\tstate = not running',
        '',
        '\tprogram = /usr/libexec/sshd-keygen-wrapper',
        '\targuments = {',
        '\t\tsshd-keygen-wrapper',
        '\t}',
        '',
        '\tdefault environment = {',
        '\t\tPATH => /usr/bin:/bin:/usr/sbin:/sbin',
        '\t}',
        '',
        '\tdomain = system',
        '\tminimum runtime = 10',
        '\texit timeout = 5',
        '\truns = 0',
        '\tlast exit code = (never exited)',
        '',
        '\tspawn type = daemon (3)',
        '\tjetsam priority = 40',
        '',
        '\tproperties = inetd-compatible',
        '}',
      ),
    },
  ],
  patterns: [
    {
      match: "'2:print system/'*[!A-Za-z0-9._-]* | '2:print system/'",
      body: ':',
      source: unconfirmed('what launchctl says to a label with other characters is not known, so it counts as unknown'),
    },
    {
      match: "'2:print system/'*",
      body: `printf 'Bad request.\\nCould not find service "%s" in domain for system\\n' "\${2#system/}" >&2; exit 113`,
      source: missing,
    },
  ],
  usage: {
    text: lines('Usage: launchctl <subcommand> ... | help [subcommand]'),
    exitCode: 64,
    source: unconfirmed("launchctl's usage text and exit code 64"),
  },
};
