import { escapeText } from '../diagnostics/escape.ts';
import { documentHead } from '../diagnostics/json.ts';
import type { Reader } from '../diagnostics/prose-text.ts';
import type { Unreached } from '../engine/plan/view.ts';
import type { DesiredModel } from '../model/desired.ts';
import { shortDigest } from '../model/digest.ts';
import type { ModelsDocument, ModelsModel } from '../model/documents.generated.ts';
import { given } from '../model/given.ts';
import { alike } from '../model/lists.ts';
import { everyNodeText } from '../model/node.ts';
import { bytesText } from '../model/text/units.ts';
import type { ModelCopies, ModelCopy, UndeclaredModel } from '../rack/artifacts/models/model-copies.ts';
import { seenText, unreachedField } from './nodes-text.ts';
import { counted, hang, headLines, type Page, pageText, type Tone, titleLines } from './page.ts';

export interface ModelsInput {
  readonly cluster: string;
  readonly models: readonly ModelCopies[];
  readonly undeclared: readonly UndeclaredModel[];
  /** The number of nodes that were asked. */
  readonly asked: number;
  readonly unreached: Unreached;
}

/** A source as in the cluster file. */
function sourceText({ hub, source }: Pick<DesiredModel, 'hub' | 'source'>): string {
  if (hub !== undefined) return hub.text;
  switch (source.kind) {
    case 'controller':
      return source.folder;
    case 'node':
      return `node:${source.folder}`;
    case 'url':
      return source.base;
    case 'hub':
      return '';
  }
}

export const modelsJson = (
  { cluster, models, undeclared, unreached }: ModelsInput,
  reader: Reader,
): Omit<ModelsDocument, 'diagnostics'> => ({
  ...documentHead(reader, { cluster }),
  models: Object.fromEntries(models.map((one) => [one.model.name, modelJson(one)])),
  undeclared: undeclared.map(({ node, name, digest: version, state, bytes }) => ({
    ...{ node, name, version, state },
    ...given({ bytes }),
  })),
  ...unreachedField(unreached),
});

const modelJson = ({ model, bytes, copies }: ModelCopies): ModelsModel => ({
  source: sourceText(model),
  ...given({ repository: model.repository, commit: model.hub?.commit }),
  ...(model.digest === undefined ? {} : { version: shortDigest(model.digest), files: model.files.length }),
  ...given({ bytes }),
  nodes: Object.fromEntries(
    copies.map(({ node, isNeeded, found, ...state }) => {
      const folders = found?.map(({ use, ...one }) => ({ ...one, use }));
      return [node, { ...state, ...given({ found: folders }), needed: isNeeded }] as const;
    }),
  ),
});

export function modelsText(input: ModelsInput, page: Page): string {
  const { cluster, models, undeclared, asked, unreached } = input;
  const others = new Set(undeclared.map(({ name }) => name)).size;
  const counts = [
    ...(models.length === 0 && others > 0 ? [] : [counted(models.length, 'model')]),
    ...(others === 0 ? [] : [`${others} not in the file`]),
    seenText(asked - Object.keys(unreached).length, unreached),
  ];
  return pageText([
    headLines(cluster, counts.join(', '), page),
    ...models.map((one) => modelLines(one, page)),
    undeclaredLines(undeclared, page),
  ]);
}

function modelLines({ model, bytes, copies }: ModelCopies, page: Page): readonly string[] {
  const size =
    bytes === undefined
      ? 'its list of files is not in the lock yet'
      : `${bytesText(bytes)} in ${counted(model.files.length, 'file')}`;
  const commit = model.hub?.commit === undefined ? '' : `, commit ${model.hub.commit.slice(0, 12)}`;
  const version = model.digest === undefined ? '' : `, version ${shortDigest(model.digest)}`;
  return [
    ...titleLines([model.name, size], '', page),
    ...hang('  ', `from ${escapeText(sourceText(model))}${commit}${version}`, page.columns),
    ...(copies.length === 0 ? hang('  ', 'No placement uses it, and no node has it.', page.columns) : []),
    ...alike(copies, (copy) => [stateText(copy, bytes, ''), ...foundTexts(copy, model)].join('\n')).flatMap(
      ([copy, same]) => {
        const nodes = everyNodeText(same.map(({ node }) => node));
        const lines = hang('  ', stateText(copy, bytes, nodes), page.columns);
        return [
          ...lines.map((line) => page.paint(states[copy.state].tone, line)),
          ...foundTexts(copy, model).flatMap((text) => hang('    ', text, page.columns)),
        ];
      },
    ),
  ];
}

const states: Readonly<Record<ModelCopy['state'], { readonly words: string; readonly tone: Tone }>> = {
  complete: { words: 'complete', tone: 'good' },
  staged: { words: 'partly staged', tone: 'warn' },
  changed: { words: 'changed since publication', tone: 'bad' },
  unsealed: { words: 'published without a seal', tone: 'bad' },
  missing: { words: 'missing', tone: 'warn' },
  unknown: { words: 'unknown', tone: 'warn' },
};

