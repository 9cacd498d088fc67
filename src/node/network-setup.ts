import { refusedMark } from './paths/keeper-files.ts';

/** Dotted form of a prefix length, as networksetup wants it. */
export function maskOf(prefixLength: number): string {
  const bits = '1'.repeat(prefixLength).padEnd(32, '0');
  return [0, 8, 16, 24].map((at) => Number.parseInt(bits.slice(at, at + 8), 2)).join('.');
}

/** What `network-setup.sh` needs. */
export const netValues = { refused_mark: refusedMark };

/** What `leave.sh` needs. @param keeper whether the keeper holds what the script sets */
export const leaveValues = (keeper = false) => ({ ...netValues, keeper });
