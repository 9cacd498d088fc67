import type { DesiredModel, SourceKind } from '../../../model/desired.ts';
import type { Step } from '../../../model/step.ts';
import { publishStep, type TreeWork, treeGate } from '../trees/tree-steps.ts';
import { type AdoptedCopy, adoptStep } from './adopted-copy.ts';
import { sendFolder } from './controller-source.ts';
import type { Bytes, Fetch, NetworkUse } from './fetch.ts';
import { copyFolder } from './node-source.ts';
import { downloadArchive } from './release-source.ts';
import { downloadFiles } from './url-source.ts';

/** How a node gets bytes from each kind of source. */
const fetches: { readonly [K in SourceKind]: Fetch<K> } = {
  controller: sendFolder,
  node: copyFolder,
  url: downloadFiles,
  hub: ({ tree }) => {
    throw new Error(`the commit of ${tree.name} is not settled`);
  },
  release: downloadArchive,
};

/** The steps that bring bytes into a staging folder; the next step waits for the last one. */
export const fetchSteps = (work: TreeWork, bytes: Bytes<SourceKind>, use: NetworkUse): readonly Step[] =>
  (fetches[bytes.kind] as Fetch<SourceKind>)(work, bytes, use);

/**
 * The steps from a model's source to the published model, which is used only after the node has verified every file.
 * What `copy` has is cloned first.
 */
export function modelSteps(
  work: TreeWork,
  wanted: DesiredModel,
  copy: AdoptedCopy | undefined,
  use: NetworkUse,
): readonly Step[] {
  const staging = fetchSteps(work, { ...wanted.source, files: wanted.files }, use);
  const adopt = copy === undefined ? [] : [adoptStep(work, copy)];
  const first = staging.slice(0, 1).map((one) => ({ ...one, needs: [...one.needs, ...adopt.map(({ id }) => id)] }));
  const publish = publishStep(work, staging.slice(-1));
  return [...adopt, ...first, ...staging.slice(1), publish, treeGate(work.property, [publish])];
}
