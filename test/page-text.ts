/** A fenced block of a page: the word after the fence, and the lines. */
export interface PageBlock {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a page in their order. */
export const blocksOf = (page: string): readonly PageBlock[] =>
  [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }));

/** A command in a code block, and the comment behind it. */
export interface PageCommand {
  readonly command: string;
  readonly comment: string;
}

/** The commands in a block of shell, one in each line. */
export const commandsIn = (text: string): readonly PageCommand[] =>
  text
    .split('\n')
    .map((line) => /^(.*?)(?: +# *(.*))?$/.exec(line) ?? [])
    .flatMap(([, command = '', comment = '']) => (command === '' ? [] : [{ command, comment }]));

/** A text in one line. */
export const inOneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');
