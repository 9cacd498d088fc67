import { type Known, known } from '../../model/known.ts';
import { isName } from '../../node/answers/grammar.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { settingAnswer } from '../../node/probes/node-setting.ts';
import { nodeSettings } from '../../node/probes/system.ts';
import { defineFact } from '../fact.ts';

/**
 * The folders of `PATH` for a command over SSH: what macOS gives (`/usr/bin:/bin:/usr/sbin:/sbin`) and what a file such
 * as `~/.zshenv` adds. What meshwright sends calls its tools by absolute path and sets a PATH of its own, and launchd
 * gives daemons another one, so that no rule looks at this: it is what `exec` gives to the commands of people.
 */
export const searchPathFact = defineFact({
  name: 'search-path',
  from: [nodeSettings],
  parse: ([answer]): Known<readonly string[]> => {
    const said = settingAnswer(answer, 'search-path');
    if (said.kind === 'unknown') return said;
    const { code, lines } = said.value;
    // An empty one stands for the folder that one happens to be in. @see POSIX, environment variable PATH
    const folders = lines.map((line) => (line === '' ? '.' : line));
    const isWhole = code === '0' && folders.length > 0 && folders.every(isName);
    return isWhole ? known(folders) : garbled(answer, 'printed no PATH that can be read');
  },
});
