import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecRecord } from '../records.ts';

/**
 * Every command that the sshd of a node was asked for, as its files tell it, by time: how it ended is known to sshd
 * and the client alone.
 */
export function readExecs(folder: string, node: string): readonly ExecRecord[] {
  return readdirSync(folder)
    .map((name): ExecRecord => {
      const path = join(folder, name);
      const { mtimeMs } = statSync(path);
      const command = readFileSync(path, 'utf8');
      return { node, command, atEpochMs: mtimeMs, client: '', connection: 0, outputBytes: 0, objections: [] };
    })
    .sort((one, other) => one.atEpochMs - other.atEpochMs);
}
