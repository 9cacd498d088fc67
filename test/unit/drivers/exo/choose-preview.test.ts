import { describe, expect, it } from 'vitest';
import { type ExoPreview, parsePreviews } from '../../../../src/drivers/exo/answers.ts';
import { choosePreview as choosePreviewItself, type DesiredInstance } from '../../../../src/drivers/exo/place.ts';
import { parsedJson } from '../../../../src/model/digest.ts';
import { onOnePage, onPage } from '../../one-page.ts';
import { exoCase, ids } from './exo-case.ts';

const choosePreview = onPage(choosePreviewItself);

const previewsOf = (name: string): readonly ExoPreview[] => parsePreviews(exoCase(name)) ?? [];

const four = [...ids, '3e08d7b1c59f46ab9d7201fe84a6c35b', 'c42b96f80d3e4a178b65e90c7fa1d23e'];
const kimi: DesiredInstance = {
  modelId: 'mlx-community/Kimi-K2-Thinking',
  sharding: 'Tensor',
  meta: 'MlxJaccl',
  ids: four,
};
const qwen: DesiredInstance = { ...kimi, modelId: 'mlx-community/Qwen3-235B-A22B-Instruct-2507-8bit', ids };

describe('the chosen preview', () => {
  it('has exactly the declared nodes, even if other previews exist', () => {
    for (const wanted of [four, four.slice(0, 2)]) {
      const choice = choosePreview(previewsOf('previews-4node-kimi.json'), { ...kimi, ids: wanted });
      expect(choice.kind === 'chosen' && Object.keys(choice.instance.runnerByNode).toSorted()).toEqual(
        wanted.toSorted(),
      );
    }
  });

  it('is passed on unchanged, with every unknown key', () => {
    const choice = choosePreview(previewsOf('previews-4node-kimi.json'), kimi);
    const document = parsedJson(exoCase('previews-4node-kimi.json'));
    const sent = (document as { previews: { instance: unknown }[] }).previews.map(({ instance }) => instance);
    expect(choice.kind === 'chosen' && sent).toContainEqual(choice.kind === 'chosen' && choice.verbatim);
  });

  it('has the declared sharding and transport', () => {
    for (const sharding of ['Tensor', 'Pipeline'] as const) {
      for (const meta of ['MlxJaccl', 'MlxRing'] as const) {
        const choice = choosePreview(previewsOf('previews-4node-kimi.json'), { ...kimi, sharding, meta });
        expect(choice).toMatchObject({ instance: { tag: `${meta}Instance` } });
        expect(choice.kind === 'chosen' && new Set(choice.instance.shardTags)).toEqual(
          new Set([`${sharding}ShardMetadata`]),
        );
      }
    }
  });

  it('is missing if a shard has a different kind', () => {
    const mixed = previewsOf('previews-4node-kimi.json').map((preview) =>
      preview.instance === undefined
        ? preview
        : {
            ...preview,
            instance: { ...preview.instance, shardTags: preview.instance.shardTags.with(-1, 'PipelineShardMetadata') },
          },
    );
    expect(choosePreview(mixed, kimi).kind).toBe('none');
  });

  it('is missing if "tensor over RDMA" is only the label of a ring on one node', () => {
    const all = previewsOf('previews-no-rdma.json');
    const one = { ...qwen, ids: ids.slice(0, 1) };
    const disguised = all.filter(({ error }) => error === undefined);
    for (const previews of [all, disguised]) expect(choosePreview(previews, one).kind).toBe('none');
    expect(choosePreview(all, { ...qwen, sharding: 'Pipeline', meta: 'MlxRing', ids: one.ids }).kind).toBe('chosen');
  });

  it.each([
    ['previews-no-rdma.json', qwen, 'Requested RDMA (MlxJaccl) but no RDMA-connected cycles available'],
    ['previews-insufficient-memory.json', kimi, 'No cycles found with sufficient memory'],
    ['previews-empty.json', kimi, 'exo returned no previews'],
    [
      'previews-4node-kimi.json',
      { ...kimi, ids: four.slice(0, 3) },
      "exo's preview of Tensor over MlxJaccl is a MlxJacclInstance with TensorShardMetadata on 2 nodes",
    ],
  ])('is missing, with the reason that exo gives (%s)', (name, wish, reason) => {
    expect(choosePreview(previewsOf(name), wish)).toEqual({ kind: 'none', reason });
  });

  it('is missing if the previews are for a different model', () => {
    const other = { ...kimi, modelId: 'other/model' };
    expect(choosePreview(previewsOf('previews-4node-kimi.json'), other).kind).toBe('none');
  });
});

onOnePage('choose-preview');
