import type { LockKeeper } from '../cluster/lock-file.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { diagnosticsJson, showDiagnostics } from '../terminal/console.ts';
import type { Run } from '../verb.ts';
import type { Enrolled } from './enroll-one.ts';

/** How it ended for one node. */
export function codeOfEnrolled(result: Enrolled): ExitCode {
  if (result.pin === 'declined' || result.pin === 'refused')
    return isLeftThere(result) ? exitCode.failed : exitCode.nothingChanged;
  if (result.pin === 'unseen' || result.login === 'unknown') {
    return result.isLocked ? exitCode.handsNeeded : exitCode.failed;
  }
  return result.login === 'accepted' && result.sudo === 'allowed' && result.mac !== 'wrong'
    ? exitCode.done
    : exitCode.handsNeeded;
}

/** Whether something was put on a Mac that did not become the node after all. */
const isLeftThere = ({ pin, installed }: Enrolled): boolean =>
  (pin === 'declined' || pin === 'refused') && (installed?.key === 'added' || installed?.rule === 'added');

const pinText: Readonly<Record<Enrolled['pin'], string>> = {
  kept: 'pinned already',
  added: 'pinned now',
  replaced: 'pinned now, in place of another',
  declined: 'not pinned: the answer was no',
  refused: 'not pinned',
  unseen: 'not seen',
};

/** Where pins went. */
export interface Shown {
  readonly keeper: LockKeeper;
  readonly isSimulated: boolean;
}

/** Shows what became of one node, as text. */
export function showEnrolled(run: Run, result: Enrolled, { keeper, isSimulated }: Shown): void {
  const { out } = run.console;
  out(`${result.label}   ${result.address}${isSimulated ? '   simulated' : ''}\n`);
  const key = result.fingerprint === undefined ? '' : `${result.type} ${result.fingerprint}\n             `;
  const where =
    result.pin === 'kept' || result.pin === 'added' || result.pin === 'replaced' ? ` in ${keeper.shown}` : '';
  out(`  host key   ${key}${pinText[result.pin]}${where}\n`);
  for (const line of installedLines(result)) out(line);
  if (isLeftThere(result))
    out('             which stays on that Mac: take out what was put there, or run this again\n');
  if (result.login !== undefined) out(`  login      ${result.login} for ${result.user}\n`);
  if (result.sudo !== undefined) out(`  sudo       ${result.sudo}\n`);
  if (result.mac !== undefined) out(`  mac        ${macText[result.mac]}\n`);
  if (isAsBefore(result)) out('  enrolled already: nothing was changed\n');
  showDiagnostics(run.console, result.diagnostics);
}

const macText: Readonly<Record<NonNullable<Enrolled['mac']>, string>> = {
  added: 'written down now',
  kept: 'the one that the lock knows',
  replaced: 'written down now, in place of another',
  wrong: 'not the one that it should be',
  unseen: 'nobody could see which one it is',
};

const isAsBefore = ({ pin, login, sudo, installed, mac }: Enrolled): boolean =>
  pin === 'kept' && login === 'accepted' && sudo === 'allowed' && installed === undefined && (mac ?? 'kept') === 'kept';

function installedLines({ installed, user }: Enrolled): readonly string[] {
  const { key, rule } = installed ?? {};
  const words = { added: 'put there', kept: 'there already' } as const;
  return [
    ...(key === undefined ? [] : [`  key        ${words[key]}: ~/.ssh/authorized_keys of ${user}\n`]),
    ...(rule === undefined ? [] : [`  sudo rule  ${words[rule]}: /etc/sudoers.d/meshwright\n`]),
  ];
}

/** The document of `--json`. */
export function enrolledJson(results: readonly Enrolled[], { keeper, isSimulated }: Shown): unknown {
  const one = ({ label: _label, isLocked: _isLocked, diagnostics, ...fields }: Enrolled): unknown => ({
    ...fields,
    diagnostics: diagnosticsJson({ isSimulated }, diagnostics),
  });
  return {
    formatVersion: 1,
    ...(isSimulated ? { simulated: true } : {}),
    lock: keeper.path,
    nodes: Object.fromEntries(results.map((result) => [result.label, one(result)])),
  };
}
