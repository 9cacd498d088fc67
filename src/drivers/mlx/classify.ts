import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from '../contract/driver.ts';
import { gpuSignatures, jacclSignatures } from '../contract/signatures.ts';
import { oldestVersion } from './shards.ts';

/** What else keeps a group from coming together. */
const ofTheGroup: readonly FailureSignature[] = [
  {
    id: 'no-group',
    pattern: /^meshwright: group of \d+ ranks over \w+ instead of \d+/,
    meaning: 'The ranks did not find each other, so the model was not loaded.',
    action: 'restart',
    cure: 'Restart the placement.',
  },
  {
    id: 'no-configuration',
    pattern: /\[(?:jaccl|ring)\] (?:You need to provide via environment|The (?:configuration|device file|devices) )/,
    meaning: 'A rank was started without the files that its group is made from.',
    action: 'report',
    cure: 'Start anew; if it comes back, report it with the log.',
  },
  {
    id: 'connecting',
    pattern: /Connection attempt \d+ waiting \d+ ms/,
    meaning: 'A rank waits for the leader, which is normal for fifteen seconds.',
    action: 'wait',
    cure: 'Wait.',
  },
];

/** What goes wrong with the model, or with whoever was there before. */
const ofTheModel: readonly FailureSignature[] = [
  {
    id: 'peer-lost',
    pattern: /\[ring\] (?:connection to a peer was lost|Too many send\/recv errors)/,
    meaning: 'Another rank is gone.',
    action: 'restart',
    cure: 'Restart the placement: a lost rank never comes back alone.',
  },
  {
    id: 'segfault',
    pattern: /Fatal Python error: Segmentation fault|\bibv_reg_mr\b/,
    meaning: 'The rank crashed, as it does where RDMA is not there.',
    action: 'apply',
    cure: prose`Look at RDMA on this Mac (\`${aside(meshwright('doctor'))}\`).`,
  },
  {
    id: 'cannot-split',
    pattern: /does not support (?:any sharding|tensor parallelism|pipelining)/,
    meaning: 'This version of mlx-lm cannot split this kind of model so.',
    action: 'change-file',
    cure: 'Choose the other kind of sharding, a newer mlx-lm, or one node.',
  },
  {
    id: 'not-converted',
    pattern: /Pipeline loading is only supported for MLX converted models/,
    meaning: 'A pipeline takes only models that were converted for mlx.',
    action: 'change-file',
    cure: 'Take a converted model, with its model.safetensors.index.json.',
  },
  {
    id: 'unknown-model',
    pattern: /Model type \S+ not supported/,
    meaning: 'This version of mlx-lm does not know this kind of model.',
    action: 'change-file',
    cure: 'Put a newer mlx-lm into the requirements.',
  },
  {
    id: 'unknown-option',
    pattern: /: error: unrecognized arguments: /,
    meaning: 'This mlx-lm does not know an option that it was started with.',
    action: 'change-file',
    cure: `Put mlx-lm ${oldestVersion} or newer into the requirements, and correct \`args\`.`,
  },
  {
    id: 'no-package',
    pattern: /ModuleNotFoundError: No module named '/,
    meaning: 'A package of Python is missing in the runtime.',
    action: 'change-file',
    cure: 'Compile the requirements again, with mlx-lm and everything that it needs.',
  },
];

/**
 * What the log of a rank tells of. A peer that is lost over RDMA has no line: the others wait for it for ever, with
 * nothing in their logs, and only a token shows it.
 *
 * @see mlx/distributed/jaccl, mlx/distributed/ring of mlx 0.32 and mlx_lm/utils.py of mlx-lm 0.32 for the words;
 * issues 3777, 3910, 4191, 4209, 4530 of ml-explore/mlx and 1847 of exo for what they mean
 */
export const signatures: readonly FailureSignature[] = [
  ...jacclSignatures,
  ...gpuSignatures,
  ...ofTheGroup,
  ...ofTheModel,
];
