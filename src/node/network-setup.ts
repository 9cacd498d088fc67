import { refusedMark } from './paths/keeper-files.ts';

/** A prefix length in dotted form, as networksetup expects it. */
export function maskOf(prefixLength: number): string {
  const bits = '1'.repeat(prefixLength).padEnd(32, '0');
  return [0, 8, 16, 24].map((at) => Number.parseInt(bits.slice(at, at + 8), 2)).join('.');
}

/** The values for `network-setup.sh`. */
export const netValues = { refused_mark: refusedMark };

/** The values for `leave.sh`. @param keeper whether the keeper keeps what the script sets */
export const leaveValues = (keeper = false) => ({ ...netValues, keeper });
