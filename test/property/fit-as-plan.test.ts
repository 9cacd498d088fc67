import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CommandRuntime } from '../../src/drivers/command/runtime.ts';
import type { PlacementFinding } from '../../src/drivers/contract/driver.ts';
import type { ExoRuntime } from '../../src/drivers/exo/runtime.ts';
import { judgeModelFit } from '../../src/drivers/fit-command.ts';
import type { LlamaRuntime } from '../../src/drivers/llamacpp/runtime.ts';
import type { MlxRuntime } from '../../src/drivers/mlx/runtime.ts';
import type { DesiredFleet, DesiredPlacement, DriverName } from '../../src/model/desired.ts';
import { digestOf } from '../../src/model/digest.ts';
import { canRun, type ModelFit } from '../../src/model/fit.ts';
import type { ModelShape } from '../../src/model/model-shape.ts';
import { checkPlacement } from '../../src/rack/placement/check/placement-checks.ts';
import { desiredFleet, desiredNode } from '../rack/rack.ts';
import { evenShape, gib } from '../unit/engine/plan/fit-shapes.ts';

const from = { archive: '/archives/one.tar.gz', extras: [], name: 'one' };

function runtimeOf(driver: DriverName, mlxLm: string): MlxRuntime | ExoRuntime | LlamaRuntime | CommandRuntime {
  switch (driver) {
    case 'mlx':
      return { ...from, driver, python: '3.12', packages: { 'mlx-lm': mlxLm } };
    case 'exo':
      return { ...from, driver, version: '1.0.71', dialect: '1.0.71', program: 'exo' };
    case 'llamacpp-rpc':
      return { ...from, driver, server: 'llama-server', worker: 'ggml-rpc-server', cache: 'none' };
    case 'command':
      return {
        ...from,
        driver,
        command: ['{runtime}/bin/rank'],
        order: 'leader-first',
        restart: 'group',
        joinedListening: '{port}',
        token: { path: '/', json: '' },
      };
  }
}

interface Case {
  readonly driver: DriverName;
  readonly mlxLm: string;
  readonly sharding: 'tensor' | 'pipeline';
  readonly sizes: readonly number[];
  readonly shape: ModelShape;
  readonly otherBytes: number;
  readonly contextTokens: number;
  readonly parallel: number;
}

const sizes = fc.array(fc.constantFrom(64, 256, 512, 512, 512), { minLength: 1, maxLength: 5 });

/** Shapes of a model that needs this percentage of all nodes' memory. */
const shapes = fc.record({
  part: fc.integer({ min: 5, max: 110 }),
  count: fc.constantFrom(1, 30, 60, 61),
  cache: fc.constantFrom(0, 0, 100_000),
  heads: fc.constantFrom(8, 12, 64),
  architecture: fc.constantFrom('llama', 'deepseek_v3', 'qwen3_5', 'minimax', 'mamba'),
  quant: fc.constantFrom({}, { quant: { bits: 4, group: 64 } }),
});

const cases: fc.Arbitrary<Case> = fc
  .record({
    driver: fc.constantFrom<DriverName>('mlx', 'exo', 'llamacpp-rpc', 'command'),
    mlxLm: fc.constantFrom('0.30.7', '0.31.0', '0.31.3', '0.32.0', '0.99.0'),
    sharding: fc.constantFrom('tensor' as const, 'pipeline' as const),
    sizes,
    model: shapes,
    otherBytes: fc.constantFrom(0, 0, 50e9, 400e9),
    contextTokens: fc.constantFrom(2_048, 131_072),
    parallel: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ model: { part, heads, quant, ...model }, ...one }) => {
    const bytes = (part / 100) * gib * one.sizes.reduce((sum, size) => sum + size, 0);
    const gqa = { kvHeads: heads / 4, attention: { kind: 'gqa' as const }, dims: { intermediate: 1_536 } };
    return { ...one, shape: evenShape(bytes, { ...model, ...quant, heads, ...gqa }) };
  });

/** The same request as a file: one placement, and optionally a second one on the first node. */
function fleetFor({ driver, mlxLm, sharding, sizes, shape, otherBytes, contextTokens, parallel }: Case): DesiredFleet {
  const base = desiredFleet();
  const nodes = sizes.map((size, index) => desiredNode(`mac-${index + 1}`, { memoryBytes: size * gib }));
  const names = nodes.map(({ name }) => name);
  const model = (name: string, its: ModelShape) => ({
    name,
    source: { kind: 'controller' as const, folder: `/models/${name}` },
    files: [],
    digest: digestOf(name),
    shape: its,
  });
  const placement = (name: string, on: typeof names): DesiredPlacement => ({
    name,
    model: name,
    runtime: 'one',
    nodes: on,
    ...(on.length === 1 ? {} : { sharding }),
    transport: 'tcp',
    contextTokens,
    parallel,
    env: {},
    args: [],
    endpointPort: 8_080,
    firstTokenMs: 30_000,
    state: 'serving',
  });
  return {
    ...base,
    nodes,
    system: { fileVault: 'any', accounts: {} },
    runtimes: [runtimeOf(driver, mlxLm)],
    models: [model('asked', shape), model('other', evenShape(otherBytes))],
    placements: [placement('asked', names), ...(otherBytes === 0 ? [] : [placement('other', names.slice(0, 1))])],
  };
}

const fitFor = ({ driver, mlxLm, sharding, shape, contextTokens, parallel }: Case, fleet: DesiredFleet): ModelFit =>
  judgeModelFit(
    {
      name: 'asked',
      shape,
      macs: fleet.nodes,
      fleet: {
        ...fleet,
        models: fleet.models.filter(({ name }) => name === 'other'),
        placements: fleet.placements.filter(({ name }) => name === 'other'),
      },
      links: fleet.thunderbolt.links,
    },
    { driver, mlxLm, sharding, contextTokens, parallel },
  );

const memoryCodes = ['placement/does-not-fit', 'placement/tight', 'placement/degraded', 'placement/near-degraded'];
const splitCodes = [
  'mlx/too-old',
  'mlx/cannot-split',
  'mlx/lost-layers',
  'placement/not-divisible',
  'llama/not-by-tensor',
];

const codesAmong = (findings: readonly PlacementFinding[], codes: readonly string[]): readonly string[] =>
  findings.flatMap(({ code }) => (codes.includes(code) ? [code] : []));

describe("fit's verdict on a model", () => {
  it('matches the verdict of a plan for the same nodes and context', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(cases, (one) => {
        const fleet = fleetFor(one);
        const [placement] = fleet.placements;
        if (placement === undefined) throw new Error('no placement');
        const plan = checkPlacement(placement, fleet);
        const fit = fitFor(one, fleet);
        const memory = codesAmong(plan, memoryCodes);
        expect(memory).toEqual(fit.verdict === 'fits' ? [] : [`placement/${fit.verdict}`]);
        const split = codesAmong(plan, splitCodes);
        expect(split.length > 0).toBe(fit.problems.length > 0);
        expect(codesAmong(plan, ['mlx/not-known-to-split']).length > 0).toBe(fit.doubts.length > 0);
        const isRefused = plan.some(
          ({ code, severity }) => severity === 'error' && [...memoryCodes, ...splitCodes].includes(code),
        );
        expect(canRun(fit)).toBe(!isRefused);
        for (const code of [...memory, ...split, `doubts ${fit.doubts.length}`]) seen.add(code);
      }),
      { numRuns: 300, seed: 11 },
    );
    // Every verdict occurred.
    expect([...memoryCodes, ...splitCodes, 'doubts 1'].filter((code) => !seen.has(code))).toEqual([]);
  });
});
