import { expect, it } from 'vitest';
import { namedModels } from '../../../../src/cli/models/list.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { meshFleet } from '../../../rack/placements.ts';
import { problemsOf } from '../../problems-of.ts';

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
  const unknown = { code: 'select/unknown-model', hint: 'Did you mean `tiny`?' };
  expect(problemsOf(() => namedModels({ words: ['tiny', 'tny'] }, all))).toMatchObject([unknown]);
});
