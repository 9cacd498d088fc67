import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

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
export function sharedFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
