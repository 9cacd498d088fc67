import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { UnlockAttempts } from '../../apply/access/unlock-node.ts';
import { holdFile } from '../files/hold-file.ts';
import { readIfThere } from '../files/read-file.ts';
import { stateFolder } from '../files/state-folder.ts';
import { cannotWrite, replaceFile } from '../files/write-file.ts';

/** One attempt as it is kept: when, and whether the node refused a password last. Nothing of the password. */
interface Attempt {
  readonly atEpochMs: number;
  /** How long after that it may still run; 0 when it is known to be over. */
  readonly mostMs: number;
  readonly isRefused: boolean;
}

/** The attempts of all runs of this controller, a file per address. */
export interface KeptAttempts extends UnlockAttempts {
  /** Makes the place where they are kept. @throws FleetError `cli/cannot-write` */
  readonly open: () => void;
  /** Whether this address refused a password and was not seen unlocked since. */
  readonly wasRefused: (address: string) => boolean;
}

/** What is kept below the state folder of passwords that Macs at FileVault were given. */
export function openUnlockAttempts(env: NodeJS.ProcessEnv, pauseMs: number): KeptAttempts {
  const folder = join(stateFolder(env), 'unlock');
  const open = (): void => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      accessSync(folder, constants.W_OK);
    } catch (error) {
      throw cannotWrite(folder, error);
    }
  };
  const pathOf = (address: string): string =>
    join(folder, `${createHash('sha256').update(address).digest('hex').slice(0, 16)}.json`);
  const wasRefused = (address: string): boolean => readAttempt(pathOf(address))?.isRefused === true;
  const write = (path: string, attempt: Attempt): void => replaceFile(path, `${JSON.stringify(attempt)}\n`, 0o600);
  return {
    open,
    take: async (address, mostMs) => {
      open();
      const path = pathOf(address);
      return holdFile(path, () => {
        const now = Date.now();
        const last = readAttempt(path);
        const most = (last?.mostMs ?? 0) + pauseMs;
        const left = last === undefined ? 0 : last.atEpochMs + most - now;
        // A time far in the future is that of a clock that was wrong.
        if (left > 0 && left <= most) return left;
        write(path, { atEpochMs: now, mostMs, isRefused: last?.isRefused === true });
        return 0;
      });
    },
    ended: (address, how) => {
      const path = pathOf(address);
      return holdFile(path, () => {
        const isRefused = how === 'unknown' ? wasRefused(address) : how === 'refused';
        write(path, { atEpochMs: Date.now(), mostMs: 0, isRefused });
      });
    },
    seenUp: async (address) => {
      const path = pathOf(address);
      if (!wasRefused(address)) return;
      await holdFile(path, () => {
        const last = readAttempt(path);
        if (last !== undefined) write(path, { ...last, isRefused: false });
      });
    },
    wasRefused,
  };
}

function readAttempt(path: string): Attempt | undefined {
  try {
    const value: unknown = JSON.parse(readIfThere(path, path)?.text ?? '');
    if (typeof value !== 'object' || value === null) return undefined;
    const [atEpochMs, mostMs, isRefused]: readonly unknown[] = ['atEpochMs', 'mostMs', 'isRefused'].map((key) =>
      Reflect.get(value, key),
    );
    if (typeof atEpochMs !== 'number') return undefined;
    return { atEpochMs, mostMs: typeof mostMs === 'number' ? mostMs : 0, isRefused: isRefused === true };
  } catch {
    return undefined;
  }
}
