import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../src/engine/observe/facts.ts';
import type { DesiredFleet, DesiredModel } from '../../../src/model/desired.ts';
import { shortDigest } from '../../../src/model/digest.ts';
import type { ObservedTree } from '../../../src/model/facts/fact-values.ts';
import { modelCopies, undeclaredCopies } from '../../../src/rack/artifacts/models/model-copies.ts';
import { type ModelsInput, modelsJson, modelsText } from '../../../src/report/models.ts';
import { schemaCheck } from '../../cli/schema-check.ts';
import { plainPage } from '../../rack/page.ts';
import { fileAt, meshFleet } from '../../rack/placements.ts';
import { observedFleet } from '../../rack/rack.ts';

const fleet = meshFleet();
const [tiny] = fleet.models;
if (tiny?.digest === undefined) throw new Error('the fleet has no model');
const { digest, ...unresolved } = tiny;
const asDeclared: DesiredModel = tiny;
const version = shortDigest(digest);
const files = [fileAt('config.json', 80), fileAt('model.safetensors', 120_000_000)];

const tree = (state: ObservedTree['state'], own: Partial<ObservedTree> = {}): ObservedTree => ({
  ...{ kind: 'model', name: 'tiny', digest: version, isCurrent: false, state },
  ...own,
});

/** The report's input with these facts; studio-3 is not reached. */
function input(
  values: Readonly<Record<string, Partial<FactValues>>>,
  model: DesiredModel = { ...asDeclared, files },
): ModelsInput {
  const own: DesiredFleet = { ...fleet, models: [model] };
  const observation = observedFleet({ values, unreachable: ['studio-3'] });
  const nodes = own.nodes.map(({ name }) => name);
  return {
    cluster: 'rack',
    models: modelCopies(own, observation, nodes),
    undeclared: undeclaredCopies(own, observation, nodes),
    asked: nodes.length,
    unreached: { 'studio-3': { code: null, reason: 'The node was not asked.' } },
  };
}

const statesOf = ({ models }: ModelsInput) => models[0]?.copies.map(({ node, state }) => `${node} ${state}`);

const job = { key: 'ab', fields: { tree: `model tiny ${version}`, state: 'running', done: '40', total: '80' } };

