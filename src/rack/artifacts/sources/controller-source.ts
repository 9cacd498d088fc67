import { given } from '../../../model/given.ts';
import { totalBytes } from '../../../model/model-bytes.ts';
import type { Act, Step } from '../../../model/step.ts';
import { stagedFile } from '../../../node/paths/own-paths.ts';
import { buildStep } from '../../build-step.ts';
import { jobAct, type TreeWork, transferDeadlineMs } from '../trees/tree-steps.ts';
import { type Fetch, fetchFiles } from './fetch.ts';

export const sendStep = (
  { property }: TreeWork,
  { name, ...file }: Omit<Extract<Act, { kind: 'send' }>, 'kind'> & { readonly name: string },
  needs: readonly Step[],
): Step =>
  buildStep({
    name: `${property.address}/${name}`,
    class: 'converge',
    act: { kind: 'send', ...file },
    towards: [property],
    needs,
    deadlineMs: transferDeadlineMs(file.sizeBytes),
  });

/**
 * Sends one file at a time, so that each gets the whole bandwidth; the node verifies them afterwards. If other Macs get
 * the files from this one, the job that verifies them is launched first, and serves them while they arrive.
 */
export const sendFolder: Fetch<'controller'> = (work, { folder, files }, { peers, needs }) => {
  if (peers?.role === 'receive') return fetchFiles(work, files, { kind: 'peers' }, { peers, needs });
  const { property, tree } = work;
  const act = jobAct(tree, { name: 'verify-model', args: { tree, files, ...given({ peers }) } });
  const verifyMs = transferDeadlineMs(totalBytes(files));
  const steps: Step[] = [];
  const last = (): readonly Step[] => (steps.length === 0 ? needs : steps.slice(-1));
  if (peers !== undefined) {
    const serve = buildStep({
      name: `${property.address}/serve`,
      class: 'job',
      towards: [property],
      act: act.kind === 'job' ? { ...act, isDetached: true } : act,
      needs,
      deadlineMs: verifyMs,
    });
    steps.push(serve);
  }
  for (const { path, sha256, sizeBytes } of files) {
    const file = { source: `${folder}/${path}`, to: stagedFile(tree, path), sha256, sizeBytes };
    steps.push(sendStep(work, { name: `send/${path}`, ...file }, last()));
  }
  const verify = buildStep({
    name: `${property.address}/verify`,
    class: 'job',
    towards: [property],
    act,
    needs: last(),
    deadlineMs: verifyMs,
  });
  return [...steps, verify];
};
