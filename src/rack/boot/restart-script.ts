import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';

export interface RestartRequest {
  /** Names the decision: a second order with the same name does nothing. Only letters, digits, dots and dashes. */
  readonly intent: string;
  /** UUID of the boot session to end. */
  readonly from: string;
  readonly to: 'up' | 'off';
  /** Seconds until macOS begins to shut down, so that the script can exit first. Fractions are allowed. */
  readonly delaySeconds: number;
}

/**
 * Restarts or shuts down a Mac, at most once per intent. Before anything starts, `mkdir` creates a mark, which succeeds
 * for one caller only. If the mark exists, the order was given before; if the boot session has changed, the Mac has
 * already restarted. Both print `unchanged`. While macOS installs an update, a restart would break it (fleet issue 45570). Marks of former boot sessions are no longer needed and are deleted.
 *
 * @see shutdown(8) of macOS: -r restarts, -h halts and switches off
 * @throws Error if the intent is not a plain word, which is a bug
 */
export function restartBody({ intent, from, to, delaySeconds }: RestartRequest): string {
  if (!/^[A-Za-z0-9.-]{1,128}$/.test(intent)) throw new Error('an intent is one plain word');
  return `[ "$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)" = ${quote(from)} ] || unchanged
for k in "$b"/ops/*/job; do
  [ -e "$k" ] || continue
  case $(${pathWord(tool.cat)} "$k") in
    (name=install-macos*boot=${quote(from)}*) [ -e "\${k%/job}/failure" ] || failed updating 'macOS is installing an update' ;;
  esac
done
${pathWord(tool.mkdir)} -p "$b/ops/${intent}" || failed no-mark 'the mark could not be made'
${pathWord(tool.mkdir)} "$b/ops/${intent}/once" 2>/dev/null || {
  [ -d "$b/ops/${intent}/once" ] && unchanged
  failed no-mark 'the mark could not be made'
}
for k in "$b/ops/reboot-"*; do
  case $k in ("$b/ops/${intent}" | "$b/ops/reboot-"${quote(from)}) ;; (*) ${pathWord(tool.rm)} -rf "$k" ;; esac
done
(
  ${pathWord(tool.sleep)} ${delaySeconds}
  exec ${pathWord(tool.shutdown)} ${to === 'up' ? '-r' : '-h'} now
) </dev/null >/dev/null 2>&1 &
changed`;
}

/** What `fdesetup` needs to unlock the disk once; the plan does not contain it. */
export interface DiskCredentials {
  readonly user?: string;
  readonly password?: string;
}

/** Escapes the characters that have a meaning in XML. */
const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Authorizes the next restart: macOS then starts without the password of FileVault, once. `printf` is part of the
 * shell, so the password is in no argument and in no file.
 *
 * @see fdesetup(8): `authrestart -inputplist` reads Username and Password from standard input, `-delayminutes -1` only
 * prepares a restart, and the exit code 11 is an authentication error. Munki and XCreds prepare restarts in this way.
 */
export function authorizeRestart(
  { unlocksLater }: ScriptArgs['authorize-restart'],
  { user = '', password = '' }: DiskCredentials = {},
): string {
  const fdesetup = pathWord(tool.fdesetup);
  const entry = (key: string, text: string): string => `<key>${key}</key><string>${xml(text)}</string>`;
  const dict = `<dict>${entry('Username', user)}${entry('Password', password)}</dict>`;
  const input = `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">${dict}</plist>`;
  const refusal = `failed no-authrestart 'this Mac does not support authenticated restarts'`;
  return `[ "$(${fdesetup} supportsauthrestart)" = true ] || ${unlocksLater ? 'unchanged' : refusal}
x=$(printf '%s\n' ${quote(input)} | ${fdesetup} authrestart -inputplist -delayminutes -1 2>&1)
case $? in
  (0) changed ;;
  (11) failed disk-password "macOS rejected the password for the disk: $x" ;;
  (*) failed no-authorization "fdesetup authrestart failed: $x" ;;
esac`;
}
