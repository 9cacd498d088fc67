/** Launches jobs in a node's folder and follows them to their end. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { type JobPoll, launchBody, parseJobPoll, pollJobCommand } from '../../../../src/engine/scripts/job.ts';
import { type Digest, digest } from '../../../../src/model/digest.ts';
import type { JobCall, TreeId } from '../../../../src/model/node-script.ts';
import { verifiedMark } from '../../../../src/node/paths/own-paths.ts';
import type { ScriptResult } from '../../../../src/node/root-script.ts';
import { until } from '../../../until.ts';
import { type MacRoot, makeMacRoot } from './mac-root.ts';
import type { Shell } from './shells.ts';

export const sha256 = (bytes: string | Uint8Array): Digest => digest(createHash('sha256').update(bytes).digest('hex'));

/** The key of every job here; each job has a separate node. */
export const key = sha256('a key');

/** Creates a node with the real ps. The file `../free` contains the free KiB of its disk. */
export function makeJobRoot(shell: Shell): MacRoot {
  const root = makeMacRoot(shell);
  root.tool(
    'bin/df',
    'printf \'Filesystem 1024-blocks Used Available\\n/dev/disk3s5 9 9 %s\\n\' "$(/bin/cat "$R/../free" 2>/dev/null || printf 999999)"',
  );
  root.tool('bin/ps', 'exec /bin/ps "$@"');
  return root;
}

export const launch = async (root: MacRoot, call: JobCall): Promise<ScriptResult> =>
  (await root.runBody(launchBody(key, call))).result;

export async function poll(root: MacRoot): Promise<JobPoll> {
  const { stdout } = await root.run(pollJobCommand(key, root.folder));
  const answer = parseJobPoll(stdout);
  if (answer === undefined) throw new Error(`no answer: ${stdout}`);
  return answer;
}

/** Waits until the job has ended or disappeared. */
export async function ended(root: MacRoot): Promise<JobPoll> {
  let answer = await poll(root);
  await until(async () => {
    if (answer.state === 'running') answer = await poll(root);
    return answer.state !== 'running';
  });
  return answer;
}

export async function runJob(root: MacRoot, call: JobCall): Promise<JobPoll> {
  expect(await launch(root, call)).toEqual({ kind: 'done', isChanged: true, said: ['job=started'] });
  return ended(root);
}

export const isVerified = (root: MacRoot, tree: TreeId): boolean => root.has(verifiedMark(tree).path);
