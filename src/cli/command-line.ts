import { CommanderError } from 'commander';
import { type Prose, prose } from '../model/text/prose.ts';
import { buildProgram, type Invocation, type ProgramOutput, sentence, unusableOptions } from './program.ts';
import { meantCommand, meantOption } from './verb/foreign-words.ts';
import { usageError } from './verb/options.ts';
import type { Verb } from './verb/verb.ts';

/** What the words of a command line come to. */
export type CommandLine =
  | { readonly kind: 'verb'; readonly invocation: Invocation }
  /** Help was asked for and has been printed. */
  | { readonly kind: 'helped' }
  /** No verb was named; `help` is what could have been meant. */
  | { readonly kind: 'no-verb'; readonly help: string };

/**
 * Parses the words of the command line up to `--`.
 * @throws FleetError `cli/usage` with the reason, and what could be meant.
 */
export function parseCommandLine(
  verbs: readonly Verb[],
  output: Pick<ProgramOutput, 'out' | 'columns'>,
  argv: readonly string[],
): CommandLine {
  let invocation: Invocation | undefined;
  let help = '';
  const err = (text: string): void => {
    help += text;
  };
  const program = buildProgram(verbs, { ...output, err }, (found) => {
    invocation = found;
  });
  // `help facts` is what a newcomer types; nothing else is called help.
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  try {
    program.parse([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: 'helped' };
    if (error.code === 'commander.help') return { kind: 'no-verb', help };
    throw usageError(...explained(error, { verbs, target: helpTarget(verbs, words) }));
  }
  if (!invocation) return { kind: 'no-verb', help };
  const typed = Object.keys(invocation.global).filter((name) => program.getOptionValueSource(name) === 'cli');
  const [unusable] = unusableOptions(invocation.verb, typed);
  if (unusable !== undefined) {
    throw usageError(`${unusable} means nothing to ${invocation.verb.name}.`, 'Leave it out.');
  }
  return { kind: 'verb', invocation };
}

/** Commander's reason in our words, and what to do. */
function explained(
  error: CommanderError,
  { verbs, target }: { readonly verbs: readonly Verb[]; readonly target: string },
): readonly [string, Prose] {
  const see = `See: meshwright ${target}--help`;
  const text = error.message
    .replace(/^error: /, '')
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
  const near = /\(Did you mean (?:one of )?([^?]+)\?\)$/.exec(text)?.[1];
  const meaning = (meant: Prose | undefined): Prose =>
    meant === undefined ? see : prose`Did you mean ${meant}? ${see}`;
  const quoted = /'([^']*)'/.exec(text)?.[1] ?? '';
  if (error.code === 'commander.unknownCommand') {
    const names = verbs.filter(({ isHidden, name }) => isHidden !== true && name.startsWith(target));
    const shown = names.map(({ name }) => name.slice(target.length));
    return [`Unknown command "${target}${quoted}".`, meaning(meantCommand(quoted, shown))];
  }
  if (error.code === 'commander.unknownOption') {
    return [`There is no option ${quoted} here.`, meaning(meantOption(quoted, target.trimEnd()) ?? near)];
  }
  return [sentence(text.replaceAll("'", '"')), meaning(near)];
}

/** The verb, or the family of verbs, that the words name, with a blank behind it; empty for none. */
function helpTarget(verbs: readonly Verb[], argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-'));
  const two = words.slice(0, 2).join(' ');
  const isVerb = (name: string): boolean => verbs.some((verb) => verb.name === name);
  const found = [two, words[0] ?? ''].find(isVerb);
  if (found !== undefined) return `${found} `;
  const isFamily = words[0] !== undefined && verbs.some((verb) => verb.name.startsWith(`${words[0]} `));
  return isFamily ? `${words[0]} ` : '';
}
