import { escapeText } from '../../diagnostics/escape.ts';

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}...` : text);

/** The start of a text, safe to show, between backticks. */
export const quoted = (text: string): string => `\`${escapeText(shorten(text))}\``;
