import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UnlockAttempts } from '../apply/unlock-node.ts';
import { holdFile } from './hold-file.ts';
import { stateFolder } from './state-folder.ts';
import { replaceFile } from './write-file.ts';

/** One attempt as it is kept: when, and whether the node refused it. Nothing of the password. */
interface Attempt {
  readonly atEpochMs: number;
  readonly isRefused: boolean;
}

/** The attempts of all runs of this controller, a file per address. */
export interface KeptAttempts extends UnlockAttempts {
  /** Whether the last attempt at this address was refused. */
  readonly wasRefused: (address: string) => boolean;
}

/** What is kept below the state folder of passwords that Macs at FileVault were given. */
export function openUnlockAttempts(env: NodeJS.ProcessEnv, pauseMs: number): KeptAttempts {
  const folder = join(stateFolder(env), 'unlock');
  const pathOf = (address: string): string => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return join(folder, `${createHash('sha256').update(address).digest('hex').slice(0, 16)}.json`);
  };
  const write = (path: string, attempt: Attempt): void => replaceFile(path, `${JSON.stringify(attempt)}\n`, 0o600);
  return {
    take: (address) => {
      const path = pathOf(address);
      return holdFile(path, () => {
        const now = Date.now();
        const last = readAttempt(path);
        const left = last === undefined ? 0 : last.atEpochMs + pauseMs - now;
        // A time far in the future is that of a clock that was wrong.
        if (left > 0 && left <= pauseMs) return left;
        write(path, { atEpochMs: now, isRefused: false });
        return 0;
      });
    },
    ended: (address, isRefused) => {
      const path = pathOf(address);
      return holdFile(path, () => write(path, { atEpochMs: Date.now(), isRefused }));
    },
    wasRefused: (address) => readAttempt(pathOf(address))?.isRefused === true,
  };
}

function readAttempt(path: string): Attempt | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value !== 'object' || value === null) return undefined;
    const [atEpochMs, isRefused]: readonly unknown[] = [
      Reflect.get(value, 'atEpochMs'),
      Reflect.get(value, 'isRefused'),
    ];
    return typeof atEpochMs === 'number' ? { atEpochMs, isRefused: isRefused === true } : undefined;
  } catch {
    return undefined;
  }
}
