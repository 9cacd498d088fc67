import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { enrollCard } from '../../engine/diagnose/enroll-card.ts';
import { mapProse, type Part } from '../../model/text/prose.ts';
import { enrollCardJson, enrollCardText } from '../../report/enroll-card-text.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { namedTargets } from '../cluster/targets.ts';
import { type ExitCode, exitCode, firstOf } from '../exit-codes.ts';
import { shownWord } from '../same-words.ts';
import { logFindings, showJson } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
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

/** Options that mean something to whoever is connected to; a card connects to nobody. */
const connecting = ['expect', 'replace', 'user', 'port', 'identity', 'passwordEnv', 'passwordFile'];

const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** A card is for a page of this width. */
const pageColumns = 80;

/** `enroll --card`: what a person has to do at each of these Macs, one page each, from the file alone. */
export function showCards(run: Run): ExitCode {
  const given = connecting.find((name) => run.own[name] !== undefined);
  if (given !== undefined) {
    throw usageError(`${flagOf(given)} means nothing with --card, which reaches no Mac.`, 'Leave one of the two out.');
  }
  const { fleet } = openCluster(run);
  const words = run.own['all'] === true ? namedTargets(run, fleet) : run.words;
  const cards = targetedNodes(run, fleet, words).map((node) => enrollCard(fleet, node));
  if (run.options.json) {
    showJson(run.console, { formatVersion: 1, cards: cards.map((card) => enrollCardJson(card, run.console)) });
    return exitCode.done;
  }
  const { isSimulated } = run.console;
  const columns = Math.min(pageColumns, run.console.columns);
  // A printer begins a new page at a form feed; a terminal gets a line.
  const between = run.console.isOutTty ? `${'-'.repeat(columns)}\n` : '\f';
  run.console.out(cards.map((card) => enrollCardText(card, { columns, isSimulated })).join(between));
  return exitCode.done;
}
