import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { knownPairs } from '../../../src/drivers/known/tables.generated.ts';
import {
  brokenPairs,
  pairDiagnostic,
  pairsOf,
  unknownPairs,
  versionPointer,
} from '../../../src/drivers/known-pairs.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';
import type { DesiredFleet } from '../../../src/model/desired.ts';

interface Combination {
  readonly macos?: string;
  readonly exo?: string;
  readonly llama?: string;
  /** The packages of an mlx runtime. */
  readonly packages?: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly nodes?: 1 | 2;
  readonly transport?: 'rdma' | 'tcp';
  readonly sharding?: 'tensor' | 'pipeline';
}

function runtimeText({ exo, llama }: Combination): string {
  if (exo !== undefined) return `{ driver: exo, version: "${exo}" }`;
  return llama === undefined ? '{ driver: mlx, version: "0.32.0" }' : `{ driver: llamacpp-rpc, version: ${llama} }`;
}

const textOf = (one: Combination): string => `schema: 1
name: rack
${one.macos === undefined ? '' : `macos: { version: "${one.macos}" }\n`}nodes:
  a: { host: a.lan, hardware: { model: "${one.model ?? 'Mac15,14'}", memory: 256GB } }
  b: { host: b.lan, hardware: { model: "${one.model ?? 'Mac15,14'}", memory: 256GB } }
thunderbolt:
  addressing: { pool: 10.77.0.0/24 }
  links:
    - a:2 <-> b:2
runtimes:
  run: ${runtimeText(one)}
models:
  m: { source: "hf:mlx-community/Qwen3.5-397B-A17B-8bit" }
placements:
  chat:
    model: m
    runtime: run
    nodes: [${one.nodes === 1 ? 'a' : 'a, b'}]
    sharding: ${one.sharding ?? (one.llama === undefined ? 'tensor' : 'pipeline')}
    transport: ${one.nodes === 1 ? 'tcp' : (one.transport ?? 'rdma')}
    context: 8k
`;

/** The fleet of a file. Package versions are read from lists, which the files here do not have. */
function fleetOf(text: string, file: string, packages?: Readonly<Record<string, string>>): DesiredFleet {
  const { fleet, diagnostics } = loadCluster(text, file);
  if (fleet === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 1));
  if (packages === undefined) return fleet;
  return { ...fleet, runtimes: fleet.runtimes.map((one) => (one.driver === 'mlx' ? { ...one, packages } : one)) };
}

const sourcesOf = (one: Combination): readonly string[] =>
  brokenPairs(fleetOf(textOf(one), 'cluster.yaml', one.packages)).map(({ pair }) => pair.source);

const github = 'https://github.com/';

type Report = readonly [source: string, words: string, broken: Combination, works: Combination];

