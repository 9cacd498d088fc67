import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

/** Creates a folder that is removed after all tests of its file or its `describe`; its name begins with `prefix`. */
export function temporaryFolder(prefix = 'mw-test-') {
  // On macOS, /tmp is a link, and programs show the real path.
  const path = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  const at = (name: string): string => join(path, name);
  /** Writes a file, creates the folders above it, and returns its path. */
  const write = (name: string, content: string | Uint8Array, mode = 0o600): string => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
    chmodSync(at(name), mode);
    return at(name);
  };
  return { path, at, write };
}
