import { shortDigest } from '../../model/digest.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { bytesText } from '../../model/text/units.ts';
import { defineNodeRule, type RuleCodes } from '../define-rule.ts';
import type { Examination } from '../examination.ts';
import { readValue } from '../fact.ts';
import { jobsFact } from './jobs-fact.ts';
import { treesFact } from './trees-fact.ts';
import { wrongText } from './trees-reading.ts';

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

export const damagedModels = defineNodeRule(codes, ({ name: node, facts }, { desired }) =>
  (readValue(facts, treesFact) ?? []).flatMap((tree) => {
    const wrong = tree.kind === 'model' ? wrongText(tree) : undefined;
    if (wrong === undefined || !isDeclaredIn(desired, tree.name, tree.digest)) return [];
    return [{ code: 'model/damaged' as const, detail: prose`${tree.name} on ${named(node)} has ${wrong}.` }];
  }),
);

const jobCodes = {
  'model/being-prepared': {
    severity: 'notice',
    summary: 'A job on this Mac prepares a model.',
    cause: 'An `apply` or `models pull` started it, and it continues without that computer.',
    hint: 'Nothing to do now: the next `apply` or `models pull` attaches to it, and publishes the model when it is complete.',
    facts: [jobsFact],
  },
} satisfies RuleCodes;

/** A job that only serves or hashes a published model does not prepare it. */
const preparing = ['adopt-model', 'fetch-model', 'verify-model'];

export const preparedModels = defineNodeRule(jobCodes, ({ name: node, facts }, { desired }) =>
  (readValue(facts, jobsFact) ?? []).flatMap(({ fields }) => {
    const { name: job = '', tree = '', state, done, total, until } = fields;
    const [kind, model = '', version] = tree.split(' ');
    if (kind !== 'model' || state !== 'running' || !preparing.includes(job)) return [];
    if (!isDeclaredIn(desired, model, version)) return [];
    const bytes = [done, total].map((text) => (text === undefined ? '' : bytesText(Number(text))));
    const has = bytes.includes('') ? '' : `: it has ${bytes.join(' of ')}`;
    const waits = until === undefined ? '' : `, and waits until ${until} (downloads.window)`;
    const detail = prose`A job on ${named(node)} prepares ${model}${has}${waits}.`;
    return [{ code: 'model/being-prepared' as const, detail }];
  }),
);

/** If the list of a model's files is not resolved, each of its versions may be the one in the file. */
const isDeclaredIn = ({ models }: Examination['desired'], model: string, version: string | undefined): boolean =>
  models.some(({ name, digest }) => name === model && (digest === undefined || shortDigest(digest) === version));