/** The versions in each report, as it writes them, and the versions that it says work. */
const reports: readonly Report[] = [
  [
    'ml-explore/mlx/issues/4211',
    'A macOS 27 upgrade must be paired with mlx 0.32.1+; pin 0.32.0',
    { macos: '27.0', packages: { mlx: '0.32.0' } },
    { macos: '27.0', packages: { mlx: '0.32.1' } },
  ],
  [
    'ml-explore/mlx/issues/4525',
    'mlx-metal 0.32.2 on macOS 26.0 and 26.1, on M5-class GPUs',
    { macos: '26.1', packages: { mlx: '0.32.2' }, model: 'Mac17,2', nodes: 1 },
    { macos: '26.2', packages: { mlx: '0.32.2' }, model: 'Mac17,2', nodes: 1 },
  ],
  [
    'ml-explore/mlx/issues/3727',
    'mlx==0.31.2 mlx-lm==0.31.2; 0.31.1 works',
    { packages: { mlx: '0.31.2', 'mlx-lm': '0.31.2' } },
    { packages: { mlx: '0.31.1', 'mlx-lm': '0.31.2' } },
  ],
  [
    'Blaizzy/mlx-vlm/issues/1085',
    'mx.version=0.26.3, with the mlx-lm that calls new_thread_local_stream',
    { packages: { mlx: '0.26.3', 'mlx-lm': '0.31.3' } },
    { packages: { mlx: '0.31.2', 'mlx-lm': '0.31.3' } },
  ],
  [
    'ml-explore/mlx-lm/pull/1753',
    "Update to MLX 0.32.1, and bump mlx-lm's version to 0.32.0",
    { packages: { mlx: '0.32.0', 'mlx-lm': '0.32.0' } },
    { packages: { mlx: '0.32.1', 'mlx-lm': '0.32.0' } },
  ],
  [
    'ml-explore/mlx-lm/issues/1458',
    'transformers==5.13.0 with mlx-lm 0.31.3',
    { packages: { mlx: '0.31.2', 'mlx-lm': '0.31.3', transformers: '5.13.0' } },
    { packages: { mlx: '0.31.2', 'mlx-lm': '0.31.3', transformers: '5.14.0' } },
  ],
  [
    'ml-explore/mlx-lm/issues/1737',
    'mlx==0.32.0, mlx-lm==0.31.3, two hosts',
    { packages: { mlx: '0.32.0', 'mlx-lm': '0.31.3' } },
    { packages: { mlx: '0.32.0', 'mlx-lm': '0.31.3' }, nodes: 1 },
  ],
  [
    'exo-explore/exo/issues/1694',
    'macOS 26.3.1, exo v1.0.68',
    { macos: '26.3.1', exo: '1.0.68' },
    { macos: '26.3.1', exo: '1.0.71' },
  ],
  [
    'exo-explore/exo/issues/1912',
    'macOS 15.7.6 with the release of April 2026; requires 26.2 or later',
    { macos: '15.7.6', exo: '1.0.70' },
    { macos: '26.2', exo: '1.0.70' },
  ],
  [
    'exo-explore/exo/issues/1137',
    'macOS 26.2 and the exo 1.0.6.0 app; MLX Ring works',
    { macos: '26.2', exo: '1.0.60' },
    { macos: '26.2', exo: '1.0.60', transport: 'tcp' },
  ],
  [
    'exo-explore/exo/issues/2173',
    'macOS 26.5.1 (25F80), exo b5375f8c, pipeline and JACCL',
    { macos: '26.5.1', exo: '1.0.72', sharding: 'pipeline' },
    { macos: '26.5.1', exo: '1.0.72', sharding: 'pipeline', transport: 'tcp' },
  ],
  [
    'ggml-org/llama.cpp/issues/26370',
    'version 10141, macOS 15; the last known working version is 10107',
    { macos: '15.7', llama: 'b10141' },
    { macos: '15.7', llama: 'b10107' },
  ],
  [
    'ggml-org/llama.cpp/pull/27815',
    'macOS 15.7.7: b10639 links /usr/lib/librdma.dylib; b10472 is fine',
    { macos: '15.7.7', llama: 'b10639', transport: 'tcp' },
    { macos: '15.7.7', llama: 'b10472', transport: 'tcp' },
  ],
  [
    'withcatai/node-llama-cpp/issues/644',
    'Apple M5 Pro, macOS 26.5.2, b10361; b10830 works',
    { macos: '26.5.2', llama: 'b10361', model: 'Mac17,9' },
    { macos: '26.5.2', llama: 'b10830', model: 'Mac17,9' },
  ],
];

