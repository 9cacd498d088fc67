import { totalBytes } from '../../model/model-bytes.ts';
import type { NodeName } from '../../model/node.ts';
import type { Plan } from './plan.ts';

/** A published copy of a model whose files are hashed on its node. */
export interface HashWork {
  readonly node: NodeName;
  readonly model: string;
  readonly files: number;
  readonly bytes: number;
}

/** The copies that a plan hashes. */
export const hashWorks = ({ steps }: Pick<Plan, 'steps'>): readonly HashWork[] =>
  steps.flatMap(({ node, act }) => {
    if (act.kind !== 'job' || act.name !== 'rehash-model') return [];
    const { tree, files } = act.args;
    return [{ node, model: tree.name, files: files.length, bytes: totalBytes(files) }];
  });
