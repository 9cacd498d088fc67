/**
 * Quotes a text as one word of a shell command line. Only this function quotes shell words.
 *
 * Backslashes are outside the single quotes, because fish reads `\\` and `\'` inside them. So sh, bash, dash, ksh, zsh
 * and fish all return the same bytes. (csh does not: it cannot quote a line end.)
 *
 * @throws Error if the text contains a NUL, which no command line can contain
 * @example quote("it's") // 'it'\''s'
 */
export function quote(text: string): string {
  if (text.includes('\0')) throw new Error('a shell word cannot hold a NUL character');
  return `'${text.replaceAll(/['\\]/g, (one) => `'\\${one}'`)}'`;
}
