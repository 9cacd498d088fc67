import type { FailureSignature } from '../contract/driver.ts';

/** Builds the list of known messages from a table by id, in matching order. */
export const signaturesOf = (
  byId: Readonly<Record<string, Omit<FailureSignature, 'id'>>>,
): readonly FailureSignature[] => Object.entries(byId).map(([id, rest]) => ({ id, ...rest }));

/** The same, with the source of the messages that do not have their own. */
export const signaturesFrom = (
  source: string,
  byId: Readonly<Record<string, Omit<FailureSignature, 'id' | 'source'> & { readonly source?: string }>>,
): readonly FailureSignature[] =>
  Object.entries(byId).map(([id, { pattern, ...rest }]) => ({ id, pattern, source, ...rest }));

/**
 * The log lines that an observation includes, as an extended regular expression for awk: all known messages except
 * those whose remedy is to wait.
 *
 * @param others more lines, as such expressions
 */
export const logPatternOf = (signatures: readonly FailureSignature[], ...others: readonly string[]): string =>
  [...others, ...signatures.filter(({ action }) => action !== 'wait').map(({ pattern }) => expressionOf(pattern))].join(
    '|',
  );

/** A pattern without backslashes: awk would read them a second time. Word boundaries are left out, which keeps more. */
const expressionOf = ({ source }: RegExp): string =>
  source
    .replaceAll('(?:', '(')
    .replaceAll('\\d', '[0-9]')
    .replaceAll('\\S', '[^ ]')
    .replaceAll('\\w', '[A-Za-z0-9_]')
    .replaceAll('\\b', '')
    .replaceAll('\\/', '/')
    .replace(/\\([[\]().?*+|])/g, '[$1]');
