import { shortDigest } from '../../model/digest.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { defineNodeRule, type RuleCodes } from '../define-rule.ts';
import { readValue } from '../fact.ts';
import { wrongText } from './trees.ts';
import { treesFact } from './trees-fact.ts';

const codes = {
  'model/damaged': {
    summary: 'A model on this Mac has wrong contents.',
    cause:
      'The keeper, which hashes the models a little every minute, or `models verify --full` found a file whose SHA-256 differs from the one with which it was published. Neither its size nor its times have changed, so the disk may have damaged it. The model counts as changed.',
    hint: prose`Replace the wrong files: ${meshwright('apply')}. If this happens again, check the disk of this Mac. Ranks that are running keep the weights that they have loaded.`,
    role: 'converged',
    facts: [treesFact],
  },
} satisfies RuleCodes;

/**
 * Nodes on which a model of the file was hashed and has wrong files. If the list of a model's files is not resolved, each
 * of its versions may be the one in the file.
 */
export const damagedModels = defineNodeRule(codes, ({ name: node, facts }, { desired }) =>
  (readValue(facts, treesFact) ?? []).flatMap((tree) => {
    const wrong = tree.kind === 'model' ? wrongText(tree) : undefined;
    const isDeclared = desired.models.some(
      ({ name, digest }) => name === tree.name && (digest === undefined || shortDigest(digest) === tree.digest),
    );
    if (wrong === undefined || !isDeclared) return [];
    return [{ code: 'model/damaged' as const, detail: prose`${tree.name} on ${named(node)} has ${wrong}.` }];
  }),
);
