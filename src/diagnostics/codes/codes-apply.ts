import { aside, blank, its, meshwright, withTail } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { CodeEntry } from '../code-entry.ts';

/** Codes about running plans and playbooks. */
export const applyCodes = {
  'journal/cannot-write': {
    summary: 'The journal of the run cannot be written.',
    cause:
      'The state folder is missing, full or read-only for this user. Nothing is sent that is not written down first.',
    hint: 'Make room in the state folder, or name another one: MESHWRIGHT_STATE=FOLDER',
  },
  'journal/cannot-read': {
    summary: 'A journal of earlier runs cannot be read.',
    cause: 'A file of the state folder belongs to another user, or is a folder or a pipe.',
    hint: 'Check who owns the named path. Nothing but history and logs needs it.',
  },
  'gate/not-reached': {
    summary: 'What was changed is not seen on the node.',
    cause:
      'A step said that it was done, and fresh observations until the deadline show another value: it takes longer than anybody expected, or something else on the Mac changes it back.',
    hint: prose`Run it again: it looks first. If it stays so, see what the node says: ${meshwright('logs')}`,
  },
  'gate/not-seen': {
    summary: 'Nobody could see whether what was changed is there.',
    cause: 'The node stopped answering, or one of its tools did, until the deadline of the run for this step.',
    hint: prose`See what is unknown and why: ${meshwright('facts')}`,
  },
  'gate/aborted': {
    summary: 'What was started has ended instead of becoming ready.',
    cause: 'While it was waited for, the node showed a state from which it cannot become ready any more.',
    hint: prose`See what it said: ${meshwright('logs')}`,
  },
  'lease/held': {
    summary: 'Another run holds the lease of a node.',
    cause: 'Somebody else changes this node right now, or did until a moment ago: its lease is renewed all the time.',
    hint: prose`Wait for it: --lease-wait 10m, or ask who is named. See: ${meshwright('lease status')}`,
  },
  'lease/not-taken': {
    summary: 'The lease of a node could not be taken.',
    cause: 'The folder of meshwright on the node cannot be written: the disk is full or damaged.',
    hint: prose`See what the node says, and make room on it: ${meshwright('facts')}`,
  },
  'lease/lost': {
    summary: 'The lease of a node was taken away while the run went on.',
    cause:
      'This computer slept or was cut off for longer than a lease lasts, and somebody else took it over; or somebody removed it. The node has turned away everything that came after that.',
    hint: prose`See who holds it now: ${meshwright('lease status')}. Then run this again: it looks first.`,
  },
  'step/failed': {
    summary: 'A step failed on a node.',
    cause: 'The tool that the step uses on the node ended with an error; its own words are shown.',
    hint: 'Run it again: it looks first. If it stays so, try the named tool on the Mac itself.',
  },
  'step/disk-full': {
    summary: 'The disk of a node is full.',
    cause: 'A file could not be written. What is incomplete is not published, and is gone on with by the next run.',
    hint: 'Make room on the data volume of the node, then run this again.',
  },
  'step/wrong-digest': {
    summary: 'What arrived on a node is not what the file asks for.',
    cause:
      'The SHA-256 of a file differs from the one in the file or its lock: the source was changed, or its list is wrong.',
    hint: 'Compare the source with the digest; correct whichever is wrong. Nothing of it was published.',
  },
  'step/no-full-disk-access': {
    summary: 'macOS does not let the ssh session make this change.',
    cause: 'Programs of an ssh session may change network preferences and accounts only with Full Disk Access.',
    hint: 'On the Mac: System Settings > General > Sharing > Remote Login (i): allow full disk access for remote users.',
    hands: true,
  },
  'step/needs-reboot': {
    summary: 'A process on a node cannot be ended.',
    cause:
      'It survived even KILL: it waits inside of the kernel, as ranks do whose RDMA hangs. Only a restart ends it.',
    hint: prose`Restart the Mac: ${meshwright('reboot', its.node)}`,
  },
  'step/fetch-failed': {
    summary: 'A node could not fetch a file from its URL.',
    cause: 'The name, the server, the path or the network in between failed; the words of curl are shown.',
    hint: prose`Try the URL from the node: ${withTail(meshwright('exec', its.node), 'curl', '-I', blank('URL'))}. What has arrived is kept.`,
  },
  'step/stalled': {
    summary: 'A job on a node makes no progress any more.',
    cause:
      'Its process lives, and for the whole deadline of the step not one byte was added: its source or its disk hangs.',
    hint: 'Look at the source from the node itself. The next run finds the job, whatever has become of it.',
  },
  'step/job-gone': {
    summary: 'A job on a node ended again and again without a result.',
    cause: 'Its process was gone without an exit three times: something on the Mac ends it.',
    hint: 'See what the Mac says about it (log show), then run this again: it goes on from what is there.',
  },
  'send/source-unreadable': {
    summary: 'A file that is to be sent cannot be read.',
    cause: 'It was moved or deleted since the run began, its disk is gone, or this user may not read it.',
    hint: 'Bring the file back to where the cluster file says it is.',
  },
  'send/source-changed': {
    summary: 'A file that is to be sent is not the one that was locked.',
    cause: 'Its size or its SHA-256 differs from cluster.lock. Nothing of it was published on a node.',
    hint: prose`Bring the old file back, or take the new one on purpose: ${aside(meshwright('plan'))} shows what it would change.`,
  },
  'ask/no-token': {
    summary: 'A placement was started and gives no token.',
    cause: 'Its ranks run and its endpoint did not answer with text before the deadline (expect.firstToken).',
    hint: prose`See what its ranks say: ${meshwright('logs')}. A large model may need a longer expect.firstToken.`,
  },
  'reboot/not-rebooted': {
    summary: 'A Mac was told to restart and did not.',
    cause: 'It answers from the same boot session as before: something on it keeps it from shutting down.',
    hint: 'See what blocks it at the Mac itself. It is not told a second time in the same boot session.',
  },
  'reboot/no-return': {
    summary: 'A Mac was told to restart and does not answer since.',
    cause: 'It hangs while shutting down, waits for somebody at its own console, or has lost its network.',
    hint: 'Look at the Mac: press its power button when it is off, log in when it asks. Then run this again.',
    hands: true,
  },
  'reboot/still-on': {
    summary: 'A Mac was told to switch off and still answers.',
    cause: 'Something on it keeps it from shutting down. It is not told a second time in the same boot session.',
    hint: 'See what blocks it at the Mac itself.',
  },
  'task/still-different': {
    summary: 'Something is not as the file says, although it was just brought there.',
    cause: 'Something else changes it back: device management, another user, or macOS itself.',
    hint: 'Find out who else manages this Mac, then run it again.',
  },
  'task/wait-over': {
    summary: 'What the playbook waits for did not come about.',
    cause: 'Fresh observations until the deadline of the task did not show it.',
    hint: prose`Give the task a longer deadline, or see what keeps it: ${meshwright('status')}`,
  },
  'task/assert-failed': {
    summary: 'A condition of the playbook does not hold.',
    cause: 'The named property was observed with another value, could not be seen, or is kept nowhere.',
    hint: prose`See what the node says: ${meshwright('facts')}`,
  },
  'task/command-failed': {
    summary: 'A command of the playbook failed.',
    cause: 'It ended with another exit than 0, or nobody knows how it ended. It is not sent a second time.',
    hint: prose`Try it on one node: ${withTail(meshwright('exec', its.node), blank('COMMAND'))}`,
  },
  'playbook/unknown-node': {
    summary: 'The cluster file has no node of this name.',
    cause: 'A play names a node that stands nowhere under `nodes` of the cluster file that it is run with.',
    hint: 'Correct the name, or name another cluster file with -f.',
  },
  'playbook/no-node-chosen': {
    summary: 'This label chooses no node.',
    cause: 'No node of the cluster file has the labels that the play asks for.',
    hint: 'Ask for labels that a node has.',
  },
  'playbook/unknown-placement': {
    summary: 'The cluster file has no placement of this name.',
    cause: 'A task names a placement that stands nowhere under `placements` of the cluster file that it is run with.',
    hint: 'Correct the name, or name another cluster file with -f.',
  },
  'playbook/not-published': {
    summary: 'A placement that is not published cannot be drained.',
    cause: 'A door is closed by the doorman of an endpoint with `listen: lan`; before others nothing stands.',
    hint: 'Take it out of this task, or stop it instead: `stop`.',
  },
  'playbook/unknown-field': {
    summary: 'There is no field of this name here.',
    cause: 'Words in braces are filled in, and each place knows a few of them; nothing else is a template.',
    hint: 'Use a field that is known here, or write {{ for a brace.',
  },
  'playbook/unknown-property': {
    summary: 'An assert names a property that no node of the cluster file has.',
    cause: 'The name is misspelled, or the cluster file sets nothing of the kind.',
    hint: 'Use a property that plan shows, such as power/sleep.',
  },
} as const satisfies Record<string, CodeEntry>;
