import type { DesiredModel } from '../../model/desired.ts';
import type { FetchSource, TreeFile } from '../../model/node-script.ts';
import type { Step } from '../../model/step.ts';
import { stagedFile } from '../../node/paths/own-paths.ts';
import { buildStep, gateStep } from '../build-step.ts';
import { patchesOf } from '../change.ts';
import { jobAct, prepareStep, publishStep, type TreeWork, transferDeadlineMs } from '../records/trees.ts';

const totalBytes = (files: readonly TreeFile[]): number => files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** The node brings the files by itself, as long as it takes and whether or not anybody is connected. */
function fetchSteps(work: TreeWork, files: readonly TreeFile[], source: FetchSource): readonly Step[] {
  const { property, tree } = work;
  const prepare = prepareStep(work);
  const fetch = buildStep({
    node: property.node,
    resource: 'model',
    name: `${property.address}/fetch`,
    class: 'job',
    act: jobAct(tree, { name: 'fetch-model', args: { tree, files, source } }),
    towards: [property],
    needs: [prepare],
    deadlineMs: transferDeadlineMs(totalBytes(files)),
  });
  return [prepare, fetch];
}

/** One file after the other, so that all of the connection goes into one; the node compares them afterwards. */
function sendSteps(work: TreeWork, files: readonly TreeFile[], folder: string): readonly Step[] {
  const { property, tree } = work;
  const about = { node: property.node, resource: 'model', towards: [property] } as const;
  const steps: Step[] = [prepareStep(work)];
  for (const { path, sha256, sizeBytes } of files) {
    const act = { kind: 'send', source: `${folder}/${path}`, to: stagedFile(tree, path), sha256, sizeBytes } as const;
    const name = `${property.address}/send/${path}`;
    const deadlineMs = transferDeadlineMs(sizeBytes);
    steps.push(buildStep({ ...about, name, class: 'converge', act, needs: steps.slice(-1), deadlineMs }));
  }
  const verify = buildStep({
    ...about,
    name: `${property.address}/verify`,
    class: 'job',
    act: jobAct(tree, { name: 'verify-model', args: { tree, files } }),
    needs: steps.slice(-1),
    deadlineMs: transferDeadlineMs(totalBytes(files)),
  });
  return [...steps, verify];
}

function stagingSteps(work: TreeWork, { files, source }: DesiredModel, account: string | undefined): readonly Step[] {
  switch (source.kind) {
    case 'controller':
      return sendSteps(work, files, source.folder);
    case 'node':
      return fetchSteps(work, files, { kind: 'folder', folder: { kind: 'node-path', path: source.folder } });
    case 'url':
      return fetchSteps(work, files, account === undefined ? source : { ...source, account });
  }
}

/**
 * From its source to a published model: nothing is used before every file of it has been checked on the node.
 * @param account what reads from the network runs as it; undefined is root
 */
export function modelSteps(work: TreeWork, wanted: DesiredModel, account: string | undefined): readonly Step[] {
  const { property } = work;
  const staging = stagingSteps(work, wanted, account);
  const publish = publishStep(work, staging.slice(-1));
  const gate = gateStep({
    node: property.node,
    resource: 'model',
    name: `${property.address}/gate`,
    needs: [publish],
    expect: patchesOf([property]),
    deadlineMs: 120_000,
  });
  return [...staging, publish, gate];
}
