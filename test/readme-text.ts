import { textOf } from './architecture/sources.ts';
import { blocksOf, commandsIn } from './page-text.ts';

/** The source text of README.md. */
export const readme = textOf('README.md');

/** The paragraphs, each in one line, without code blocks, headings, pictures, tables and link definitions. */
const paragraphsOf = (text: string): readonly string[] =>
  text
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .split(/\n\s*\n|\n(?=- )/)
    .map((paragraph) => paragraph.trim().replace(/\s*\n\s*/g, ' '))
    .filter((paragraph) => paragraph !== '' && !/^(?:#|\||\[[a-z]+\]: )/.test(paragraph));

/** The prose of the README in one line. */
export const prose = paragraphsOf(readme).join(' ');

/** Every sentence before the list of missing features, which has a separate test (`readme-missing.test.ts`). */
export const sentences: readonly string[] = paragraphsOf(
  readme.slice(0, readme.indexOf('\n## What it does not do')),
).flatMap((paragraph) => paragraph.split(/(?<=[.?:!)]\**)\s+(?=[*`([A-Z])/));

/** The commands in the section "Try it", without the line that installs meshwright. */
export const sessionCommands: readonly string[] = commandsIn(
  blocksOf(readme.slice(readme.indexOf('\n## Try it\n')))[0]?.text ?? '',
)
  .map(({ command }) => command)
  .filter((command) => !command.startsWith('npm '));

/** The words of a shell command; only double quotes have a special meaning. */
export const shellWords = (command: string): readonly string[] =>
  [...command.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([word, quoted]) => quoted ?? word);
