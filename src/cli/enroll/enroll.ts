import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { mapProse, type Part } from '../../model/text/prose.ts';
import { logFindings, showJson } from '../terminal/diagnostics-output.ts';
import { shownWord } from '../terminal/shown-word.ts';
import { type ExitCode, exitCode, firstOf } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { showCards } from './enroll-cards.ts';
import { type Enrolled, enrollOne } from './enroll-one.ts';
import { enrollSubjects } from './enroll-subjects.ts';
import { codeOfEnrolled, enrolledJson, showEnrolled } from './show-enrolled.ts';

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
    logFindings(run, said);
    const result = { ...found, diagnostics: said };
    results.push(result);
    if (!run.options.json) showEnrolled(run, result, { keeper, isSimulated });
  }
  if (run.options.json) showJson(run.console, enrolledJson(results, { keeper, isSimulated }));
  return codeForEnrolled(results.map(codeOfEnrolled));
};

/** An address is enrolled again with the same options; without them it would be another account or port. */
function withAddressOptions(run: Run, { label, diagnostics }: Enrolled): readonly Diagnostic[] {
  const given = ['user', 'port', 'identity'].flatMap((name) => {
    const value = run.own[name];
    return typeof value === 'string' ? [`--${name}`, shownWord(value)] : [];
  });
  const withGiven = (part: Part): Part =>
    typeof part === 'object' && part.kind === 'command' && part.verb === 'enroll' && part.words[0] === label
      ? { ...part, words: [label, ...given, ...part.words.slice(1)] }
      : part;
  return diagnostics.map((one) => ({ ...one, hint: mapProse(one.hint, withGiven) }));
}

/** The code for several nodes: partial as soon as some were enrolled and others could not be. */
export function codeForEnrolled(codes: readonly ExitCode[]): ExitCode {
  const isGood = (code: ExitCode): boolean => code === exitCode.done || code === exitCode.handsNeeded;
  return codes.some(isGood) && !codes.every(isGood) ? exitCode.partial : firstOf(codes);
}
