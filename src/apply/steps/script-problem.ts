import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { Step } from '../../model/step.ts';
import { blank, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { doormanLog } from '../../node/paths/gateway-paths.ts';
import { stepName, subjectOf } from './context.ts';

/** What a script or a job on a node said of its own failure. */
export interface ScriptFailure {
  readonly slug: string;
  readonly text: string;
}

/** Hints that know more than that of `step/failed`. */
const hints: ReadonlyMap<string, Prose> = new Map<string, Prose>([
  ['no-source', 'The source in the file names a folder of the node itself: see whether it is there under this path.'],
  [
    'no-program',
    prose`See what is in the archive (tar -tf), and set the path of the program in the file, or use another archive. A rollback is undone by: ${meshwright('rollback', blank('RUNTIME'), '--undo')}`,
  ],
  [
    'unsafe-archive',
    'Nothing of an archive may lie or lead outside of its own folder: pack it again from inside that folder, without devices.',
  ],
  [
    'no-time',
    'The node must reach time.apple.com (UDP, port 123). In a rack without the internet set its clock at the Mac (sudo date), or leave system.clock out of the file: nothing that meshwright does depends on it.',
  ],
  [
    'can-become-root',
    'Take its rules out of sudo (sudo visudo, /etc/sudoers.d), the account out of the administrators, and its write access away (ls -le shows it), or name another account in system.accounts.',
  ],
  [
    'account-untested',
    prose`Run the same command again. If that does not help, see what hangs: ${meshwright('doctor')}`,
  ],
  [
    'account-unfit',
    'Name another account in system.accounts.ranks, or set login there if you accept that ranks can become root.',
  ],
  [
    'daemons-unread',
    'Nothing starts as an account while it is unknown whether that account can change what root runs. See on the Mac why that path cannot be read, or take it out of its LaunchDaemon.',
  ],
  [
    'other-account',
    'If nothing else needs that account and that group, delete both at the Mac, in a Terminal with Full Disk Access: sudo dscl . -delete /Users/NAME, then sudo dscl . -delete /Groups/NAME. Or name another account in system.accounts.',
  ],
  ['ended-at-once', prose`See what it said before it ended: ${meshwright('logs')}`],
]);

/** Who has the port of a doorman, and what the doorman says, is only seen at the Mac. */
function listeningHint({ act, node }: Step): string | undefined {
  if (act.kind !== 'script' || act.name !== 'load-doorman') return undefined;
  const { port } = act.args;
  return `See who listens there: ssh ${node} sudo lsof -nP -iTCP:${port} -sTCP:LISTEN. End it, or give endpoint.port another number. The doorman says more in ${doormanLog(port).path}.`;
}

/** An account may also be made by a person. */
function accountHint({ act, node }: Step): { readonly hint?: Prose } {
  return act.kind === 'script' && act.name === 'make-account'
    ? {
        hint: `On ${node}: System Settings > General > Sharing > Remote Login (i): allow full disk access for remote users. Or make standard accounts there, each with a group of its own, and name them in system.accounts.`,
      }
    : {};
}

/** A failure that a script or a job names itself, with what can be done about it. */
export function scriptProblem(step: Step, { slug, text }: ScriptFailure): Diagnostic {
  const detail = prose`${stepName(step)}: ${escapeText(text).trim() || 'without a word'} (${slug}).`;
  const fields = { subject: subjectOf(step), detail };
  switch (slug) {
    case 'disk-full':
      return diagnose('step/disk-full', fields);
    case 'wrong-digest':
      return diagnose('step/wrong-digest', fields);
    case 'no-full-disk-access':
      return diagnose('step/no-full-disk-access', { ...fields, ...accountHint(step) });
    case 'needs-reboot':
      return diagnose('step/needs-reboot', {
        ...fields,
        hint: prose`Restart the Mac: ${meshwright('reboot', step.node)}`,
      });
    case 'rolled-back':
    case 'rolling-back':
      return diagnose('step/rolled-back', fields);
    case 'rollback-pending':
      return diagnose('step/rollback-pending', fields);
    case 'fetch-failed':
      return diagnose('step/fetch-failed', fields);
    default: {
      const hint = slug === 'not-listening' ? listeningHint(step) : hints.get(slug);
      return diagnose('step/failed', { ...fields, ...(hint === undefined ? {} : { hint }) });
    }
  }
}
