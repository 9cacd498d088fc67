import { aside, blank, its, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { CodeEntry } from '../code-entry.ts';

/** Codes about the command line: what verbs are given, may do and measure, and where their secrets come from. */
export const cliCodes = {
  'cli/usage': {
    summary: 'The command line cannot be understood.',
    cause: 'A verb, option or target that does not exist, or one that is missing.',
    hint: 'See: meshwright --help',
  },
  'cli/no-cluster-file': {
    summary: 'There is no cluster file.',
    cause: 'Neither -f nor MESHWRIGHT_FILE is given, and no cluster.yaml lies in this folder or above it.',
    hint: prose`Say which one: meshwright -f path/to/cluster.yaml. To start from an example: ${meshwright('sim example', blank('FOLDER'))}`,
  },
  'cli/cannot-read': {
    summary: 'A file cannot be read.',
    cause: 'The path does not exist, is a folder, or this user may not read it.',
    hint: 'Check the path and its permissions.',
  },
  'cli/cannot-write': {
    summary: 'A file cannot be written.',
    cause: 'The folder is missing, full or read-only for this user.',
    hint: 'Check the folder, its free space and its permissions; nothing was changed.',
  },
  'cli/log-incomplete': {
    severity: 'warning',
    summary: 'The log of this run may be incomplete; the run goes on.',
    cause:
      'A line could not be written to the file of `--log` while the verb was at work, mostly because its disk is full. Stopping half way would leave nodes half changed.',
    hint: prose`Free space on that disk: lines that wait are written with the next one. What was done is in the journal: ${meshwright('history')}`,
  },
  'cli/file-open-to-others': {
    severity: 'warning',
    summary: 'Another user can change this file.',
    cause:
      'A cluster file, its lock, a playbook or a saved plan decides which Macs are reached and what is done to them. This one, or a folder above it, can be written by every user or by a group, or belongs to another user. With CI=true this is an error.',
    hint: 'Close it to others: chmod go-w, or chown to yourself.',
  },
  'cli/needs-yes': {
    summary: 'Nothing was changed: nobody was there to say yes.',
    cause: 'A verb that writes was started without a terminal and without --yes.',
    hint: 'Add --yes once you know what it will do.',
  },
  'run/interrupted': {
    summary: 'The run was interrupted before this node was reached.',
    cause: 'Ctrl-C, a closed terminal or a TERM signal ended the run.',
    hint: 'Run it again.',
  },
  'internal/bug': {
    summary: 'This is a bug in meshwright.',
    cause: 'Something was thrown that no code path expects.',
    hint: 'Please report it with the text above; nothing that was done is lost.',
  },
  'lock/unresolved': {
    summary: 'The lock file does not have everything that the cluster file needs.',
    cause:
      'What was resolved just now (an archive, the files of a model, the network of a link) is missing in the lock file, or differs, and without a terminal nobody can agree to it.',
    hint: 'Run it in a terminal, or say --update-lock; then commit the lock file.',
  },
  'plan/stale': {
    summary: 'The saved plan is not what would be done now; nothing was changed.',
    cause: 'The cluster file, its lock or a node has changed since the plan was saved.',
    hint: prose`Make a new plan and look at it: ${meshwright('plan', '--out', blank('FILE'))}`,
  },
  'plan/unreadable': {
    summary: 'This is no saved plan.',
    cause: 'The file is not what `plan --out` writes, or another version of meshwright saved it in another format.',
    hint: prose`Save one: ${meshwright('plan', '--out', blank('FILE'))}`,
  },
  'plan/not-allowed': {
    summary: 'An effect of the plan is not allowed.',
    cause: 'Interrupting a placement, restarting or switching off a Mac, and deleting a model need consent by name.',
    hint: 'Look at the plan, then allow the effect: --allow EFFECT',
  },
  'select/unknown-placement': {
    summary: 'There is no placement of this name.',
    cause: 'The name that was asked for is not a key of `placements`.',
    hint: 'Use a name of the file.',
  },
  'select/never-applied': {
    summary: 'This placement was never applied here.',
    cause:
      'A verb that starts or stops a placement uses what `apply` wrote to the lock: the digests of its runtime and model. The file has the placement, and the lock does not. A rehearsal has a lock of its own.',
    hint: prose`Apply it first: ${meshwright('apply')}`,
  },
  'lease/alive': {
    summary: 'The run that holds this node is alive.',
    cause: 'It renewed its lease while it was watched. Taking it away would let two runs change the Mac at once.',
    hint: prose`Let it end, or end it where it runs. If you are sure: ${meshwright('lease release', its.node, '--run', blank('ID'))}`,
  },
  'lease/other-run': {
    summary: 'Another run than the named one holds this node.',
    cause: 'The run id must be the one that `lease status` shows.',
    hint: prose`See who holds what: ${meshwright('lease status')}`,
  },
  'lease/not-released': {
    summary: 'It is not known whether the lease was released.',
    cause: 'The connection broke off before the node answered.',
    hint: prose`Look again: ${meshwright('lease status')}`,
  },
  'ask/no-answer': {
    summary: 'The placement gave no answer.',
    cause: 'Its endpoint refused, was silent until the deadline, or answered with something else than a text.',
    hint: prose`Look at it: ${meshwright('status')}, ${aside(meshwright('logs'))}`,
  },
  'logs/none': {
    summary: 'There is no log here.',
    cause: 'The placement was never started on this node, or the log has been removed.',
    hint: prose`Start it first: ${meshwright('start')}`,
  },
  'logs/elsewhere': {
    severity: 'notice',
    summary: 'A placement has its ranks on other nodes.',
    cause:
      'The node belongs to the placement in the other one of its two layouts, on its own nodes or on its fallback. A log that is there all the same is of an earlier start.',
    hint: prose`See what its ranks print: ${meshwright('logs', its.placement)}`,
  },
  'logs/cannot-read': {
    summary: 'The log of a rank cannot be read.',
    cause: 'It is there and this user may not read it, or a tool that reads it failed or printed something else.',
    hint: 'Look on the Mac: ls -l "/Library/Application Support/meshwright/log"',
  },
  'launch/hold-unseen': {
    summary: 'Nobody could see whether a node is held on which a program is to run.',
    cause:
      'A hold is written down on the node itself, and counts for ranks of your own programs too. A node that was not seen, or that does not say whether it is held, is taken for held.',
    hint: prose`Bring the node back, or leave it out: --nodes a,b. What is wrong with it: ${meshwright('doctor')}`,
  },
  'bench/beyond-parallel': {
    severity: 'notice',
    summary: 'More requests at once were measured than the placement answers at once.',
    cause:
      'Its memory was judged for `parallel` requests. What is beyond waits, and its waiting is in the figures; a runtime that takes it in all the same needs more memory than was judged.',
    hint: 'Say fewer (--requests), or raise `parallel` of the placement and apply.',
  },
  'bench/no-answer': {
    summary: 'Requests of a measurement came to nothing.',
    cause:
      'The endpoint refused them, answered with something else than a text, or was not done before the deadline; a mesh that answers one request may be too slow for several at once.',
    hint: prose`Give long answers more time: --deadline 5m; else look at it: ${meshwright('status')}`,
  },
  'bench/no-power': {
    severity: 'notice',
    summary: 'Nobody knows what the Macs of the placement took.',
    cause:
      '`powermetrics` of each of them is asked, as root: one that has no sudo rule of ours, or prints something else, leaves the sum unknown.',
    hint: prose`Nothing else is missing. For the sudo rule: ${meshwright('enroll')}`,
  },
  'secret/not-a-source': {
    summary: 'A source of the password belongs here, never the password.',
    cause: 'A cluster file is committed and shown; it says where a password comes from.',
    hint: [
      'Write one of these:',
      '  password: { env: MESH_PASSWORD }        # an environment variable',
      '  password: { file: ~/.mesh-password }    # a file that only you may read',
      '  password: { command: [security, find-generic-password, -s, rack, -w] }',
      '  password: { prompt: true }              # you are asked',
    ].join('\n'),
  },
  'secret/no-program': {
    summary: 'The command of a secret names no program.',
    cause: 'Its first word is what is started, as it stands there: no shell reads it, and an empty word is no program.',
    hint: 'Begin it with the program, such as [security, find-generic-password, -s, rack, -w].',
  },
  'secret/missing': {
    summary: 'A password could not be had from its source.',
    cause: 'The variable is not set, the file or the program is not there, or nobody can be asked.',
    hint: 'Correct the source, then run this again.',
  },
  'secret/exposed': {
    summary: 'Others may read the file of a password.',
    cause: 'A file that holds a password must belong to you, and nobody else may read or change it.',
    hint: 'Change the password, and the mode of the file: chmod 600 FILE',
  },
  'secret/unusable': {
    summary: 'What came from the source is no password.',
    cause: 'It is empty, longer than 1,024 bytes, more than one line, no UTF-8 text, or holds a NUL.',
    hint: 'Put the password there as its only line.',
  },
} as const satisfies Record<string, CodeEntry>;
