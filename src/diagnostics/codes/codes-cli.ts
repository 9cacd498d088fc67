import { aside, blank, its, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { CodeEntry } from '../code-entry.ts';

/** Codes about the command line: arguments, consent, leases, logs, measurements and secret sources. */
export const cliCodes = {
  'cli/usage': {
    exit: 64,
    traits: ['whole-detail'],
    summary: 'The command line is not valid.',
    cause: 'A command, an option or a target is missing or does not exist.',
    hint: 'See: meshwright --help',
  },
  'cli/no-cluster-file': {
    exit: 64,
    summary: 'No cluster file was found.',
    cause: 'No `-f`, no `MESHWRIGHT_FILE`, and no `cluster.yaml` in this folder or any folder above it.',
    hint: prose`Choose a file: meshwright -f path/to/cluster.yaml. To start from an example: ${meshwright('sim example', blank('FOLDER'))}`,
  },
  'cli/cannot-read': {
    exit: 65,
    summary: 'A file cannot be read.',
    cause: 'The path does not exist or is a folder, or this user may not read it.',
    hint: 'Check the path and its permissions.',
  },
  'cli/cannot-write': {
    summary: 'A file cannot be written.',
    cause: 'The folder is missing or full, or this user may not write to it.',
    hint: 'Check the folder, its free space and its permissions. Nothing was changed.',
  },
  'cli/log-incomplete': {
    severity: 'warning',
    summary: 'The log of this run may be incomplete; the run continues.',
    cause: 'The disk of the `--log` file may be full. Stopping halfway would leave nodes partly changed.',
    hint: prose`Free space on that disk. Lines that could not be written are retried with the next line. The journal records everything that was done: ${meshwright('history')}`,
  },
  'cli/file-open-to-others': {
    severity: 'warning',
    exit: 65,
    traits: ['urgent'],
    summary: 'Another user can change this file.',
    cause:
      'A cluster file, its lock, a playbook or a saved plan decides which Macs meshwright reaches and what it does there. This file or a folder above it is writable by a group or by every user, or belongs to another user. With `CI=true`, this is an error.',
    hint: 'Remove write permission for group and others with `chmod go-w`, or make yourself the owner with `chown`.',
  },
  'cli/needs-yes': {
    exit: 5,
    summary: 'Nothing was changed, because there was no terminal to confirm at.',
    cause: 'A command that makes changes was started without a terminal and without `--yes`.',
    hint: 'Check what the command will do, then add `--yes`.',
  },
  'trust/needed': {
    exit: 5,
    summary: 'The cluster file asks for something on this computer that was not allowed.',
    cause:
      'A file of another person could run any program of this computer, or send its variables and files to a server. So what a cluster file asks for, outside of its own folder, is allowed by the caller: with `--trust KIND=VALUE`, in `MESHWRIGHT_TRUST` (one line each), or by an answer at a terminal. With `CI` set, or without a terminal, no answer is remembered.',
    hint: 'Check the file, then add `--trust`.',
  },
  'trust/declined': {
    exit: 5,
    summary: 'You did not allow what the cluster file asks for.',
    cause: 'The answer to the question was no. Nothing of it was run, read or sent.',
    hint: 'Remove it from the file, or run the command again and allow it.',
  },
  'run/interrupted': {
    traits: ['interrupted'],
    summary: 'The run was interrupted before it reached this node.',
    cause: 'Ctrl-C, a closed terminal or SIGTERM ended the run.',
    hint: 'Run it again.',
  },
  'internal/bug': {
    exit: 70,
    summary: 'This is a bug in meshwright.',
    cause: 'The program ran into an error that it did not expect.',
    hint: 'Please report it with the text above. Completed work is not lost.',
  },
  'lock/unresolved': {
    exit: 65,
    summary: 'The lock file lacks something that the cluster file needs.',
    cause:
      "This run resolved an archive, a model's files or a link's network that is missing from the lock file or differs from it. Without a terminal, there is no way to ask for consent.",
    hint: 'Run it in a terminal, or add `--update-lock`. Then commit the lock file.',
  },
  'plan/stale': {
    exit: 5,
    summary: 'The saved plan is out of date; nothing was changed.',
    cause: 'The cluster file, its lock or a node has changed since the plan was saved.',
    hint: prose`Make a new plan and review it: ${meshwright('plan', '--out', blank('FILE'))}`,
  },
  'plan/not-reviewed': {
    exit: 5,
    summary: 'The plan has something that was not reviewed; nothing was changed.',
    cause:
      'The cluster file, its lock or a node has changed since the review. A plan that only lacks reviewed steps runs.',
    hint: prose`Have a new plan reviewed: ${meshwright('plan', '--format', 'markdown', '--out', blank('FILE'))}`,
  },
  'plan/unreadable': {
    exit: 65,
    summary: 'This file is not a saved plan.',
    cause: '`plan --out` did not write this file, or another version of meshwright wrote it in another format.',
    hint: prose`Save a plan: ${meshwright('plan', '--out', blank('FILE'))}`,
  },
  'plan/not-allowed': {
    exit: 5,
    summary: 'The plan has an effect that is not allowed.',
    cause: 'Interrupting a placement, restarting or stopping a Mac, and deleting a model each need explicit consent.',
    hint: 'Review the plan, then allow the effect: `--allow EFFECT`',
  },
  'select/unknown-placement': {
    exit: 64,
    traits: ['whole-detail'],
    summary: 'There is no placement with this name.',
    cause: 'The requested name is not a key under `placements`.',
    hint: 'Use a placement from the cluster file.',
  },
  'select/unknown-model': {
    exit: 64,
    summary: 'There is no model with this name.',
    cause: 'The requested name is not a key under `models`, and no node that was reached has a model with this name.',
    hint: 'Use a model from the cluster file.',
  },
  'select/never-applied': {
    exit: 64,
    summary: 'This placement was never applied here.',
    cause:
      'Commands that start or stop a placement use the digests of its runtime and model, which `apply` writes to the lock. The lock does not have them for this placement. A simulated fleet has its own lock.',
    hint: prose`Apply it first: ${meshwright('apply')}`,
  },
  'lease/alive': {
    summary: 'The run that has the lease on this node is alive.',
    cause: 'It renewed its lease while meshwright watched. Without it, two runs could change the Mac at once.',
    hint: prose`Wait until that run ends, or stop it on the computer where it is running. If you are sure that it is safe: ${meshwright('lease release', its.node, '--run', blank('ID'))}`,
  },
  'lease/other-run': {
    summary: 'A different run has the lease on this node.',
    cause: 'The run ID must be the one that `lease status` shows.',
    hint: prose`See which run has which lease: ${meshwright('lease status')}`,
  },
  'lease/not-released': {
    summary: 'The lease may not have been released.',
    cause: 'The connection dropped before the node answered.',
    hint: prose`Check again: ${meshwright('lease status')}`,
  },
  'ask/no-answer': {
    summary: 'The placement gave no answer.',
    cause: 'Its endpoint refused the request, sent nothing before the deadline, or returned something other than text.',
    hint: prose`Check the placement: ${meshwright('status')}, ${aside(meshwright('logs'))}`,
  },
  'logs/none': {
    summary: 'There is no log of this placement on this node.',
    cause: 'The placement was never started on this node, or its log was removed.',
    hint: prose`Start it first: ${meshwright('start')}`,
  },
  'logs/elsewhere': {
    severity: 'notice',
    summary: 'The ranks of a placement run on other nodes.',
    cause:
      'A placement runs either on its own nodes or on its fallback nodes. This node belongs to the layout that is not running now. A log on it is from an earlier start.',
    hint: prose`Read its ranks' logs: ${meshwright('logs', its.placement)}`,
  },
  'logs/cannot-read': {
    summary: 'The log of a rank cannot be read.',
    cause: 'This user may not read the log, or the tool that reads it failed or printed unexpected output.',
    hint: 'Check the log files on the Mac: `ls -l "/Library/Application Support/meshwright/log"`',
  },
  'evidence/incomplete': {
    severity: 'warning',
    summary: 'Part of the evidence could not be read.',
    cause:
      'A rank has no log, its processes are unknown, or `sample` found no process or printed nothing within ten seconds.',
    hint: 'Everything else was saved.',
  },
  'launch/hold-unseen': {
    exit: 5,
    summary: 'Cannot tell whether a target node is on hold.',
    cause: 'A hold is on the node itself, for all programs. A node counts as on hold if this cannot be read.',
    hint: prose`Bring the node back, or leave it out: \`--nodes a,b\`. To see what is wrong with it: ${meshwright('doctor')}`,
  },
  'bench/beyond-parallel': {
    severity: 'notice',
    summary: 'The benchmark sent more parallel requests than the placement allows.',
    cause:
      'The memory check covers only `parallel` requests. Further requests wait, and their waiting time is in the results. A runtime that serves them anyway needs more memory than was checked.',
    hint: "Send fewer requests (`--requests`), or raise the placement's `parallel` and run `apply`.",
  },
  'bench/no-answer': {
    summary: 'Some benchmark requests got no answer.',
    cause:
      'The endpoint refused them, returned something other than text, or missed the deadline. A mesh that answers one request in time may be too slow for several in parallel.',
    hint: prose`Allow more time for long answers with \`--deadline 5m\`, or check the placement: ${meshwright('status')}`,
  },
  'bench/no-power': {
    severity: 'notice',
    summary: "The placement's power use is unknown.",
    cause:
      "meshwright runs `powermetrics` as root on each of the placement's Macs. If one Mac lacks meshwright's sudo rule or prints unexpected output, the total is unknown.",
    hint: prose`All other results are complete. To install the sudo rule: ${meshwright('enroll')}`,
  },
  'secret/not-a-source': {
    traits: ['fixed-hint'],
    summary: "Name the password's source here, not the password itself.",
    cause: 'A cluster file is committed and shared, so it names only where a password comes from.',
    hint: [
      'Write one of these:',
      '  password: { env: MESH_PASSWORD }        # an environment variable',
      '  password: { file: ~/.mesh-password }    # a file that only you may read',
      '  password: { command: [security, find-generic-password, -s, rack, -w] }',
      '  password: { prompt: true }              # you are asked',
    ].join('\n'),
  },
  'secret/no-program': {
    summary: "A secret's command does not name a program.",
    cause: 'The first word of the command is the program, so it must not be empty. No shell interprets it.',
    hint: 'Begin the command with its program, such as `[security, find-generic-password, -s, rack, -w]`.',
  },
  'secret/missing': {
    summary: "A secret's source did not provide it.",
    cause: 'The variable is not set, the file or the program does not exist, or there is no terminal to ask at.',
    hint: 'Correct the source, then run this again.',
  },
  'secret/exposed': {
    summary: 'Other users may read or change a file with a secret.',
    cause: 'A file with a secret must belong to you, and no other user may have permission to read or change it.',
    hint: "Replace the secret, then change the file's mode: `chmod 600 FILE`",
  },
  'secret/unusable': {
    summary: 'The source did not provide a valid secret.',
    cause: 'It is empty, longer than 1,024 bytes or one line, not UTF-8, or contains a NUL character.',
    hint: 'Make the secret the only line in its source.',
  },
} as const satisfies Record<string, CodeEntry>;
