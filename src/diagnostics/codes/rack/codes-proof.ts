import { its, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about how a rank ended, and about the proof that a started mesh serves as it did before. */
export const proofCodes = {
  'mesh/needs-reboot': {
    summary: 'A Mac needs a restart before any rank is started there.',
    cause:
      'When a rank has ended, the memory that it had wired goes back to macOS: `vm_stat` shows about as much wired as before any rank ran. Where much more stays wired, or where not even KILL ends a process, the kernel holds it, and only a restart of the Mac helps. The stop that found it marks the node until its next boot session, and no rank is started there meanwhile.',
    hint: prose`Restart the Macs that are named: ${meshwright('reboot')}`,
  },
  'mesh/left-to-restart': {
    severity: 'warning',
    summary: 'What a rank holds goes only with the restart that follows.',
    cause:
      'Before a Mac is restarted or switched off, what runs there is stopped. Not even KILL ended this rank, or its memory stayed wired: that is what the restart is for, and nothing waits for it.',
    hint: 'If the Mac does not go down by itself within some minutes, hold its power button.',
  },
  'mesh/cut-off': {
    severity: 'warning',
    summary: 'Requests may be cut off by the stop.',
    cause:
      'The door was closed and those inside had their time to finish. Some were inside still, or the doorman did not say how many, and the stop goes on.',
    hint: 'Clients have to ask again. If answers need longer, stop the placement while nobody asks.',
  },
  'mesh/killed': {
    severity: 'notice',
    summary: 'A rank did not end by itself and was killed.',
    cause:
      'It was asked to end, did not within its time of grace, and was ended by KILL, as a rank that waits for a lost peer has to be. Before that `sample` wrote down where its threads stood.',
    hint: 'If it happens again and again, read the sample on the node: it says what the rank was waiting for.',
  },
  'mesh/lost-member': {
    severity: 'warning',
    summary: 'A member of a placement cannot be seen, and the others still run.',
    cause:
      'A mesh needs all its ranks. Where the Mac of one is away, the others wait for it, spin, and hold their memory. Nothing starts the placement again before every member is seen, and `apply` stops nothing of which it does not know whether it serves; `stop` stops what it sees.',
    hint: prose`Bring the Mac back, or stop the others: ${meshwright('stop', its.name)}`,
  },
  'mesh/first-failing-rank': {
    summary: 'This rank of a placement failed first.',
    cause:
      'A start came to nothing, and before its ranks were stopped their logs and exits were read. A rank that says itself what is wrong counts before one that only ended, and that before one that only complains of the others.',
    hint: prose`See what the ranks said: ${meshwright('logs')}`,
  },
  'mesh/no-failing-rank': {
    severity: 'notice',
    summary: 'A start came to nothing, and no rank says why.',
    cause: 'No rank has ended, and no line of their logs since the start is one that this version knows.',
    hint: prose`See what the ranks said: ${meshwright('logs')}`,
  },
  'mesh/peer-named': {
    summary: 'A rank complains of the way to another Mac.',
    cause:
      'A start failed. No rank ended or said anything that this version knows, but the log of one names the address of another Mac on a cable of the file, in a line that tells of a failure.',
    hint: prose`See what is known of that cable, and what to do next: ${meshwright('doctor')}`,
  },
  'mesh/another-answer': {
    summary: 'A placement answers the same question otherwise than before.',
    cause:
      'Where a runtime is deterministic, the same question with temperature 0 has the same answer after every start of the same file on the same macOS. Another one means that some rank computes something else: a tensor of a cache that was damaged, a model file that was changed, a part of the model at the wrong place.',
    hint: prose`Start it anew, which looks at every cached tensor again: ${meshwright('restart', its.placement)}. If the answer stays another one, do not trust it, and look at the files of the model: ${meshwright('doctor')}. If it is right after all, take the placement away (state: stopped, apply) and remove the file \`golden\` from its folder on the leader.`,
  },
  'mesh/too-slow': {
    summary: 'A placement is slower than the file expects, or than it was.',
    cause:
      'Its speed was measured with the golden question, once everything was loaded, and is below `expect.tokensPerSecond`, or, without that, below a fifth of what an earlier start of the same file on the same macOS gave. A mesh that came back on the wrong network, over a slow cable or with a Mac that does something else beside it serves, and slowly.',
    hint: prose`Mend what is named, then start it anew: ${meshwright('apply')}. If the expectation is wrong, change expect.tokensPerSecond in the file.`,
  },
  'mesh/speed-unknown': {
    severity: 'warning',
    summary: 'Nobody knows whether a placement is as fast as the file expects.',
    cause:
      'Its endpoint does not say in `usage.completion_tokens` how many tokens an answer has (words are no tokens), or the answer was too short to tell.',
    hint: prose`Ask for its speed: ${meshwright('bench')}. Where the runtime counts no tokens, leave expect.tokensPerSecond out of the file.`,
  },
} as const satisfies Record<string, CodeEntry>;
