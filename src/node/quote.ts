/**
 * Quotes a text as one word of a shell command line: the only function that does so.
 *
 * Backslashes stand outside the single quotes, since fish alone reads `\\` and `\'` inside them; so sh, bash, dash,
 * ksh, zsh and fish all give back the same bytes. (csh does not: it has no way to quote a line end.)
 *
 * @throws Error when the text holds a NUL, which no command line can carry.
 * @example
 * quote("it's") // 'it'\''s'
 */
export function quote(text: string): string {
  if (text.includes('\0')) throw new Error('a shell word cannot hold a NUL character');
  return `'${text.replaceAll(/['\\]/g, (one) => `'\\${one}'`)}'`;
}
