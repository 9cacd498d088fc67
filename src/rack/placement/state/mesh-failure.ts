import { firstFailingRank, rankWords } from '../../../drivers/classify-log.ts';
import type { FailureAction, RuntimeDriver } from '../../../drivers/contract/driver.ts';
import type { NodeName } from '../../../model/node.ts';
import type { Prose } from '../../../model/text/prose.ts';
import type { Mesh } from './judge-mesh.ts';

/** What the ranks of a mesh that does not serve say of it themselves. */
export interface MeshFailure {
  readonly node: NodeName;
  /** `rank 1 on studio-2 exited (1)`. */
  readonly rank: string;
  readonly line: string;
  readonly meaning: string;
  readonly action: FailureAction;
  /** What to do, in one sentence. */
  readonly cure: Prose;
  /** Whether it got no answer from its peer, at an address on a cable. */
  readonly isUnreached?: true;
}

/** The rank that failed first, and what its log means; `undefined` where no log says anything that is known. */
export function meshFailure(
  { members }: Pick<Mesh, 'members'>,
  { signatures }: Pick<RuntimeDriver, 'signatures'>,
): MeshFailure | undefined {
  const ranks = members.flatMap(({ node, seen }, rank) => {
    if (seen.kind === 'unknown') return [];
    const { record, state, lastExit } = seen.value;
    const exit = state === 'exited' && lastExit !== undefined ? { exit: lastExit } : {};
    return [{ node, rank, lines: record?.said ?? [], ...exit }];
  });
  const failing = firstFailingRank(signatures, ranks);
  if (failing?.failure === undefined) return undefined;
  const { said, failure } = failing;
  const { meaning, action, cure, isUnreached } = failure.signature;
  const told = { node: said.node, rank: rankWords(said), line: failure.line, meaning, action, cure };
  return isUnreached === undefined ? told : { ...told, isUnreached };
}
