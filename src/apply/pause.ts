import { setTimeout as sleep } from 'node:timers/promises';
import { forMany } from '../remote/on-abort.ts';

/** Waits so long, or until the signal comes; never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal: forMany(signal) } : {}).catch(() => undefined);
}