describe('a known pair', () => {
  it.each<Report>(reports)('of %s is found in a file with its versions: %s', (source, _words, broken) => {
    expect(sourcesOf(broken)).toEqual([`${github}${source}`]);
  });

  it.each<Report>(reports)(
    'of %s is not found in what the report says works: %s',
    (_source, _words, _broken, works) => {
      expect(sourcesOf(works)).toEqual([]);
    },
  );

  it('has a report with its versions here', () => {
    expect(reports.map(([source]) => `${github}${source}`).toSorted()).toEqual(
      knownPairs.map(({ source }) => source).toSorted(),
    );
  });

  it('is reported once for all placements, with what works and the key that sets the version', () => {
    const fleet = fleetOf(textOf({ macos: '26.3.1', exo: '1.0.68' }), 'cluster.yaml');
    const twice = { ...fleet, placements: fleet.placements.flatMap((one) => [one, { ...one, name: 'again' }]) };
    const [found, ...others] = brokenPairs(twice);
    if (found === undefined) throw new Error('none was found');
    expect(others).toEqual([]);
    expect(versionPointer(found.runtime)).toBe('/runtimes/run/version');
    expect(pairDiagnostic(found)).toMatchObject({
      code: 'version/known-pair',
      severity: 'warning',
      detail:
        'chat and again combine macOS 26.3.1 and exo 1.0.68. The warm-up fails with "Unable to build metal library from source". Report: https://github.com/exo-explore/exo/issues/1694',
      hint: 'Use exo 1.0.71.',
    });
  });

  it('points to the key that sets the packages', () => {
    const [runtime] = fleetOf(textOf({ packages: {} }), 'cluster.yaml', {}).runtimes;
    const [list] = runtime?.extras ?? [];
    if (runtime === undefined || list?.lists === undefined) throw new Error('the runtime has no list');
    const pointerWith = (one: Partial<typeof list>) => versionPointer({ ...runtime, extras: [{ ...list, ...one }] });
    const source = { repository: 'acme/mlx-lm', commit: 'c'.repeat(40) };
    expect([pointerWith({}), pointerWith({ lists: { ...list.lists, source } })]).toEqual([
      '/runtimes/run/version',
      '/runtimes/run/source',
    ]);
    const { lists: _, ...written } = list;
    expect(versionPointer({ ...runtime, extras: [written] })).toBe('/runtimes/run/requirements');
  });

  it('says how to change a package, and what to do if no report names a version that works', () => {
    const hintOf = (one: Combination) =>
      brokenPairs(fleetOf(textOf(one), 'cluster.yaml', one.packages)).map((pair) => pairDiagnostic(pair).hint);
    expect(hintOf({ packages: { mlx: '0.31.2', 'mlx-lm': '0.31.2' } })).toEqual([
      'Use mlx-lm 0.31.3. To change a package: with `version`, delete the list of packages next to the cluster file and run apply; with `requirements`, compile the list again.',
    ]);
    expect(hintOf({ macos: '26.5.1', exo: '1.0.72', sharding: 'pipeline' })).toEqual([
      'The report names no version that works. Keep the versions that serve now, and try others with one placement first.',
    ]);
  });
});

describe('combinations that no known pair describes', () => {
  it('are called unknown, and need a version of macOS and of the runtime', () => {
    const unknownOf = (one: Combination) => unknownPairs(fleetOf(textOf(one), 'cluster.yaml', one.packages));
    expect(unknownOf({ macos: '26.5', packages: { mlx: '0.32.2', 'mlx-lm': '0.32.0', numpy: '2.3.4' } })).toEqual([
      'macOS 26.5 with mlx 0.32.2 and mlx-lm 0.32.0',
    ]);
    expect(unknownOf({ macos: '27.0', packages: { mlx: '0.32.0' } })).toEqual([]);
    expect([unknownOf({ exo: '1.0.71' }), unknownOf({ macos: '26.5', llama: 'v0.5.0' })]).toEqual([[], []]);
  });
});

/** The releases of mlx that a list of these versions of mlx-lm may contain. */
const listed = ['0.32.1', '0.32.2', '0.32.4'].map((mlx) => ({ mlx, 'mlx-lm': '0.32.0', transformers: '5.24.0' }));

