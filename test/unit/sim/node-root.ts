import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SimulatedFleet } from '../../../src/sim/model/fleet.ts';
import { nodeFiles } from '../../../src/sim/render-node.ts';

/** The result of one command line. */
export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The root of one node in a temporary folder. */
export interface NodeRoot {
  readonly path: string;
  /** Runs a tool of the node; an argument that begins with `$R` is a path below the root. */
  readonly run: (tool: string, ...args: readonly string[]) => Ran;
  /** The command lines that are missing from the table. */
  readonly unknown: () => readonly string[];
  readonly remove: () => void;
}

/** Writes the files of a node. The folder's name has a space and a quote on purpose. */
export function nodeRoot(fleet: SimulatedFleet, node: string, shell: readonly string[] = []): NodeRoot {
  const path = mkdtempSync(join(tmpdir(), "mw it's "));
  for (const file of nodeFiles(fleet, node)) {
    mkdirSync(dirname(path + file.path), { recursive: true });
    writeFileSync(path + file.path, file.text);
    if (file.isExecutable) chmodSync(path + file.path, 0o755);
  }
  const run = (tool: string, ...args: readonly string[]): Ran => {
    const [command = '', ...words] = [...shell, path + tool, ...args.map((arg) => arg.replace('$R', path))];
    const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8', timeout: 120_000, env: {} });
    return { status, stdout, stderr };
  };
  const log = `${path}/.sim/unknown`;
  const unknown = (): readonly string[] => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []);
  return { path, run, unknown, remove: () => rmSync(path, { recursive: true }) };
}
