import { accountsPath } from '../model/directory.ts';
import type { MacState } from '../model/fleet.ts';
import { from, lines, row, type Tool, type ToolChange, unconfirmedUsage, type WriteView } from './tool.ts';

const source = from.unconfirmed(
  'the output of socketfilterfw --setglobalstate, including "Must be root to change settings."',
);

/** The tool prints nothing on success. */
const setState = ({ isRoot }: WriteView, firewall: MacState['firewall']) =>
  isRoot ? { after: { firewall } } : { stdout: lines('Must be root to change settings.'), exitCode: 1 };

const publisher = 'log of a posture tool, MacBook Pro M3 Max';
const off = from.capture('socketfilterfw-getglobalstate.disabled.txt', publisher);
const on = from.published(
  '"enabled" with 1, "blocking all non-essential incoming connections" with 2, in public scripts',
);
const blocking = from.published(
  '"Firewall has block all state set to disabled." in logs of 26, "enabled." in public checks',
);
const stealth = from.capture('socketfilterfw-getstealthmode.off.txt', publisher);

const stateWords = { 0: 'disabled', 1: 'enabled', 2: 'blocking all non-essential incoming connections' } as const;

export const socketfilterfw: Tool = {
  path: '/usr/libexec/ApplicationFirewall/socketfilterfw',
  rows: ({ mac: { firewall } }) => [
    row(
      ['--getglobalstate'],
      firewall === 0 ? off : on,
      lines(`Firewall is ${stateWords[firewall]}. (State = ${firewall})`),
    ),
    row(
      ['--getblockall'],
      blocking,
      lines(`Firewall has block all state set to ${firewall === 2 ? 'enabled' : 'disabled'}.`),
    ),
    row(['--getstealthmode'], stealth, lines('Firewall stealth mode is off')),
  ],
  writes: [
    { form: '--setglobalstate on|off', source, change: (view) => setState(view, view.words[0] === 'on' ? 1 : 0) },
    { form: '--setblockall on|off', source, change: (view) => setState(view, view.words[0] === 'on' ? 2 : 1) },
  ],
  usage: unconfirmedUsage('socketfilterfw', 1, 'usage: /usr/libexec/ApplicationFirewall/socketfilterfw [-h]'),
};

const fileVault = from.capture('fdesetup-status.on.txt', publisher);
const described = from.apple('fdesetup(8)');

/** Sets `o` to the string of this key in the property list `t`, and `v` if there is none. */
const stringOf = (key: string): string => `case $t in
  (*'<key>${key}</key>'*) o=\${t#*'<key>${key}</key>'} ;;
  (*) v=invalid ;;
esac
case $o in (*'<string>'*'</string>'*) o=\${o#*'<string>'} o=\${o%%'</string>'*} ;; (*) v=invalid ;; esac
o=$(printf '%s' "$o" | "$r/usr/bin/sed" -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&amp;/\\&/g')
`;

/**
 * Compares the name and the password on standard input with an account and its password. Adds the result to the
 * arguments, so that no password gets into them.
 */
const readCredentials = `t= v=wrong
while IFS= read -r x || [ -n "$x" ]; do t=$t$x; done
case $t in ('<?xml '*'<plist version="1.0">'*'<dict>'*'</dict>'*'</plist>') ;; (*) v=invalid ;; esac
o=
${stringOf('Username')}u=$o
${stringOf('Password')}IFS= read -r p <"$r/.sim/password"
while read -r x y; do
  [ "$v:$x" != "wrong:$u" ] || [ "$o" != "$p" ] || v=right
done <"$r${accountsPath}"
set -- "$@" "$v"
`;

/** The exit codes of fdesetup(8): 1 "FileVault is Off", 11 "Authentication error", 15 "Bad input error". */
const authorize: ToolChange = ({ mac, isRoot, words: [verdict] }) => {
  if (!isRoot) return { stderr: lines('fdesetup: you must run this command as root.'), exitCode: 15 };
  if (!mac.isFileVaultOn) return { stderr: lines('FileVault is Off.'), exitCode: 1 };
  if (verdict === 'invalid') return { stderr: lines('Error: The input is not a valid property list.'), exitCode: 15 };
  if (verdict !== 'right') return { stderr: lines('Error: Unable to unlock FileVault.'), exitCode: 11 };
  return { after: { connection: { ...mac.connection, filevault: 'authorized' } } };
};

export const fdesetup: Tool = {
  path: '/usr/bin/fdesetup',
  rows: ({ mac: { isFileVaultOn } }) => [
    row(['status'], isFileVaultOn ? fileVault : described, lines(`FileVault is ${isFileVaultOn ? 'On' : 'Off'}.`)),
    {
      args: ['isactive'],
      source: from.unconfirmed('fdesetup isactive prints true and exits with 0, or prints false and exits with 1'),
      stdout: lines(String(isFileVaultOn)),
      exitCode: isFileVaultOn ? 0 : 1,
    },
    row(['supportsauthrestart'], described, lines('true')),
  ],
  writes: [
    {
      // Munki and XCreds prepare a restart in this way.
      form: 'authrestart -inputplist -delayminutes -1 CREDENTIALS',
      match: "'4:authrestart -inputplist -delayminutes -1'",
      input: readCredentials,
      source: from.apple('fdesetup(8): -inputplist, -delayminutes, and the exit codes'),
      refusalSource: from.unconfirmed('the output and exit code of fdesetup authrestart without root'),
      change: authorize,
    },
  ],
  usage: unconfirmedUsage('fdesetup', 1, 'Usage: fdesetup <verb> [options]'),
};

const protection = from.capture('csrutil-status.enabled.txt', publisher);

/** `csrutil status`: System Integrity Protection is always on, which is every Mac's default. */
export const csrutil: Tool = {
  path: '/usr/bin/csrutil',
  rows: () => [row(['status'], protection, lines('System Integrity Protection status: enabled.'))],
  usage: unconfirmedUsage('csrutil', 64, 'usage: csrutil <command>'),
};
