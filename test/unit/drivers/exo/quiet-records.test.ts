import { describe, expect, it } from 'vitest';
import { plainRecords } from '../../../../src/drivers/exo/configure.ts';

const node = '3e'.repeat(16);

/** One message of exo for each form, with sample numbers and names. */
const messages: readonly string[] = [
  '====',
  'Starting EXO | pid=812',
  'pid = 812',
  'EXO_LIBP2P_NAMESPACE: rack-1',
  'Continuous batching disabled (--no-batch)',
  'FAST_SYNCH forced OFF',
  'Running in OFFLINE mode — no internet checks, local models only',
  `Starting node ${node}`,
  'Starting prefill',
  'Stopping Worker',
  'Node elected Master - promoting self',
  `Node ${node} elected master - demoting self`,
  'Cancelling other campaign',
  'Waiting for other campaign to finish',
  'Election shutdown',
  'Resetting API State',
  'Unpausing API',
  'Subscribed to global_events',
  'Nack attempt 2: Requesting Event Log from 17',
  `Manually removing node ${node} due to inactivity`,
  'Error in command processor',
  'Worker plan: LoadModel',
  'Instance 0b7c2a3e-1111-2222-3333-444455556666 exceeded 3 retries, requesting deletion',
  'DownloadCoordinator: Model mlx-community/tiny found at /Library/Application Support/models/tiny',
  'Fast synch flag: 1',
  'hello from the runner',
  'runner warming up',
  'runner initialized in 12.3 seconds',
  "Checking runner's status",
  'Runner was found to be alive, attempting to join process',
  'Runner terminated with exit code 9',
  'Runner communication closed unexpectedly',
  'Runner supervisor shutting down',
  "Child process didn't shutdown succesfully, terminating",
  "Runner process didn't respond to SIGTERM, killing",
  'Runner process succesfully terminated',
  'Group size: 2, group rank: 1',
  'Rank 1 mlx distributed initialization complete',
  'rank 1 MLX_JACCL_COORDINATOR: 10.77.0.1:5000',
  'Time taken to shard and load model: 12.34s',
  'Generating warmup tokens',
  'warmed up by generating 50 tokens',
  'KV cache updated (index 2): 512 tokens',
  'EXO terminated due to unhandled exception',
  'EXO Shutdown complete',
];

describe('the patterns for harmless exo log records', () => {
  it.each(plainRecords.map((form, at) => [form, messages[at]]))('match only their own message: %s', (form, message) => {
    expect(messages.filter((one) => new RegExp(`^(?:${form})$`).test(one))).toEqual([message]);
  });

  it('match no request text', () => {
    const forms = new RegExp(`^(?:${plainRecords.join('|')})$`);
    for (const message of messages) {
      expect(message).toMatch(forms);
      expect(`${message} my purple elephant`).not.toMatch(forms);
      expect(`my purple elephant ${message}`).not.toMatch(forms);
    }
    expect('').not.toMatch(forms);
  });
});
