import { given } from '../../model/given.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';

/** @throws Error for a value with a line end, which would be a bug: each value is one line in the file */
function oneLine(name: string, value: string): string {
  if (/[\r\n]/.test(value)) throw new Error(`${name} of a hold has several lines`);
  return `${name}=${value}\n`;
}

/** Writes the hold on the node, where every observation sees it. */
export function setHold({ reason, until, by, since }: ScriptArgs['set-hold']): string {
  const lines = Object.entries(given({ reason, until, by, since })).map(([name, value]) => oneLine(name, value));
  return `write ${pathWord(place.hold)} ${quote(lines.join(''))}
changed`;
}

/** Deletes the hold from the node. */
export const clearHold = (): string => `[ -e ${pathWord(place.hold)} ] || unchanged
must rm ${pathWord(tool.rm)} -f ${pathWord(place.hold)}
changed`;
