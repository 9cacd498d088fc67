import { describe, expect, it } from 'vitest';
import type { DesiredModel } from '../../../../../src/model/desired.ts';
import type { CopyFolder, Facts } from '../../../../../src/model/facts/fact-values.ts';
import { known } from '../../../../../src/model/known.ts';
import { bestCopy } from '../../../../../src/rack/artifacts/sources/adopted-copy.ts';
import { anyDigest } from '../../../../rack/plans.ts';

const model = {
  name: 'kimi',
  repository: 'acme/kimi',
  adopt: [],
  files: [
    { path: 'small.gguf', sha256: anyDigest, sizeBytes: 10 },
    { path: 'large.gguf', sha256: 'cd'.repeat(32), sizeBytes: 90 },
  ],
} as unknown as DesiredModel;

/** A folder in which the files have the names that the layout gives them. */
function copyIn(layout: CopyFolder['layout'], files = model.files, isOnVolume = true): CopyFolder {
  const nameOf = ({ path, sha256 }: (typeof files)[number]): string => {
    if (layout === 'ollama') return `sha256-${sha256}`;
    return layout === 'llamacpp' ? `acme_kimi_${path}` : path;
  };
  const found = files.map((file) => ({ path: nameOf(file), sizeBytes: file.sizeBytes, isOnVolume }));
  return { model: 'kimi', layout, folder: `/${layout}`, files: found };
}

const best = (...folders: readonly CopyFolder[]) =>
  bestCopy(model, { 'model-copies': known({ folders, unreadable: [] }) } as Facts);
const bestOf = (...folders: readonly CopyFolder[]): string | undefined => best(...folders)?.folder;

describe('the folder from which a node takes a model', () => {
  it('is the preferred folder if several folders have all files', () => {
    const left = (['ollama', 'exo', 'llamacpp', 'hub', 'lmstudio', 'named'] as const).map((one) => copyIn(one));
    const order: string[] = [];
    while (left.length > 0) {
      const best = bestOf(...left);
      order.push(best ?? 'none');
      left.splice(
        left.findIndex(({ folder }) => folder === best),
        1,
      );
    }
    expect(order).toEqual(['/named', '/hub', '/exo', '/lmstudio', '/llamacpp', '/ollama']);
  });

  it('is the folder with the most bytes; a tie goes to the folder with more bytes that can be cloned', () => {
    const [small, large] = model.files.map((file) => [file]);
    expect(bestOf(copyIn('named', small), copyIn('ollama', large))).toBe('/ollama');
    expect(bestOf(copyIn('named', large, false), copyIn('ollama', large))).toBe('/ollama');
  });

  it('has at least a tenth of the bytes', () => {
    const [small = []] = model.files.map((file) => [file]);
    expect(bestOf(copyIn('hub', small))).toBe('/hub');
    const other = { ...model, files: [...small, { path: 'b', sha256: anyDigest, sizeBytes: 91 }] };
    const facts = { 'model-copies': known({ folders: [copyIn('hub', small)], unreadable: [] }) } as Facts;
    expect(bestCopy(other, facts)).toBeUndefined();
  });

  it('may contain links to its own files, or to its repository if it is a Hugging Face cache', () => {
    const folder = '/models--acme--kimi/snapshots/0123';
    const fences = (['hub', 'named'] as const).map((layout) => best({ ...copyIn(layout), folder })?.fence);
    expect(fences).toEqual(['/models--acme--kimi', folder]);
  });

  it('does not lead outside, belong to a different model, or have files of different sizes', () => {
    const copy = copyIn('hub');
    const changed = copy.files.map((file) => ({ ...file, sizeBytes: file.sizeBytes + 1 }));
    expect(bestOf({ ...copy, leadsOutside: true })).toBeUndefined();
    expect(bestOf({ ...copy, model: 'qwen' })).toBeUndefined();
    expect(bestOf({ ...copy, files: changed })).toBeUndefined();
  });
});
