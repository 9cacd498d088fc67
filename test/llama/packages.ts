import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The real llama.cpp unpacked by `scripts/llama-packages.sh`. */
export interface LlamaPackages {
  readonly kind: 'there';
  readonly folder: string;
  readonly version: string;
  /** Relative to the folder: the loader of the programs, and the folder of their backends. */
  readonly loader: string;
  readonly backends: string;
}

/** The packages, or the reason why they are missing. */
export type FoundPackages = LlamaPackages | { readonly kind: 'missing'; readonly reason: string };

const script = fileURLToPath(new URL('../../scripts/llama-packages.sh', import.meta.url));
const deadlineMs = 240_000;

/**
 * Fetches the packages if they are not there yet. Without a network or outside Debian, they are missing, and tests
 * that need them are skipped; with MESHWRIGHT_LLAMA=required they fail.
 */
export function findLlamaPackages(): FoundPackages {
  const ran = spawnSync('bash', [script], { encoding: 'utf8', timeout: deadlineMs });
  const folder = ran.stdout?.trim() ?? '';
  if (ran.status === 0 && folder !== '') return unpackedIn(folder);
  const reason = ran.stderr?.trim().split('\n').at(-1) || 'scripts/llama-packages.sh did not end in time';
  if (process.env['MESHWRIGHT_LLAMA'] === 'required') throw new Error(reason);
  process.stderr.write(`left out: ${reason}\n`);
  return { kind: 'missing', reason };
}

function unpackedIn(folder: string): LlamaPackages {
  const [version = '', loader = '', backends = ''] = readFileSync(join(folder, 'unpacked'), 'utf8').trim().split(' ');
  return { kind: 'there', folder, version, loader, backends };
}

/** The packages, for a test that is skipped without them. */
export function llamaPackages(found: FoundPackages): LlamaPackages {
  if (found.kind === 'missing') throw new Error(found.reason);
  return found;
}
