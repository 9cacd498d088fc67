import type { FactsModelCopies } from '../../../model/documents.generated.ts';
import type { CopyFolder } from '../../../model/facts/fact-values.ts';
import { andThen, type Known, known, mapKnown } from '../../../model/known.ts';
import { wholeNumber } from '../../../node/answers/grammar.ts';
import { garbled, readText } from '../../../node/answers/read-answer.ts';
import { type NodeRecord, readRecords } from '../../../node/answers/records.ts';
import { modelCopies } from '../../../node/probes/model-copies.ts';
import { installedFiles } from '../../../node/probes/stored-records-scripts.ts';
import { defineFact } from '../../fact.ts';

const layouts = ['hub', 'exo', 'lmstudio', 'ollama', 'llamacpp', 'named'] as const;

/**
 * Folders in which exo, Hugging Face's tools, LM Studio, Ollama or a person may have stored models of the file. Only
 * names and sizes are read; a job compares the contents.
 *
 *     copy kimi exo /Users/ana/.exo/models/mlx-community--Kimi-K2-Thinking
 *     |16777232 5368709120 ./model-00001-of-00062.safetensors
 */
export const modelCopiesFact = defineFact({
  name: 'model-copies',
  from: [modelCopies, installedFiles],
  parse: ([answer, files]): Known<FactsModelCopies> => {
    // An observation that searches for no model finds none. Nothing is known of a node whose answers did not arrive.
    if (answer === undefined && files !== undefined)
      return mapKnown(readText(files), () => ({ folders: [], unreadable: [] }));
    return andThen(readRecords(answer), (records) => {
      const folders: CopyFolder[] = [];
      const unreadable: string[] = [];
      const heads = new Set<string>();
      let volume: number | undefined;
      for (const record of records) {
        const [, word, rest = ''] = /^([a-z]+) (.+)$/.exec(record.head) ?? [];
        const copy = word === 'copy' ? copyOf(rest, record, volume) : undefined;
        if (copy !== undefined && !heads.has(rest)) folders.push(copy);
        else if (word === 'volume' && wholeNumber(rest) !== undefined) volume = wholeNumber(rest);
        else if (word === 'unreadable' && rest.startsWith('/')) unreadable.push(rest);
        else return garbled(answer, 'printed an unknown record, or a folder or file twice');
        heads.add(rest);
      }
      return known({ folders, unreadable: [...new Set(unreadable)] });
    });
  },
  text: ({ folders, unreadable }) => [
    ...folders.map(({ model, folder, files }) => `${model}: ${files.length} files in ${folder}`),
    ...unreadable.map((folder) => `${folder} cannot be read`),
  ],
});

/** Reads `kimi exo /Users/ana/…` with its files; lines of files with odd names are left out. */
function copyOf(head: string, { lines }: NodeRecord, volume: number | undefined): CopyFolder | undefined {
  const [, model = '', word, folder = ''] = /^([a-z0-9-]+) ([a-z]+) (\/.*)$/.exec(head) ?? [];
  const layout = layouts.find((one) => one === word);
  if (layout === undefined) return undefined;
  const files = lines.flatMap((line) => {
    const [, device, size, path = ''] = /^(\d+) (\d+) \.\/(.+)$/.exec(line) ?? [];
    const sizeBytes = wholeNumber(size);
    return sizeBytes === undefined ? [] : [{ path, sizeBytes, isOnVolume: wholeNumber(device) === volume }];
  });
  if (new Set(files.map(({ path }) => path)).size < files.length) return undefined;
  return { model, layout, folder, ...(lines.includes('outside') ? { leadsOutside: true } : {}), files };
}
