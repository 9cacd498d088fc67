import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { elementsOf, statementsOf } from '../unit/report/graph/well-formed.ts';
import { fleetPlace } from './fleet.ts';
import { codesOf, expectGolden, json, meshwright, type Ran } from './meshwright.ts';
import { schemaCheck } from './schema-check.ts';
import { onTerminal } from './terminal.ts';

const { place } = fleetPlace();

const run = (...words: string[]) => meshwright(place, ['graph', ...words]);

const drawn = (name: string): string => readFileSync(join(place.folder, name), 'utf8');

const resultOf = ({ code, stderr, stdout }: Ran) => ({ code, stderr, stdout });

interface GraphDocument {
  readonly cables: readonly { readonly state: string; readonly ends: readonly string[] }[];
  readonly moves: readonly { readonly text: string }[];
}

describe('graph', () => {
  it('draws the file without connecting to any node', async () => {
    const [svg, dot] = await Promise.all([run('--declared'), run('--declared', '--format', 'dot')]);
    expect([svg.code, svg.stderr, dot.code, dot.stderr]).toEqual([0, '', 0, '']);
    expect(elementsOf(svg.stdout)[0]).toBe('svg');
    statementsOf(dot.stdout);
    await expect(svg.stdout).toMatchFileSnapshot('golden/graph-declared.svg');
    await expect(dot.stdout).toMatchFileSnapshot('golden/graph-declared.dot');
  });

  it('draws the observed rack the same way each time, marked as simulated', async () => {
    const [first, second] = await Promise.all([run('--sim'), run('--sim')]);
    expect([first.code, first.stderr, second.stdout]).toEqual([0, '', first.stdout]);
    expect(first.stdout).toContain('>simulated<');
    await expect(first.stdout).toMatchFileSnapshot('golden/graph-seen.svg');
  });

  it('labels a wrong cable with its move, in SVG, DOT and JSON', async () => {
    expect((await meshwright(place, ['sim', 'fault', 'cable-swapped', 'studio-4'])).code).toBe(0);
    const [svg, dot, asJson] = await Promise.all([
      run('--sim', '--out', 'rack.svg'),
      run('--sim', '--out', 'rack.gv'),
      run('--sim', '--json'),
    ]);
    expect((await meshwright(place, ['sim', 'fault', '--clear'])).code).toBe(0);
    const document = json(asJson) as GraphDocument;
    expect(schemaCheck('graph')(document)).toEqual([]);
    expect([svg.code, dot.code, asJson.code]).toEqual([0, 0, 0]);
    expect(document.cables.filter(({ state }) => state === 'wrong')).toHaveLength(2);
    expect(drawn('rack.gv').replaceAll('\\n', ' ')).toContain(`1. ${document.moves[0]?.text}`);
    await expect(drawn('rack.svg')).toMatchFileSnapshot('../../docs/rack-with-swapped-cables.svg');
    await expect(drawn('rack.gv')).toMatchFileSnapshot('golden/graph-swapped.dot');
    await expectGolden('graph-out', place, [svg, dot]);
  });

  it("draws an unreachable Mac's cables as unknown, and exits with 4", async () => {
    expect((await meshwright(place, ['sim', 'fault', 'connection-drop', 'studio-2'])).code).toBe(0);
    const [svg, asJson] = await Promise.all([run('--sim'), run('--sim', '--json')]);
    expect((await meshwright(place, ['sim', 'fault', '--clear'])).code).toBe(0);
    expect([svg.code, asJson.code]).toEqual([4, 4]);
    expect(svg.stdout).toContain('not observed');
    expect(svg.stderr).toContain('studio-2');
    const document = json(asJson) as GraphDocument;
    expect(schemaCheck('graph')(document)).toEqual([]);
    expect(codesOf(document).length).toBeGreaterThan(0);
    const own = document.cables.filter(({ ends }) => ends.some((end) => end.startsWith('studio-2:')));
    expect(own.map(({ state }) => state)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('does not print SVG to a terminal, and suggests --out', async () => {
    const [svg, dot] = await Promise.all([
      onTerminal(place, ['graph', '--declared']),
      onTerminal(place, ['graph', '--declared', '--format', 'dot']),
    ]);
    expect([svg.code, dot.code]).toEqual([64, 0]);
    expect(svg.stdout).toContain('meshwright graph --out rack.svg');
    expect(svg.stdout).not.toContain('<svg');
    expect(dot.stdout).toContain('graph "studio-rack" {');
  });

  it('rejects invalid formats and options', async () => {
    const rans = await Promise.all([
      run('--format', 'png'),
      run('--out', 'rack.png'),
      run('--json', '--format', 'dot'),
      run('--declared', 'studio-1'),
    ]);
    expect(rans.map(({ code }) => code)).toEqual([64, 64, 64, 64]);
    await expectGolden('graph-usage', place, rans);
    expect(resultOf(await run('--declared', '--out', 'nowhere/rack.svg'))).toMatchObject({ code: 1, stdout: '' });
  });
});
