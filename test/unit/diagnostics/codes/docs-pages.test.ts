import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { codes } from '../../../../src/diagnostics/diagnose.ts';
import { knownModels } from '../../../../src/drivers/known/tables.generated.ts';
import { definedCodes } from '../../../../src/engine/diagnose/rules.ts';
import { macTable } from '../../../../src/model/macs.ts';

const pages = '../../../../scripts/docs-pages.mjs';
const { errorsPage, knownModelsPage, macsPage } = await import(pages);

it.each([
  ['errors', errorsPage({ ...definedCodes, ...codes })],
  ['macs', macsPage(macTable)],
  ['known-models', knownModelsPage(knownModels)],
])('docs/%s.md shows the current data', (name, page) => {
  expect(readFileSync(`docs/${name}.md`, 'utf8')).toBe(page);
});
