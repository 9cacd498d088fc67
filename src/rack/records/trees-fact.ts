import { digest } from '../../model/digest.ts';
import type { ObservedTree } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { andThen, type Known, known } from '../../model/known.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { type FoundSeal, listOr, readSeals } from '../../node/probes/stored-records.ts';
import { installedFiles } from '../../node/probes/stored-records-scripts.ts';
import { defineFact } from '../fact.ts';

/** The number of entries in a tree, and of those that changed after the tree was sealed. */
interface TreeCount {
  readonly entries: number;
  readonly changed: number;
}

/**
 * The published trees, each compared with its seal by the number of its files and their modification times; then the
 * staged trees. The bytes are compared only once, before a tree is published (`staged-files.sh`).
 */
export const treesFact = defineFact({
  name: 'trees',
  from: [installedFiles],
  parse: ([answer]): Known<readonly ObservedTree[]> =>
    andThen(readSeals(answer), (seals) => {
      const found: ObservedTree[] = [];
      for (const seal of seals.trees) {
        const { current, ...sealed } = seal.fields;
        if (current !== undefined && current !== 'yes') return garbled(answer, 'printed an invalid current version');
        const counts: Known<readonly string[]> =
          Object.keys(sealed).length === 0 ? known([]) : listOr(seals.counts, 'The files of trees');
        if (counts.kind === 'unknown') return counts;
        const count = countOf(counts.value, seal.id);
        if (count === undefined) return garbled(answer, `printed an invalid file count of ${seal.id}`);
        const state = stateOf(seal, count);
        const whole = state === 'intact' ? { whole: digest(sealed['digest'] ?? ''), ...librariesOf(sealed) } : {};
        const bytes = wholeNumber(sealed['bytes'] ?? '');
        const wrongFiles = wrongIn(sealed);
        const foundAtEpochSeconds = wrongFiles && wholeNumber(sealed['found'] ?? '');
        found.push({
          ...nameOf(seal),
          ...whole,
          ...given({ bytes, wrongFiles, foundAtEpochSeconds }),
          isCurrent: current === 'yes',
          state,
        });
      }
      return known([...found, ...seals.staged.map(stagedTree)]);
    }),
  text: (trees) =>
    trees.map((one) => `${one.kind} ${one.name} ${one.digest} ${one.state}${one.isCurrent ? ', current version' : ''}`),
});

function wrongIn(sealed: FoundSeal['fields']): readonly string[] | undefined {
  const wrong = Object.entries(sealed).flatMap(([key, path]) => (key.startsWith('wrong.') ? [path] : []));
  return wrong.length === 0 ? undefined : wrong;
}

/** The libraries that a build job recorded in the seal; absent if the tree was not built. */
function librariesOf(sealed: FoundSeal['fields']): Pick<ObservedTree, 'libraries'> {
  const { digest: _digest, files: _files, bytes: _bytes, ...libraries } = sealed;
  return Object.keys(libraries).length === 0 ? {} : { libraries };
}

/** Reads `model-kimi-0123456789abcdef`, whose form was already checked. */
function stagedTree(folder: string): ObservedTree {
  const [, kind, name = '', digest = ''] = /^(runtime|model)-(.+)-([0-9a-f]{16})$/.exec(folder) ?? [];
  return { kind: kind === 'runtime' ? 'runtime' : 'model', name, digest, isCurrent: false, state: 'staged' };
}

/** Reads `models/kimi/0123456789abcdef`, whose form was already checked. */
function nameOf({ id }: FoundSeal): Pick<ObservedTree, 'kind' | 'name' | 'digest'> {
  const [folder = '', name = '', digest = ''] = id.split('/');
  return { kind: folder === 'runtimes' ? 'runtime' : 'model', name, digest };
}

/** A tree is intact only if the seal is for this tree and nothing has changed since. */
function stateOf({ id, fields }: FoundSeal, { entries, changed }: TreeCount): ObservedTree['state'] {
  const { current: _current, ...sealed } = fields;
  if (Object.keys(sealed).length === 0) return 'unsealed';
  const { digest = '', files } = sealed;
  const isOwn = /^[0-9a-f]{64}$/.test(digest) && digest.startsWith(id.split('/')[2] ?? '');
  return isOwn && wholeNumber(files) === entries && changed === 0 ? 'intact' : 'changed';
}

/** The count of a tree; a tree without files has no line. `undefined` for two lines or an invalid number. */
function countOf(lines: readonly string[], id: string): TreeCount | undefined {
  const own = lines.filter((line) => line.startsWith(`${id} `));
  if (own.length > 1) return undefined;
  const [, entries, changed] = (own[0] ?? `${id} 0 0`).split(' ').map(wholeNumber);
  return entries === undefined || changed === undefined ? undefined : { entries, changed };
}
