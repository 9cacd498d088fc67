import { aside, blank, its, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about what the verbs that change nodes are told, and what they may do. */
export const cliCodes = {
  'lock/unresolved': {
    severity: 'error',
    summary: 'The lock file does not have everything that the cluster file needs.',
    cause:
      'What was resolved just now (an archive, the files of a model, the network of a link) is missing in the lock file, or differs, and without a terminal nobody can agree to it.',
    hint: 'Run it in a terminal, or say --update-lock; then commit the lock file.',
  },
  'plan/stale': {
    severity: 'error',
    summary: 'The saved plan is not what would be done now; nothing was changed.',
    cause: 'The cluster file, its lock or a node has changed since the plan was saved.',
    hint: prose`Make a new plan and look at it: ${meshwright('plan', '--out', blank('FILE'))}`,
  },
  'plan/unreadable': {
    severity: 'error',
    summary: 'This is no saved plan.',
    cause: 'The file is not what `plan --out` writes, or another version of meshwright saved it in another format.',
    hint: prose`Save one: ${meshwright('plan', '--out', blank('FILE'))}`,
  },
  'plan/not-allowed': {
    severity: 'error',
    summary: 'An effect of the plan is not allowed.',
    cause: 'Interrupting a placement, restarting or switching off a Mac, and deleting a model need consent by name.',
    hint: 'Look at the plan, then allow the effect: --allow EFFECT',
  },
  'select/unknown-placement': {
    severity: 'error',
    summary: 'There is no placement of this name.',
    cause: 'The name that was asked for is not a key of `placements`.',
    hint: 'Use a name of the file.',
  },
  'select/never-applied': {
    severity: 'error',
    summary: 'This placement was never applied here.',
    cause:
      'A verb that starts or stops a placement uses what `apply` wrote to the lock: the digests of its runtime and model. The file has the placement, and the lock does not. A rehearsal has a lock of its own.',
    hint: prose`Apply it first: ${meshwright('apply')}`,
  },
  'lease/alive': {
    severity: 'error',
    summary: 'The run that holds this node is alive.',
    cause: 'It renewed its lease while it was watched. Taking it away would let two runs change the Mac at once.',
    hint: prose`Let it end, or end it where it runs. If you are sure: ${meshwright('lease release', its.node, '--run', blank('ID'))}`,
  },
  'lease/other-run': {
    severity: 'error',
    summary: 'Another run than the named one holds this node.',
    cause: 'The run id must be the one that `lease status` shows.',
    hint: prose`See who holds what: ${meshwright('lease status')}`,
  },
  'lease/not-released': {
    severity: 'error',
    summary: 'It is not known whether the lease was released.',
    cause: 'The connection broke off before the node answered.',
    hint: prose`Look again: ${meshwright('lease status')}`,
  },
  'ask/no-answer': {
    severity: 'error',
    summary: 'The placement gave no answer.',
    cause: 'Its endpoint refused, was silent until the deadline, or answered with something else than a text.',
    hint: prose`Look at it: ${meshwright('status')}, ${aside(meshwright('logs'))}`,
  },
  'logs/none': {
    severity: 'error',
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
    severity: 'error',
    summary: 'The log of a rank cannot be read.',
    cause: 'It is there and this user may not read it, or a tool that reads it failed or printed something else.',
    hint: 'Look on the Mac: ls -l "/Library/Application Support/meshwright/log"',
  },
  'launch/hold-unseen': {
    severity: 'error',
    summary: 'Nobody could see whether a node is held on which a program is to run.',
    cause:
      'A hold is written down on the node itself, and counts for ranks of your own programs too. A node that was not seen, or that does not say whether it is held, is taken for held.',
    hint: prose`Bring the node back, or leave it out: --nodes a,b. What is wrong with it: ${meshwright('doctor')}`,
  },
} as const satisfies Record<string, CodeEntry>;
