import { expect, it } from 'vitest';
import { namedModels } from '../../../../src/cli/models/list.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { meshFleet } from '../../../rack/placements.ts';

const all = {
  cluster: 'rack',
  models: meshFleet().models.map((model) => ({ model, copies: [] })),
  undeclared: [{ node: nodeName('studio-1'), name: 'old', digest: 'f'.repeat(16), state: 'intact' as const }],
  asked: 1,
  unreached: {},
};

it('models list shows a model that is only on a node', () => {
  expect(namedModels({ words: ['old'] }, all)).toEqual({ ...all, models: [] });
});

it('models list refuses a name that is neither in the file nor on a node', () => {
  const refused = (): unknown => namedModels({ words: ['tiny', 'tny'] }, all);
  expect(refused).toThrow(FleetError);
  expect(refused).toThrow(
    expect.objectContaining({
      diagnostics: [expect.objectContaining({ code: 'select/unknown-model', hint: 'Did you mean `tiny`?' })],
    }),
  );
});
