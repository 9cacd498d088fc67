import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';

/** One decision to restart a Mac or to switch it off. */
export interface RestartRequest {
  /** Names the decision: a second order with the same name does nothing. Letters, digits, dots and dashes. */
  readonly intent: string;
  /** UUID of the boot session that is to end. */
  readonly from: string;
  readonly to: 'up' | 'off';
  /** Until macOS begins to go down: the script ends before that. May have a fraction. */
  readonly delaySeconds: number;
}

/**
 * Restarts a Mac, or switches it off, at most once for an intent: the mark that it leaves is made by `mkdir`,
 * which succeeds for one caller only, before anything is started. It ends `unchanged` where the mark is there already
 * or the boot session is another one: then the order was given before, or nothing is left to be ended. Marks of boot
 * sessions that are over turn nobody away any more, since none of them comes back: they are taken away.
 *
 * @see shutdown(8) of macOS: -r restarts, -h halts and switches off
 * @throws Error when the intent is no plain word, which is our own value
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
