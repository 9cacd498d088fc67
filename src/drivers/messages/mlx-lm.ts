import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from '../contract/driver.ts';
import { oldestMlxLm } from '../known/model-types.ts';
import { mlxSignatures } from './mlx-library.ts';
import { logPatternOf, signaturesFrom, signaturesOf } from './table.ts';

/** Failures that prevent a group from forming. */
const ofTheGroup = signaturesOf({
  'no-group': {
    pattern: /^meshwright: group of \d+ ranks over \w+ instead of \d+/,
    source: 'our program for ranks, src/drivers/mlx/configure.ts',
    meaning: 'The ranks did not find each other, so the model was not loaded.',
    action: 'restart',
    cure: 'Restart the placement.',
  },
  connecting: {
    pattern: /Connection attempt \d+ waiting \d+ ms/,
    source: 'mlx/distributed of mlx 0.32',
    meaning: 'A rank is waiting for the leader, which is normal for 15 seconds.',
    action: 'wait',
    cure: 'Wait for the leader.',
  },
});

/** Failures of the model, or of a rank that was running before. */
const ofTheModel = signaturesFrom('mlx_lm/utils.py of mlx-lm 0.32', {
  segfault: {
    pattern: /Fatal Python error: Segmentation fault|\bibv_reg_mr\b/,
    source: 'faulthandler of Python 3.12; a crash report of macOS',
    meaning: 'The rank crashed. This can also happen when RDMA is unavailable.',
    action: 'apply',
    cure: prose`Check RDMA on this Mac (\`${aside(meshwright('doctor'))}\`).`,
  },
  'cannot-split': {
    pattern: /does not support (?:any sharding|tensor parallelism|pipelining)/,
    meaning: 'This version of mlx-lm cannot split this kind of model this way.',
    action: 'change-file',
    cure: 'Choose the other kind of sharding, a newer mlx-lm, or one node.',
  },
  'not-converted': {
    pattern: /Pipeline loading is only supported for MLX converted models/,
    meaning: 'A pipeline supports only models that were converted for mlx.',
    action: 'change-file',
    cure: 'Use a converted model that includes model.safetensors.index.json.',
  },
  'unknown-model': {
    pattern: /Model type \S+ not supported/,
    meaning: 'This version of mlx-lm does not support this kind of model.',
    action: 'change-file',
    cure: 'Use a newer mlx-lm in the requirements.',
  },
  'unknown-option': {
    pattern: /: error: unrecognized arguments: /,
    source: 'argparse of Python 3.12',
    meaning: 'This mlx-lm does not support one of its command line options.',
    action: 'change-file',
    cure: `Use mlx-lm ${oldestMlxLm} or newer in the requirements, and correct \`args\`.`,
  },
  'no-package': {
    pattern: /ModuleNotFoundError: No module named '/,
    source: 'Python 3.12',
    meaning: 'The runtime lacks a Python package.',
    action: 'change-file',
    cure: 'Compile the requirements again with mlx-lm and all its dependencies.',
  },
  'generation-died': {
    pattern: /generation thread died:/,
    source: 'mlx_lm/server.py of mlx-lm 0.32.0 to 0.32.2; seen with 0.32.2',
    meaning:
      'The thread that loads the model and generates answers died; the logged line ends with the reason. Without one, mlx-lm gave none.',
    action: 'change-file',
    cure: prose`If the reason names the model's files, check them (\`${aside(meshwright('models verify', '--full'))}\`); otherwise restart the placement.`,
    isFinal: true,
  },
});

/**
 * Failures in the log of a rank. A peer lost over RDMA leaves no line: the other ranks wait forever without logging,
 * and only a token check reveals it.
 */
export const signatures: readonly FailureSignature[] = [...mlxSignatures, ...ofTheGroup, ...ofTheModel];

/** Log lines about the group, and about failures: the known ones and all others of mlx's own libraries. */
export const logPattern = logPatternOf(
  signatures,
  '^meshwright: group of [0-9]+ ranks over ',
  // All but `Connection attempt`.
  '[[](jaccl|ring|distributed)[]] ([^C]|C[^o]|Co[^n])',
  // The end of a traceback, for an exception without text.
  '^[A-Za-z0-9_.]+(Error|Exception)$',
);

/**
 * Log lines with a client's request: mlx_lm.server logs the body if it is not a JSON object.
 *
 * @see mlx_lm/server.py of mlx-lm 0.32.2, lines 1277 and 1290
 */
export const requestPattern = 'Raw body: |Invalid Request Body: ';