const jobWords: Readonly<Record<NonNullable<ModelCopy['job']>, string>> = {
  running: 'being prepared',
  done: 'not published yet',
  failed: 'partly staged (its job failed)',
};

/** `partly staged, 412.0 GB of 735.2 GB on studio-4`. */
function stateText(
  { state, isNeeded, reason, stagedBytes, job, waitsUntil, ...copy }: ModelCopy,
  bytes: number | undefined,
  nodes: string,
): string {
  const staged =
    stagedBytes === undefined || bytes === undefined ? '' : `, ${bytesText(stagedBytes)} of ${bytesText(bytes)},`;
  const waits = waitsUntil && `waiting until ${escapeText(waitsUntil)} (downloads.window)`;
  const word = waits ?? (job && jobWords[job]) ?? states[state].words;
  const unused = isNeeded || state === 'unknown' ? '' : ' (no placement there uses it)';
  const why = reason === undefined ? hashText(copy) : `: ${escapeText(reason)}`;
  return `${word}${staged} on ${nodes}${unused}${why}`;
}

/** The copies that are not complete, by model, with the number of these copies; empty if there are none. */
export function wrongCopyLines({ models }: Pick<ModelsInput, 'models'>, page: Page): readonly string[] {
  const wrong = models.flatMap(({ model, bytes, copies }) =>
    copies
      .filter(({ state }) => state !== 'complete' && state !== 'unknown')
      .map((copy) => ({ ...copy, text: (nodes: string) => `${model.name}: ${stateText(copy, bytes, nodes)}` })),
  );
  if (wrong.length === 0) return [];
  const lines = alike(wrong, ({ text }) => text('')).map(([{ text }, same]) =>
    text(everyNodeText(same.map(({ node }) => node))),
  );
  return [
    page.paint('bad', `Wrong or incomplete copies (${wrong.length})`),
    ...lines.flatMap((line) => hang('  ', line, page.columns)),
  ];
}

type HashResult = Pick<ModelCopy, 'wrongFiles' | 'foundOn' | 'hashedOn' | 'unreadableOn'>;

/** `, every file hashed on 2026-11-20`. */
function hashText({ wrongFiles, foundOn, hashedOn, unreadableOn }: HashResult): string {
  if (wrongFiles !== undefined) {
    const found = foundOn === undefined ? '' : ` (found on ${foundOn})`;
    return `: wrong ${wrongFiles.map(escapeText).join(', ')}${found}`;
  }
  const hashed = hashedOn === undefined ? '' : `, every file hashed on ${hashedOn}`;
  return unreadableOn === undefined ? hashed : `${hashed}, but a file could not be read on ${unreadableOn}`;
}

/** `/Users/ana/.exo/models/acme--tiny has 62 of 62 files: apply takes them …`, one for each folder. */
function foundTexts(
  { found = [], unreadable = [], unsearched }: ModelCopy,
  { files }: DesiredModel,
): readonly string[] {
  if (unsearched !== undefined) return [`copies of other software there: unknown: ${escapeText(unsearched)}`];
  const isAdopted = found.some(({ use }) => use === 'adopted');
  return [
    ...found.map(({ folder, matching, use }) => {
      const count = matching === undefined ? 'may have it' : `has ${matching} of ${counted(files.length, 'file')}`;
      return `${escapeText(folder)} ${count}: ${useWords[use]}`;
    }),
    ...(isAdopted ? [] : unreadable.map((folder) => `${escapeText(folder)}: the SSH account may not read it`)),
  ];
}

const useWords: Readonly<Record<NonNullable<ModelCopy['found']>[number]['use'], string>> = {
  adopted: 'apply takes them and compares their SHA-256',
  'other-copy': 'not used, because apply takes a different folder',
  'too-little': 'not used, because less than a tenth of the model has the right size',
  'leads-outside': 'not used, because a link leads out of the folder',
  'list-unknown': "cannot be compared before the model's list of files is in the lock",
};

function undeclaredLines(undeclared: readonly UndeclaredModel[], page: Page): readonly string[] {
  if (undeclared.length === 0) return [];
  const rows = alike(undeclared, (one) => undeclaredText(one, '')).flatMap(([one, same]) =>
    hang('  ', undeclaredText(one, everyNodeText(same.map(({ node }) => node))), page.columns),
  );
  return [page.paint('strong', 'Not in the file'), ...rows];
}

/** `old-model, version 0123456789abcdef: 120.3 GB on studio-1`. */
function undeclaredText({ name, digest, bytes }: UndeclaredModel, nodes: string): string {
  const size = bytes === undefined ? 'unknown size' : bytesText(bytes);
  return `${escapeText(name)}, version ${digest}: ${size} on ${nodes}`;
}
