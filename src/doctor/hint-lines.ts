import { escapeText } from '../diagnostics/escape.ts';

/**
 * A hint that ends in commands to copy: each stands on a line of its own that begins with two blanks, so that no
 * layout ever breaks it. Every line is escaped by itself.
 */
export const withCommands = (sentence: string, commands: readonly string[]): string =>
  [escapeText(sentence), ...commands.map((command) => `  ${escapeText(command)}`)].join('\n');

/** Commands that only look: they are worth typing, and end nothing. */
const looking = ['bench', 'cables', 'doctor', 'drift', 'facts', 'fit', 'history', 'logs', 'plan', 'status', 'validate'];

/** Commands that want a password or a fingerprint from a person. */
const asking = ['enroll', 'replace', 'unlock'];

/** Verbs that take names or `--all`: without any the command in a text is about whatever its finding names. */
const withNames = ['forget', 'reboot', 'release', 'restart', 'start', 'stop'];

/**
 * The commands of ours that a hint says to type, in its order: those on lines of their own, as {@link withCommands} sets
 * them, and those behind a colon or `with`. Only whole ones, none that only looks and none that asks a person. A stop that
 * only makes way for what a person then does is the person's to type: what serves is not stopped before.
 *
 * @param names what stands for `NODE`, `PLACEMENT` and `NAME`, and behind a verb that takes names and has none
 */
export function commandsIn(hint: string, names: readonly string[] = []): readonly string[] {
  const [, then] = hint.split(/\n(?=Then: )/);
  if (then !== undefined && commandsIn(then, names).length === 0) return [];
  const found = [...hint.matchAll(/(?:^ {2}|: |\bwith )(meshwright [a-z][^\n]*?)(?=$|\. |\.$|; |, )/gm)];
  return found.flatMap(([, command = '']) => {
    const filled = command.replace(/\b(?:NODE|PLACEMENT|NAME)\b/, names.join(' ')).trim();
    const [, verb = '', ...words] = filled.split(' ');
    const needsNames = withNames.includes(verb) && words.every((word) => word.startsWith('--'));
    const whole = needsNames ? [...filled.split(' ').slice(0, 2), ...names, ...words].join(' ') : filled;
    const isWhole = !(needsNames && names.length === 0) && !/\b[A-Z]{2,}\b/.test(whole);
    return isWhole && !looking.includes(verb) && !asking.includes(verb) ? [whole] : [];
  });
}
