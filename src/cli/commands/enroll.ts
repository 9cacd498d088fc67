import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { showCards } from '../enroll-cards.ts';
import { type Enrolled, enrollOne } from '../enroll-one.ts';
import { enrollSubjects } from '../enroll-subjects.ts';
import { type ExitCode, exitCode, firstOf } from '../exit-codes.ts';
import type { LockKeeper } from '../lock-keeper.ts';
import { usageError } from '../options.ts';
import { shownWord } from '../shown-word.ts';
import { simulatedHints } from '../simulated-hints.ts';
import type { Run, VerbBody } from '../verb.ts';

/**
 * `enroll`: shows and pins host keys one after another, puts key and sudo rule on Macs that lack them, and sees that
 * both work; every pin is kept as it is made.
 */
export const enroll: VerbBody = async (run) => {
  if (run.own['card'] === true) return showCards(run);
  const { subjects, ways, keeper, nodes } = enrollSubjects(run);
  if (typeof run.own['expect'] === 'string' && subjects.length !== 1) {
    throw usageError('--expect is for exactly one node.', 'Name one node, or leave --expect out.');
  }
  const { isSimulated } = ways;
  const results: Enrolled[] = [];
  for (const subject of subjects) {
    if (run.signal.aborted) break;
    const found = await enrollOne(run, { subject, ways, keeper, nodes });
    const said = withAddressOptions(run, found);
    const result = isSimulated ? { ...found, diagnostics: simulatedHints(said) } : { ...found, diagnostics: said };
    results.push(result);
    if (!run.options.json) showResult(run, result, { keeper, isSimulated });
  }
  if (run.options.json) showJson(run.console, enrollJson(results, keeper, isSimulated));
  return codeForEnrolled(results.map(codeOf));
};

/** An address is enrolled again with the same options; without them it would be another account or port. */
function withAddressOptions(run: Run, { label, diagnostics }: Enrolled): readonly Diagnostic[] {
  const given = ['user', 'port', 'identity'].flatMap((name) => {
    const value = run.own[name];
    return typeof value === 'string' ? [` --${name} ${shownWord(value)}`] : [];
  });
  const command = `meshwright enroll ${label}`;
  return diagnostics.map((one) => ({ ...one, hint: one.hint.replaceAll(command, `${command}${given.join('')}`) }));
}

function codeOf(result: Enrolled): ExitCode {
  if (result.pin === 'declined' || result.pin === 'refused') return exitCode.nothingChanged;
  if (result.pin === 'unseen' || result.login === 'unknown') {
    return result.isLocked ? exitCode.handsNeeded : exitCode.failed;
  }
  return result.login === 'accepted' && result.sudo === 'allowed' && result.mac !== 'wrong'
    ? exitCode.done
    : exitCode.handsNeeded;
}

/** The code for several nodes: partial as soon as some were enrolled and others could not be. */
export function codeForEnrolled(codes: readonly ExitCode[]): ExitCode {
  const isGood = (code: ExitCode): boolean => code === exitCode.done || code === exitCode.handsNeeded;
  return codes.some(isGood) && !codes.every(isGood) ? exitCode.partial : firstOf(codes);
}

const pinText: Readonly<Record<Enrolled['pin'], string>> = {
  kept: 'pinned already',
  added: 'pinned now',
  replaced: 'pinned now, in place of another',
  declined: 'not pinned: the answer was no',
  refused: 'not pinned',
  unseen: 'not seen',
};

interface Shown {
  readonly keeper: LockKeeper;
  readonly isSimulated: boolean;
}

function showResult(run: Run, result: Enrolled, { keeper, isSimulated }: Shown): void {
  const { out } = run.console;
  out(`${result.label}   ${result.address}${isSimulated ? '   simulated' : ''}\n`);
  const key = result.fingerprint === undefined ? '' : `${result.type} ${result.fingerprint}\n             `;
  const where =
    result.pin === 'kept' || result.pin === 'added' || result.pin === 'replaced' ? ` in ${keeper.shown}` : '';
  out(`  host key   ${key}${pinText[result.pin]}${where}\n`);
  for (const line of installedLines(result)) out(line);
  if (result.login !== undefined) out(`  login      ${result.login} for ${result.user}\n`);
  if (result.sudo !== undefined) out(`  sudo       ${result.sudo}\n`);
  if (result.mac !== undefined) out(`  mac        ${macText[result.mac]}\n`);
  if (isAsBefore(result)) out('  enrolled already: nothing was changed\n');
  showDiagnostics(run.console, result.diagnostics);
}

const macText: Readonly<Record<NonNullable<Enrolled['mac']>, string>> = {
  added: 'written down now',
  kept: 'the one that the lock knows',
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

function enrollJson(results: readonly Enrolled[], keeper: LockKeeper, isSimulated: boolean): unknown {
  const one = ({ label: _label, isLocked: _isLocked, diagnostics, ...fields }: Enrolled): unknown => ({
    ...fields,
    diagnostics: diagnosticsJson(diagnostics),
  });
  return {
    formatVersion: 1,
    ...(isSimulated ? { simulated: true } : {}),
    lock: keeper.path,
    nodes: Object.fromEntries(results.map((result) => [result.label, one(result)])),
  };
}
