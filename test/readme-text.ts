import { textOf } from './architecture/sources.ts';

/** README.md as it is written. */
export const readme = textOf('README.md');

/** Paragraphs in one line each, without code blocks, headings, pictures, tables and definitions of links. */
const paragraphsOf = (text: string): readonly string[] =>
  text
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .split(/\n\s*\n|\n(?=- )/)
    .map((paragraph) => paragraph.trim().replace(/\s*\n\s*/g, ' '))
    .filter((paragraph) => paragraph !== '' && !/^(?:#|\||\[[a-z]+\]: )/.test(paragraph));

/** The prose of the README in one line. */
export const prose = paragraphsOf(readme).join(' ');

/** Every sentence before the list of what is missing, which has a test of its own (`readme-missing.test.ts`). */
export const sentences: readonly string[] = paragraphsOf(
  readme.slice(0, readme.indexOf('\n## What it does not do')),
).flatMap((paragraph) => paragraph.split(/(?<=[.?:!)]\**)\s+(?=[*`([A-Z])/));

/** The commands of the section "Try it", as a shell reads them, without the two that install meshwright. */
export const sessionCommands: readonly string[] = (/## Try it\n\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '')
  .split('\n')
  .map((line) => line.replace(/ +#.*$/, ''))
  .filter((line) => line !== '' && !line.startsWith('npm '));

/** Words of a shell command: double quotes join, and nothing else is special. */
export const shellWords = (command: string): readonly string[] =>
  [...command.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([word, quoted]) => quoted ?? word);
