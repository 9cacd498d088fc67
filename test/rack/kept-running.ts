import { afterAll, beforeAll } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';

/** Something that runs from before the first test of a file or a group until after the last one. */
export function shared<T extends { readonly stop: () => Promise<void> }>(start: () => Promise<T>): T {
  let running: T | undefined;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running?.stop());
  // The tests get it before it runs.
  return new Proxy({} as T, { get: (_, name) => Reflect.get(running ?? {}, name) });
}

/** A folder that is removed after the last test of a file or a group. */
export const sharedFolder = (prefix: string): string => temporaryFolder(prefix).path;
