import type { Command } from '../model/text/command.ts';
import { mapWords, type Prose, prose } from '../model/text/prose.ts';
import { escapeText } from './escape.ts';

/**
 * A hint that ends in commands to copy: each has a line of its own that begins with two blanks, so that no layout ever
 * breaks it. The sentence comes without its last sign, and every line is escaped.
 */
export const withCommands = (sentence: Prose, commands: readonly (string | Command)[], lead: ':' | '.' = ':'): Prose =>
  prose`${mapWords(sentence, escapeText)}${{ kind: 'lines', lead, lines: commands.map(escaped) }}`;

const escaped = (one: string | Command): string | Command => (typeof one === 'string' ? escapeText(one) : one);
