import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseFacts, searchingFor } from '../../../../src/engine/observe/facts.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import type { SoughtModel } from '../../../../src/node/probes/model-copies.ts';
import { asked } from '../../engine/observe/fact-cases.ts';

/** An account without rights. */
const unprivileged = 65_534;
const boundary = '0'.repeat(32);

/** Searches a node's folder for copies of models, with no more rights than the SSH account has. */
export function searchCopies(folder: string, models: readonly SoughtModel[]) {
  const probes = searchingFor(models, []);
  const { stdout } = spawnSync('/bin/sh', ['-s'], {
    input: observeScript({ probes, boundary, rootPrefix: folder }),
    encoding: 'utf8',
    env: { HOME: join(folder, 'Users/mesh') },
    // No folder is closed to root.
    ...(process.getuid?.() === 0 ? { uid: unprivileged } : {}),
  });
  return parseFacts(parseFrames(new TextEncoder().encode(stdout), { probes, boundary }), asked)['model-copies'];
}
