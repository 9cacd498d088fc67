import { type Draft, type DraftPlacement, type DraftRuntime, draftLayouts, pointerTo } from '../../desired/draft.ts';
import type { FileFinding, FileRule } from '../../desired/rules/rule.ts';
import { placementSubject } from '../../model/subject.ts';

/** Rules about drafters. The list of placement keys refuses a drafter for other drivers. */
export const rules: readonly FileRule[] = [severalNodes, ownModel, oldBuild];

const runtimeOf = ({ runtime }: DraftPlacement, { runtimes }: Draft): DraftRuntime | undefined =>
  runtimes.find((one) => one.name === runtime?.text && one.driver?.text === 'llamacpp-rpc');

/** A drafter next to RPC workers has crashed them, so it is only used on a single node. */
function severalNodes(draft: Draft): readonly FileFinding[] {
  return draftLayouts(draft.placements).flatMap((placement): readonly FileFinding[] => {
    const { name, drafter, nodes, endpointPointer, pointer, isFallback } = placement;
    if (drafter === undefined || nodes.length < 2 || runtimeOf(placement, draft) === undefined) return [];
    const where = isFallback === true ? `The fallback of ${name}` : name;
    return [
      {
        code: 'llama/drafter-needs-one-node',
        ...(isFallback === true
          ? { pointer: pointerTo(endpointPointer, 'nodes') }
          : { pointer: pointerTo(pointer, 'drafter') }),
        at: 'key',
        detail: `${where} has ${nodes.length} nodes and the drafter ${drafter.text}.`,
        subject: placementSubject(name),
      },
    ];
  });
}

function ownModel(draft: Draft): readonly FileFinding[] {
  return draft.placements.flatMap((placement): readonly FileFinding[] => {
    const { name, drafter, model } = placement;
    if (drafter === undefined || drafter.text !== model?.text || runtimeOf(placement, draft) === undefined) return [];
    const detail = `${name} would load ${drafter.text} twice.`;
    return [{ code: 'llama/drafter-is-model', pointer: drafter.pointer, detail, subject: placementSubject(name) }];
  });
}

/**
 * The first build that is known to take `--spec-type draft-simple`. Earlier ones refuse it or have a different name.
 * @see llama.cpp, pull request 22964 of May 12, 2026, and issue 23242 with this build
 */
const firstBuild = 9_193;

function oldBuild(draft: Draft): readonly FileFinding[] {
  return draft.placements.flatMap((placement): readonly FileFinding[] => {
    const { name, drafter } = placement;
    const version = runtimeOf(placement, draft)?.version;
    const build = /^b([1-9][0-9]{2,5})$/.exec(version?.text ?? '')?.[1];
    if (drafter === undefined || version === undefined || build === undefined || Number(build) >= firstBuild) return [];
    return [
      {
        code: 'llama/drafter-needs-newer-build',
        pointer: drafter.pointer,
        detail: `${name} runs ${version.text}; drafters need b${firstBuild} or later.`,
        subject: placementSubject(name),
        others: [{ pointer: version.pointer, detail: 'The version is set here.' }],
      },
    ];
  });
}
