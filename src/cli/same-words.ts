import { aside, meshwright } from '../model/text/command.ts';
import { prose } from '../model/text/prose.ts';
import { quote } from '../node/quote.ts';
import type { GlobalOptions } from './verb.ts';

/** A word of a command as a person types it into a shell: quoted only where it must be. */
export const shownWord = (word: string): string => (/^[\w.,/=:@+-]+$/.test(word) ? word : quote(word));

/** What chooses the file and nodes on this command line, to be typed again behind another verb. */
export function sameWords(
  { options }: { readonly options: Partial<GlobalOptions> },
  words: readonly string[],
): readonly string[] {
  const { file, nodes, label } = options;
  return [
    ...words.map(shownWord),
    ...(file === undefined ? [] : ['-f', shownWord(file)]),
    ...(nodes === undefined ? [] : ['--nodes', shownWord(nodes.join(','))]),
    ...(label ?? []).flatMap((one) => ['-l', shownWord(one)]),
  ];
}

/** The cures of a work list are for real Macs; nobody needs a power button at simulated ones. */
export const mendingText = prose`\nThis rack is simulated: ${aside(meshwright('sim hands'))} does the work of the hands.\n`;
