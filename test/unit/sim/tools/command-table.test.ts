import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nodeFiles } from '../../../../src/sim/render-node.ts';
import { tools } from '../../../../src/sim/tools/registry.ts';
import { pair, simulated } from '../../../rack/rack.ts';
import { formsOf } from './command-forms.ts';

const caseFile = (name: string): URL => new URL(`../../../cases/sim/${name}`, import.meta.url);
const fleet = simulated();
const [mac] = fleet.macs;
const forms = mac === undefined ? [] : formsOf({ fleet, mac });

describe('the command table', () => {
  it('has the recorded number of rows', () => {
    expect(forms).toHaveLength(Number(readFileSync(caseFile('row-count.txt'), 'utf8')));
    expect(new Set(forms.map(({ command }) => command)).size).toBe(forms.length);
  });

  it('names a source for every row and a file for every capture', () => {
    const files = forms.flatMap(({ source }) => source.capture ?? []);
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((name) => !existsSync(caseFile(`captures/${name}`)))).toEqual([]);
    expect(forms.filter(({ source }) => source.text.length < 5)).toEqual([]);
  });

  it('lists each tool once by absolute path, sorted by name', () => {
    const names = tools.map(({ path }) => path.split('/').at(-1));
    expect(names).toEqual([...new Set(names)].sort());
    for (const { path } of tools) expect(path).toMatch(/^\/(usr\/|s?bin\/)/);
  });

  it.each([
    ['a rack of Mac Studios', fleet, 'studio-1'],
    ['a laptop with a bridge', pair({ models: ['Mac17,7', 'Mac16,9'], ends: [3, 4], bridge: 'keep' }), 'one'],
  ])('stores every answer of %s in a separate file', (_, some, node) => {
    const paths = nodeFiles(some, node).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toEqual([...paths].sort());
  });
});
