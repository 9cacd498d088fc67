import type { InstalledFile } from '../../model/facts/fact-values.ts';
import { allKnown, andThen, type Known, known, unknown } from '../../model/known.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { type FoundSeal, readSeals, type SealList, type SealRecords } from '../../node/probes/stored-records.ts';
import { installedFiles } from '../../node/probes/stored-records-scripts.ts';
import { defineFact, eachOnce } from '../fact.ts';

/** The files that were installed on the node, each compared with its seal: checksum, size and mode. */
export const filesFact = defineFact({
  name: 'files',
  from: [installedFiles],
  parse: ([answer]): Known<readonly InstalledFile[]> =>
    andThen(readSeals(answer), (seals) => {
      const files = seals.files.map(
        (seal) => fileOf(seal, seals) ?? garbled(answer, `printed an unreadable seal ${seal.id}`),
      );
      return andThen(allKnown(files), (found) =>
        eachOnce(found, ({ path }) => path, garbled(answer, 'printed one file twice')),
      );
    }),
  text: (files) => files.map(({ path, digest, state }) => `${path} ${state}, ${digest.slice(0, 16)}`),
});

/** `undefined` if the seal is invalid. */
function fileOf({ fields }: FoundSeal, { sums, modes }: SealRecords): Known<InstalledFile> | undefined {
  const { path = '', digest = '', cksum = '', mode = '', there } = fields;
  const isSeal = /^\/[^\0]{1,1023}$/.test(path) && /^[0-9a-f]{64}$/.test(digest) && /^[0-7]{3,4}$/.test(mode);
  if (!isSeal || !/^\d{1,10} \d{1,15}$/.test(cksum)) return undefined;
  switch (there) {
    case 'no':
      return known({ path, digest, state: 'missing' });
    case 'unreadable':
      return unknown('no-privilege', `${path} cannot be read by this user.`);
    case 'yes': {
      const name = path.slice(1);
      const now = [entryOf(sums, /^(\d+ \d+) (.+)$/, name), entryOf(modes, /^(\d+) (.+)$/, name)];
      if (now.includes(undefined)) return unknown('failed', `The current state of ${path} could not be read.`);
      return known({ path, digest, state: now[0] === cksum && now[1] === mode ? 'intact' : 'changed' });
    }
    default:
      return undefined;
  }
}

/** The value for a file, from lines of a value and a name; `undefined` unless there is exactly one. */
function entryOf(list: SealList | undefined, form: RegExp, name: string): string | undefined {
  const own = (list?.lines ?? []).map((line) => form.exec(line)).filter((match) => match?.[2] === name);
  return own.length === 1 ? own[0]?.[1] : undefined;
}
