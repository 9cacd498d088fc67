import type { Severity } from './code-entry.ts';

const reset = '\u001b[0m';
const styles = { bold: '\u001b[1m', dim: '\u001b[2m', red: '\u001b[31m', yellow: '\u001b[33m', cyan: '\u001b[36m' };

/** How a piece of text is set off; meaning never depends on it alone. */
export type Style = keyof typeof styles;

/** Sets off text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** A {@link Paint} for a terminal with or without colour. */
export const paintWith = (color: boolean): Paint =>
  color ? (style, text) => `${styles[style]}${text}${reset}` : (_style, text) => text;

/** The colour of a severity. */
export const severityStyle: Readonly<Record<Severity, Style>> = { error: 'red', warning: 'yellow', notice: 'cyan' };
