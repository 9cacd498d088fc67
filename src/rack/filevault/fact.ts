import { andThen, type Known, known } from '../../model/known.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact } from '../fact.ts';

/** `fdesetup status`, which needs no root. */
const fdesetup = probe('fdesetup', [tool.fdesetup, 'status'], 10_000, 8_192);

/**
 * The disk's encryption state, from `FileVault is On.` and, while macOS converts the disk, a second line `Encryption in
 * progress: Percent completed = 42.5`.
 */
export const filevaultFact = defineFact({
  name: 'filevault',
  from: [fdesetup],
  parse: ([answer]): Known<'on' | 'off' | 'converting'> =>
    andThen(readLines(answer), (lines) => {
      const [first = '', ...rest] = lines;
      const state = /^FileVault is (On|Off)\b.*\.$/.exec(first)?.[1];
      if (state === undefined) return garbled(answer, 'printed neither on nor off');
      if (rest.some((line) => /^(?:En|De)cryption in progress: /.test(line))) return known('converting');
      if (rest.some((line) => line !== '' && !isRemark(line))) return garbled(answer, 'printed unexpected lines');
      return known(state === 'On' ? 'on' : 'off');
    }),
  text: (state) => state,
});

/** Remarks that do not affect the current state of the disk. */
const isRemark = (line: string): boolean =>
  /^(?:FileVault master keychain appears to be installed|Deferred enablement appears to be active\b).*\.$/.test(line);
