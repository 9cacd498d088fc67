import type { DesiredModel, SourceKind } from '../../../model/desired.ts';
import { totalBytes } from '../../../model/model-bytes.ts';
import type { JobArgs } from '../../../model/node-script.ts';
import type { Step } from '../../../model/step.ts';
import { buildStep, scriptStep } from '../../build-step.ts';
import type { Property } from '../../resource.ts';
import { jobAct, prepareStep, publishStep, type TreeWork, transferDeadlineMs, treeGate } from '../trees/tree-steps.ts';
import { type AdoptedCopy, adoptStep } from './adopted-copy.ts';
import { sendFolder } from './controller-source.ts';
import type { Fetch, NetworkUse } from './fetch.ts';
import { copyFolder } from './node-source.ts';
import { downloadArchive } from './release-source.ts';
import { downloadFiles } from './url-source.ts';

/** How a node gets bytes from each kind of source. {@link fetchSteps} is the only way in. */
const fetches: { readonly [K in SourceKind]: Fetch<K> } = {
  controller: sendFolder,
  node: copyFolder,
  url: downloadFiles,
  hub: ({ tree }) => {
    throw new Error(`the commit of ${tree.name} is not settled`);
  },
  release: downloadArchive,
};

export const fetchSteps: Fetch<SourceKind> = (work, bytes, use) =>
  (fetches[bytes.kind] as Fetch<SourceKind>)(work, bytes, use);

/** The steps from a source to the published model, whose files the node verifies first; clones what `copy` has. */
export function modelSteps(
  work: TreeWork,
  wanted: DesiredModel,
  copy: AdoptedCopy | undefined,
  use: Omit<NetworkUse, 'needs'>,
): readonly Step[] {
  const adopt = copy === undefined ? [] : [adoptStep(work, copy)];
  const prepare = { ...prepareStep(work), needs: adopt.map(({ id }) => id) };
  const fetch = fetchSteps(work, { ...wanted.source, files: wanted.files }, { ...use, needs: [prepare] });
  const publish = publishStep(work, fetch.slice(-1));
  return [...adopt, prepare, ...fetch, publish, treeGate(work.property, [publish])];
}

/** Serves a published model to other Macs; the Mac itself is not changed. */
export function serveSteps(property: Property, args: JobArgs['serve-model']): readonly Step[] {
  const act = jobAct(args.tree, { name: 'serve-model', args });
  const serve = buildStep({
    name: `${property.address}/serve`,
    class: 'job',
    act,
    towards: [property],
    deadlineMs: transferDeadlineMs(totalBytes(args.files)),
  });
  const clear = scriptStep({
    name: `${property.address}/serve/clear`,
    call: { name: 'clear-staging', args: { folders: [], jobs: act.kind === 'job' ? [act.key] : [] } },
    towards: [property],
    needs: [serve],
    deadlineMs: 120_000,
  });
  return [serve, clear].map((one) => ({ ...one, changes: [] }));
}