describe('models list', () => {
  it.each([
    ['complete', [tree('intact')]],
    ['complete', [tree('intact'), tree('staged')]],
    ['staged', [tree('staged')]],
    ['staged', [tree('changed'), tree('staged')]],
    ['changed', [tree('changed')]],
    ['unsealed', [tree('unsealed')]],
    ['missing', [tree('intact', { kind: 'runtime' }), tree('intact', { digest: 'a'.repeat(16) })]],
  ] as const)('shows %s for a node with the trees %j', (state, trees) => {
    const seen = input({ 'studio-1': { trees }, 'studio-2': { trees: [] } });
    expect(statesOf(seen)).toEqual([`studio-1 ${state}`, 'studio-2 missing', 'studio-3 unknown']);
  });

  it("cannot tell whether a published version is right if the model's file list is not resolved", () => {
    const seen = input(
      { 'studio-1': { trees: [tree('intact')] }, 'studio-2': { trees: [] } },
      { ...unresolved, files: [] },
    );
    expect(statesOf(seen)).toEqual(['studio-1 unknown', 'studio-2 missing', 'studio-3 unknown']);
    expect(seen.undeclared).toEqual([]);
  });

  it("shows other software's model folders on nodes without the model, and which of them apply uses", async () => {
    const inFolder = (own: Partial<FactValues['model-copies']['folders'][number]>) => ({
      ...{ model: 'tiny', layout: 'exo' as const, folder: '/Users/ana/.exo/models/acme--tiny' },
      files: files.map(({ path, sizeBytes }) => ({ path, sizeBytes, isOnVolume: true })),
      ...own,
    });
    const small = [{ path: 'config.json', sizeBytes: 80, isOnVolume: true }];
    const other = inFolder({ layout: 'lmstudio', folder: '/Users/ana/.lmstudio/models/acme/tiny', files: small });
    const linked = inFolder({ layout: 'named', folder: '/Volumes/usb/tiny', leadsOutside: true });
    const values = {
      'studio-1': { trees: [], 'model-copies': { folders: [other, inFolder({}), linked], unreadable: ['/Users/bob'] } },
      'studio-2': { trees: [], 'model-copies': { folders: [other], unreadable: ['/Users/bob'] } },
      'studio-4': { trees: [tree('intact')], 'model-copies': { folders: [inFolder({})], unreadable: [] } },
    };
    const seen = input(values, { ...asDeclared, files, repository: 'acme/tiny' });
    await expect(modelsText(seen, plainPage({ columns: 80 }))).toMatchFileSnapshot('golden/models-found-80.txt');
    const document = { ...modelsJson(seen, { isSimulated: false }), diagnostics: [] };
    expect(schemaCheck('models')(document)).toEqual([]);
    const uses = Object.entries(document.models['tiny']?.nodes ?? {}).map(([node, { found = [] }]) => [
      node,
      ...found.map(({ use, matching }) => `${use} ${matching ?? ''}`),
    ]);
    expect(uses).toEqual([
      ['studio-1', 'other-copy 1', 'adopted 2', 'leads-outside '],
      ['studio-2', 'too-little 1'],
      ['studio-3'],
      ['studio-4'],
    ]);
    const unlisted = input(
      { 'studio-1': { trees: [], 'model-copies': { folders: [inFolder({})], unreadable: [] } } },
      { ...unresolved, files: [], repository: 'acme/tiny' },
    );
    expect(unlisted.models[0]?.copies[0]?.found?.map(({ use }) => use)).toEqual(['list-unknown']);
    const never = input(values, { ...asDeclared, files, repository: 'acme/tiny', adopt: 'never' });
    expect(never.models[0]?.copies[0]).toEqual({ node: 'studio-1', isNeeded: true, state: 'missing' });
  });

  it("shows the keeper's results: when a copy was hashed, which files were unreadable and which were wrong", () => {
    const keeper = (...hashed: readonly (readonly [number, boolean])[]) => ({
      ...{ files: [], isLoaded: true, isRefused: false },
      hashed: hashed.map(([at, isComplete]) => ({
        ...{ model: 'tiny', version, atEpochSeconds: 1_790_000_000 + at * 86_400, isComplete },
      })),
    });
    const wrong = { wrongFiles: ['a.bin', 'b\n.bin'], foundAtEpochSeconds: 1_790_000_000 };
    const seen = input({
      'studio-1': { trees: [tree('intact')], keeper: keeper([0, true]) },
      'studio-2': { trees: [tree('intact')], keeper: keeper([0, true], [2, false]) },
      'studio-4': { trees: [tree('changed', wrong)], keeper: keeper() },
    });
    expect(
      modelsText(seen, plainPage({ columns: 200 }))
        .split('\n')
        .slice(4, 8),
    ).toEqual([
      '  complete on studio-1, every file hashed on 2026-09-21',
      '  complete on studio-2, every file hashed on 2026-09-21, but a file could not be read on 2026-09-23',
      '  unknown on studio-3: The node was not reached.',
      '  changed since publication on studio-4 (no placement there uses it): wrong a.bin, b\\u{a}.bin (found on 2026-09-21)',
    ]);
    const document = { ...modelsJson(seen, { isSimulated: false }), diagnostics: [] };
    expect(schemaCheck('models')(document)).toEqual([]);
    expect(document.models['tiny']?.nodes['studio-1']).toMatchObject({ hashedOn: '2026-09-21' });
    const other = input({
      'studio-1': { trees: [tree('intact', { digest: 'a'.repeat(16) })], keeper: keeper([0, true]) },
    });
    expect(other.models[0]?.copies[0]).toEqual({ node: 'studio-1', isNeeded: true, state: 'missing' });
  });

  it('prints each model and the versions that are not in the file, at any width', async () => {
    const old = tree('intact', { name: 'old', digest: 'f'.repeat(16), bytes: 120_300_000_000 });
    const seen = input({
      'studio-1': { trees: [tree('intact'), old, tree('intact', { digest: 'a'.repeat(16) })] },
      'studio-2': { trees: [tree('staged'), old], jobs: [job] },
      'studio-4': { trees: [tree('changed')] },
    });
    await expect(modelsText(seen, plainPage({ columns: 80 }))).toMatchFileSnapshot('golden/models-80.txt');
    await expect(modelsText(seen, plainPage({ columns: 40 }))).toMatchFileSnapshot('golden/models-40.txt');
    const document = { ...modelsJson(seen, { isSimulated: false }), diagnostics: [] };
    expect(schemaCheck('models')(document)).toEqual([]);
    expect(document.models['tiny']?.nodes['studio-2']).toEqual({
      state: 'staged',
      job: 'running',
      needed: true,
      stagedBytes: 40,
    });
  });
});
