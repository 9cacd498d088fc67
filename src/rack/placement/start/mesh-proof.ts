import { type Digest, digestOf } from '../../../model/digest.ts';
import { read } from '../../fact.ts';
import { macosVersionFact } from '../../macos/fact.ts';
import type { View } from '../../resource.ts';
import type { PlacementCase } from '../state/placement-cases.ts';
import type { MeshProof } from './kick-ranks.ts';

/**
 * What the next start of a placement is compared with. Equal answers are only to be expected of the same placement on
 * the same builds of macOS, which brings the kernels that compute. Where a build was not seen there is no key: what was
 * kept of the same file is compared all the same, and stays.
 *
 * @param digest of the placement as the file has it
 */
export function proofOf({ placement, mesh }: PlacementCase, digest: Digest, { observation }: View): MeshProof {
  const builds = placement.nodes.flatMap((node) => {
    const version = read(observation.nodes[node]?.facts, macosVersionFact);
    return version?.kind === 'known' ? [`${version.value.build}${version.value.extra ?? ''}`] : [];
  });
  const key = builds.length === placement.nodes.length ? digestOf({ digest, builds }) : undefined;
  const leader = mesh.members[0]?.seen;
  const record = leader?.kind === 'known' ? leader.value.record : undefined;
  const isComparable = key === undefined ? record?.digest === digest : record?.golden?.key === key;
  const { tokensPerSecond } = placement;
  const golden = isComparable ? record?.golden : undefined;
  return {
    ...(key === undefined ? {} : { key }),
    ...(golden === undefined ? {} : { kept: golden.sha256 }),
    ...(golden?.steadyPerSecond === undefined ? {} : { keptPerSecond: golden.steadyPerSecond }),
    ...(tokensPerSecond === undefined ? {} : { tokensPerSecond }),
  };
}
