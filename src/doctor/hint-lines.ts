import { escapeText } from '../diagnostics/escape.ts';

/**
 * A hint that ends in commands to copy: each stands on a line of its own that begins with two blanks, so that no
 * layout ever breaks it. Every line is escaped by itself.
 */
export const withCommands = (sentence: string, commands: readonly string[]): string =>
  [escapeText(sentence), ...commands.map((command) => `  ${escapeText(command)}`)].join('\n');
