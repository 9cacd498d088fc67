import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { type Enrolled, enrollOne, type LockKeeper } from '../enroll-one.ts';
import { enrollSubjects } from '../enroll-subjects.ts';
import { type ExitCode, exitCode, firstOf } from '../exit-codes.ts';
import { usageError } from '../options.ts';
import type { Run, VerbBody } from '../verb.ts';

/** `enroll`: shows and pins host keys one after another, then checks key and sudo; every pin is kept as it is made. */
export const enroll: VerbBody = async (run) => {
  const { subjects, ways, keeper } = enrollSubjects(run);
  if (typeof run.own['expect'] === 'string' && subjects.length !== 1) {
    throw usageError('--expect is for exactly one node.', 'Name one node, or leave --expect out.');
  }
  const results: Enrolled[] = [];
  for (const subject of subjects) {
    if (run.signal.aborted) break;
    const result = await enrollOne(run, { subject, ways, keeper });
    results.push(result);
    if (!run.options.json) showResult(run, result, keeper);
  }
  if (run.options.json) showJson(run.console, enrollJson(results, keeper, ways.isSimulated));
  return firstOf(results.map(codeOf));
};

function codeOf(result: Enrolled): ExitCode {
  if (result.pin === 'declined' || result.pin === 'refused') return exitCode.nothingChanged;
  if (result.pin === 'unseen') return result.isLocked ? exitCode.handsNeeded : exitCode.failed;
  return result.login === 'accepted' && result.sudo === 'allowed' ? exitCode.done : exitCode.handsNeeded;
}

const pinText: Readonly<Record<Enrolled['pin'], string>> = {
  kept: 'pinned already',
  added: 'pinned now',
  replaced: 'pinned now, in place of another',
  declined: 'not pinned: the answer was no',
  refused: 'not pinned',
  unseen: 'not seen',
};

function showResult(run: Run, result: Enrolled, keeper: LockKeeper): void {
  const { out } = run.console;
  out(`${result.label}   ${result.address}\n`);
  const key = result.fingerprint === undefined ? '' : `${result.type} ${result.fingerprint}\n             `;
  const where =
    result.pin === 'kept' || result.pin === 'added' || result.pin === 'replaced' ? ` in ${keeper.shown}` : '';
  out(`  host key   ${key}${pinText[result.pin]}${where}\n`);
  if (result.login !== undefined) out(`  login      ${result.login} for ${result.user}\n`);
  if (result.sudo !== undefined) out(`  sudo       ${result.sudo}\n`);
  showDiagnostics(run.console, result.diagnostics);
}

function enrollJson(results: readonly Enrolled[], keeper: LockKeeper, isSimulated: boolean): unknown {
  const one = ({ label: _label, isLocked: _isLocked, diagnostics, ...fields }: Enrolled): unknown => ({
    ...fields,
    diagnostics: diagnosticsJson(diagnostics),
  });
  return {
    formatVersion: 1,
    ...(isSimulated ? { simulated: true } : {}),
    lock: keeper.shown,
    nodes: Object.fromEntries(results.map((result) => [result.label, one(result)])),
  };
}
