import type { GlobalOptions } from './options.ts';
import { shownWord } from './shown-word.ts';

/** What chooses file, nodes and rehearsal on this command line, to be typed again behind another verb. */
export function sameOptions(
  { options }: { readonly options: Partial<GlobalOptions> },
  words: readonly string[],
): string {
  const { file, nodes, label, sim } = options;
  const parts = [
    ...words.map(shownWord),
    ...(file === undefined ? [] : ['-f', shownWord(file)]),
    ...(nodes === undefined ? [] : ['--nodes', shownWord(nodes.join(','))]),
    ...(label ?? []).flatMap((one) => ['-l', shownWord(one)]),
    ...(sim ? ['--sim'] : []),
  ];
  return parts.map((part) => ` ${part}`).join('');
}

/** The cures of a work list are for real Macs; nobody needs a power button at simulated ones. */
export const mendingText = '\nThis rack is simulated: meshwright sim hands does the work of the hands.\n';
