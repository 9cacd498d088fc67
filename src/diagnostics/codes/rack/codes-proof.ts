import { its, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about how ranks stopped, and about checking that a started mesh answers as before. */
export const proofCodes = {
  'mesh/reboot-mark': {
    evidence: ['reboot-mark'],
    summary: 'A Mac needs a restart before any rank can start there.',
    cause:
      'After a rank exits, macOS reclaims its wired memory: `vm_stat` should show about as much as before the rank started. If it shows much more, or if a process survives SIGKILL, the kernel is holding on to the memory and only a restart of the Mac helps. meshwright marks such a node and starts no rank there until its next boot session.',
    hint: prose`Restart the named Macs: ${meshwright('reboot')}`,
  },
  'mesh/left-to-restart': {
    severity: 'warning',
    summary: 'The restart will clear what a rank left behind.',
    cause:
      'All ranks on a Mac are stopped before it restarts or shuts down. This rank survived SIGKILL or left its memory wired. The restart clears that, so nothing waits for it.',
    hint: 'If the Mac does not go down within a few minutes, hold its power button.',
  },
  'mesh/cut-off': {
    severity: 'warning',
    summary: 'The stop may cut off requests.',
    cause:
      'The gateway was closed and requests in flight had time to finish. Some are still in flight, or the gateway did not report how many. The stop continues.',
    hint: 'Clients must send these requests again. If answers need more time, stop the placement when it is idle.',
  },
  'mesh/killed': {
    severity: 'notice',
    summary: 'A rank did not stop when asked and was killed.',
    cause:
      "It did not exit within its grace period, so SIGKILL ended it. This happens to a rank that waits for a lost peer. Before the kill, `sample` recorded the rank's thread stacks.",
    hint: 'If it happens repeatedly, read the sample on the node: it shows what the rank was waiting for.',
  },
  'mesh/lost-rank': {
    severity: 'warning',
    summary: 'A rank of a placement cannot be observed, and the other ranks still run.',
    cause:
      "A mesh needs all its ranks. If one rank's Mac is gone, the other ranks wait for it, spin, and keep their memory. The placement cannot start again until all its nodes are observed. `apply` does not stop ranks that may be serving; `stop` stops every rank that it can observe.",
    hint: prose`Bring the Mac back, or stop the other ranks: ${meshwright('stop', its.name)}`,
  },
  'mesh/first-failing-rank': {
    summary: 'This rank of a placement failed first.',
    cause:
      'A start failed, and meshwright read the logs and exit codes of the ranks before stopping them. A rank that logged its own error comes first, then a rank that only exited, then a rank that only complained about others.',
    hint: prose`Read the ranks' logs: ${meshwright('logs')}`,
  },
  'mesh/no-failing-rank': {
    severity: 'notice',
    summary: 'A start failed, and no rank gives a reason.',
    cause: 'No rank exited, and this version of meshwright recognizes no line in their logs since the start.',
    hint: prose`Read the ranks' logs: ${meshwright('logs')}`,
  },
  'mesh/peer-named': {
    summary: 'A rank reports a problem with the connection to another Mac.',
    cause:
      "A start failed. No rank exited or logged a known error. One log has a failure message with another Mac's address on a cable in the file.",
    hint: prose`See the state of that cable and what to do next: ${meshwright('doctor')}`,
  },
  'mesh/another-answer': {
    summary: 'A placement no longer gives the same answer to the same question.',
    cause:
      'A deterministic runtime at temperature 0 gives the same answer after every start with the same file and macOS. A different answer means that some rank computes something different. Possible causes are a damaged tensor cache, a changed model file, or a part of the model in the wrong place.',
    hint: prose`Restart it; this verifies every cached tensor: ${meshwright('restart', its.placement)}. If the answer still differs, do not trust it, and check the model files: ${meshwright('doctor')}. If the new answer is right, remove the placement (set \`state: stopped\`, then apply) and delete the file \`golden\` from its folder on the leader.`,
  },
  'mesh/too-slow': {
    summary: 'A placement is slower than expected or slower than before.',
    cause:
      'The golden question measured its speed after everything was loaded. The speed is below `expect.tokensPerSecond` or, without that key, below a fifth of the speed of an earlier start with the same file and macOS. Typical reasons are the wrong network, a slow cable, or a Mac that is busy with other work.',
    hint: prose`Fix the named problem, then start it again: ${meshwright('apply')}. If the expectation is wrong, change \`expect.tokensPerSecond\` in the file.`,
  },
  'mesh/speed-unknown': {
    severity: 'warning',
    summary: 'Cannot tell whether a placement is as fast as the file expects.',
    cause:
      'Its endpoint does not report the number of tokens in `usage.completion_tokens` (counting words would be wrong), or the answer was too short to measure.',
    hint: prose`Measure its speed: ${meshwright('bench')}. If the runtime does not count tokens, remove \`expect.tokensPerSecond\` from the file.`,
  },
} as const satisfies Record<string, CodeEntry>;
