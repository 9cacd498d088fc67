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
 * already restarted. Both print `unchanged`. Marks of former boot sessions are no longer needed and are deleted.
 *
 * @see shutdown(8) of macOS: -r restarts, -h halts and switches off
 * @throws Error if the intent is not a plain word, which is a bug
 */
export function restartBody({ intent, from, to, delaySeconds }: RestartRequest): string {
  if (!/^[A-Za-z0-9.-]{1,128}$/.test(intent)) throw new Error('an intent is one plain word');
  return `[ "$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)" = ${quote(from)} ] || unchanged
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