describe('what serves somewhere', () => {
  const files = [
    ...readdirSync('examples').flatMap((name) => (name.endsWith('.yaml') ? `examples/${name}` : [])),
    'cluster.example.yaml',
    'docs/cluster.full.yaml',
  ];

  it.each(files)('is not warned about: %s', (file) => {
    const text = readFileSync(file, 'utf8');
    // The example names macOS 27.0 in a comment.
    const texts = [text, text.replace('version: "26.5"', 'version: "27.0"')];
    const found = texts.flatMap((one) =>
      listed.flatMap((packages) => brokenPairs(fleetOf(one, file, packages)).map(({ pair }) => pair.source)),
    );
    expect(found).toEqual([]);
  });

  const pages = readdirSync('docs').filter((name) => name.endsWith('.md') && !name.startsWith('known-pairs'));
  const inPages = (pattern: RegExp): readonly string[] => [
    ...new Set(
      [...pages.map((name) => `docs/${name}`), 'README.md', ...files].flatMap((page) =>
        [...readFileSync(page, 'utf8').matchAll(pattern)].flatMap(([, version]) => version ?? []),
      ),
    ),
  ];

  it('is not warned about in any combination of the versions in the docs and the examples', () => {
    const macs = inPages(/macos: \{[^}]*version: "([\d.]+)"/g);
    const exos = inPages(/driver: exo, version: "([\d.]+)"/g);
    const llamas = inPages(/driver: llamacpp-rpc, version: (b\d+)/g);
    expect([macs.length, exos.length, llamas.length].every((count) => count > 0)).toBe(true);
    const combinations = macs.flatMap((macos) => [
      ...exos.map((exo) => ({ macos, exo })),
      ...llamas.map((llama) => ({ macos, llama })),
      ...listed.map((packages) => ({ macos, packages })),
    ]);
    expect(combinations.flatMap(sourcesOf)).toEqual([]);
  });

  it.each<readonly [report: string, served: Combination]>([
    ['exo issue 2070: slow, but it serves', { macos: '26.5', exo: '1.0.71', model: 'Mac17,7' }],
    ['exo issue 2208: short prompts on three M3 Ultra, exo fd707de3', { macos: '26.5', exo: '1.0.71' }],
    [
      'mlx-lm over JACCL on M4 Pro minis, mlx pull request 4191',
      { macos: '26.5.1', packages: { mlx: '0.32.1' }, model: 'Mac16,11' },
    ],
    ['two M3 Ultra, avlp12/two-macstudio-m3u', { macos: '26.6', packages: { mlx: '0.32.0' } }],
    [
      'nix-ai pull request 1119',
      { macos: '26.5', packages: { mlx: '0.31.2', 'mlx-lm': '0.31.3', transformers: '5.12.0' } },
    ],
    ['nix-ai pull request 756', { macos: '26.4', packages: { mlx: '0.31.1', 'mlx-lm': '0.31.2' } }],
    [
      'TensorFold on M5 Ultra with macOS 27.0, mlx 0.32.2',
      { macos: '27.0', packages: { mlx: '0.32.2' }, model: 'Mac17,15' },
    ],
    ['llama.cpp over RDMA since b10628', { macos: '26.5', llama: 'b10628' }],
    ['llama.cpp b10950 on macOS 27.0.1', { macos: '27.0.1', llama: 'b10950', model: 'Mac17,15' }],
    [
      'two M4 Max with llama.cpp b10442 and without a drafter, issue 27801',
      { macos: '26.0', llama: 'b10442', model: 'Mac16,9' },
    ],
    [
      'the packages of the tests',
      { macos: '27.0', packages: { mlx: '0.32.4', 'mlx-lm': '0.32.2', transformers: '5.24.0' } },
    ],
  ])('is not warned about: %s', (_report, served) => {
    expect(sourcesOf(served)).toEqual([]);
  });
});

describe('the known pairs of an update', () => {
  it('are those of the placements that start again on the new macOS', () => {
    const fleet = fleetOf(textOf({ macos: '26.3.1', exo: '1.0.68' }), 'cluster.yaml');
    expect(pairsOf(fleet, ['chat']).map(({ code }) => code)).toEqual(['version/known-pair']);
    expect(pairsOf(fleet, ['code'])).toEqual([]);
  });
});
