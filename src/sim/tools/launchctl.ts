import { agentOverridesPath, agentUser, overridesPath } from '../launchd/launchd-state.ts';
import type { MacState } from '../model/fleet.ts';
import { seededInteger } from '../model/seed.ts';
import { from, lines, type Row, row, type Tool, unconfirmedUsage } from './tool.ts';

const posture = 'log of a posture tool, MacBook Pro M3 Max';
const loaded = from.capture('launchctl-print.sshd.on.elided.txt', posture);
const missing = from.capture('launchctl-print.sshd.off.stderr.txt', posture);
const manual = from.apple('launchctl(1) of macOS');
const codes = from.published('launchctl bootstrap and bootout: exit 5 and 3, 36, 113, in public issue threads');
const all = from.unconfirmed(
  'launchctl print-disabled system prints a line "LABEL" => disabled or enabled for each override',
);
const rootOverrides = from.unconfirmed(
  'if root has logged in, launchctl print-disabled user/0 works as for any other user',
);
const slow = from.unconfirmed(
  'launchctl bootout waits until the process has exited; a second bootout meanwhile exits with 36',
);
const disabled = from.unconfirmed(
  'launchctl bootstrap of a disabled service prints "119: Service is disabled" and exits with 119',
);

const rootOverridesPath = '/private/var/db/com.apple.xpc.launchd/disabled.0.plist';

const printDisabled = (path: string): string =>
  `printf 'disabled services = {\\n'; f="$r${path}"; [ ! -f "$f" ] || /usr/bin/awk -F '[<>]' ` +
  `'/<key>/ { k = $3 } /<true[/]>/ { print "\\t\\"" k "\\" => disabled" } /<false[/]>/ { print "\\t\\"" k "\\" => enabled" }' "$f"; ` +
  `printf '}\\n'; exit 0`;

/** launchd's output for sshd while Remote Login is on. While it is off, the service is unknown. */
const remoteLogin = (mac: MacState): Row =>
  row(
    ['print', 'system/com.openssh.sshd'],
    loaded,
    lines(
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
  );

/**
 * `launchctl`: sshd is loaded while Remote Login is on and starts per connection. All other services belong to the
 * simulated launchd, which writes one file per label, so that `launchctl print` works without the simulator.
 */
export const launchctl: Tool = {
  path: '/bin/launchctl',
  rows: ({ mac }) => (mac.connection.isRemoteLoginOff ? [] : [remoteLogin(mac)]),
  patterns: [
    {
      match: "'2:print system/'*[!A-Za-z0-9._-]* | '2:print system/'",
      body: ':',
      source: from.unconfirmed(
        'launchctl print of a label with characters other than A-Z a-z 0-9 . _ - was never observed, so it counts as an unknown command',
      ),
    },
    { match: "'2:print-disabled system'", body: printDisabled(overridesPath), source: all },
    {
      match: `'2:print-disabled user/${agentUser}'`,
      body: printDisabled(agentOverridesPath),
      source: from.published(
        'print-disabled user/501 in a public issue; of gui/501 on macOS 26.5.1: "LABEL" => disabled or enabled',
      ),
    },
    { match: "'2:print-disabled user/0'", body: printDisabled(rootOverridesPath), source: rootOverrides },
    {
      match: "'2:print system/'*",
      body:
        `[ ! -f "$r/.sim/launchd/\${2#system/}" ] || { say "$r/.sim/launchd/\${2#system/}"; exit 0; }\n` +
        `printf 'Bad request.\\nCould not find service "%s" in domain for system\\n' "\${2#system/}" >&2; exit 113`,
      source: missing,
    },
  ],
  // The simulated launchd answers these commands. Success prints nothing.
  writes: [
    { form: 'bootstrap system PLIST', source: codes },
    { form: 'bootout system/LABEL', source: slow },
    { form: 'kickstart [-k] system/LABEL', match: "[23]:'kickstart '*'system/'*", source: manual },
    {
      form: 'kickstart -p system/LABEL',
      match: "4:'kickstart -'[kp]' -'[kp]' system/'*",
      source: from.unconfirmed(
        'launchctl kickstart starts immediately, regardless of ThrottleInterval; with `-p` it prints the PID',
      ),
    },
    {
      form: 'kill SIGNAL system/LABEL',
      source: from.unconfirmed(
        'launchctl kill of a service without a process prints "No process to signal." and exits with 3',
      ),
    },
    { form: 'enable system/LABEL', source: manual },
    { form: 'disable system/LABEL', source: disabled },
    { form: 'enable user/UID/LABEL', match: `'2:enable user/${agentUser}/'*`, source: manual },
    { form: 'disable user/UID/LABEL', match: `'2:disable user/${agentUser}/'*`, source: manual },
  ],
  usage: unconfirmedUsage('launchctl', 64, 'Usage: launchctl <subcommand> ... | help [subcommand]'),
};
