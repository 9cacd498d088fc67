import { describe, expect, it } from 'vitest';
import { check as checkItself } from '../../../../src/drivers/mlx/mlx.ts';
import type { MlxRuntime } from '../../../../src/drivers/mlx/runtime.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement } from '../../../../src/model/desired.ts';
import { digestOf } from '../../../../src/model/digest.ts';
import type { ModelShape } from '../../../../src/model/model-shape.ts';
import { type Link, type LinkEnd, linkEndText, nodeName } from '../../../../src/model/node.ts';
import { checkedMac } from '../../../../src/rack/placement/state/seen-names.ts';
import { meshFleet, observeMesh } from '../../../rack/placements.ts';
import { evenShape } from '../../engine/plan/fit-shapes.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const check = onPage(checkItself);

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName);
const example = meshFleet({ placement: { nodes } });
const [placed] = example.placements;
const [modelled] = example.models;
if (placed === undefined || modelled === undefined) throw new Error('the fleet has no placement');
const [placedOne, modelledOne] = [placed, modelled];

const runtime: MlxRuntime = {
  driver: 'mlx',
  name: 'mlx',
  archive: '/dist/uv.tar.gz',
  extras: [],
  python: '3.12',
  packages: { mlx: '0.31.2', 'mlx-lm': '0.31.3' },
};

const heads = { hidden: 512, heads: 8, kvHeads: 4, headDim: 64, attention: { kind: 'gqa' } } as const;
const shape: ModelShape = {
  ...evenShape(6, { ...heads, count: 6, cache: 1, dims: { intermediate: 2048 } }),
  architecture: 'llama',
  maxContext: 8_192,
};

interface Change {
  readonly placement?: Partial<DesiredPlacement>;
  readonly model?: Partial<DesiredModel>;
  readonly runtime?: Partial<MlxRuntime>;
  readonly isShapeUnknown?: true;
  readonly isListUnread?: true;
  /** A node whose firewall blocks everything. */
  readonly blocked?: string;
  readonly system?: Partial<DesiredFleet['system']>;
  readonly links?: (links: readonly Link[]) => readonly Link[];
  /** The macOS version in the file. */
  readonly macos?: string;
}

function codesOf(change: Change = {}): readonly string[] {
  const placement: DesiredPlacement = { ...placedOne, transport: 'rdma', ...change.placement };
  const { thunderbolt } = example;
  const fleet: DesiredFleet = {
    ...example,
    system: { ...example.system, ...change.system },
    ...(change.macos === undefined ? {} : { macos: { version: change.macos } }),
    thunderbolt: { ...thunderbolt, links: (change.links ?? ((all) => all))(thunderbolt.links) },
  };
  const model: DesiredModel = { ...modelledOne, ...(change.isShapeUnknown ? {} : { shape }), ...change.model };
  const { packages, ...unread } = { ...runtime, ...change.runtime };
  const listed = { ...unread, ...(change.isListUnread || packages === undefined ? {} : { packages }) };
  const values = change.blocked === undefined ? {} : { [change.blocked]: { firewall: 'blocks-all' as const } };
  const observation = observeMesh(meshFleet(), { ranks: {}, values });
  const members = placement.nodes.map((node) => {
    const facts = change.blocked === undefined ? undefined : observation.nodes[node]?.facts;
    return { node, mac: checkedMac(facts) };
  });
  return check({ placement, runtime: listed, model, nodes: members, fleet }).map(
    ({ code, severity }) => `${severity} ${code}`,
  );
}

const joins = (a: string, b: string) => (link: Link) =>
  link.ends.every(({ node }) => node === nodeName(a) || node === nodeName(b));

/** Cables only between neighbors, two on each hop; the receptacle numbers of the second cables are higher by 3. */
const twoOnEachHop = (all: readonly Link[]): readonly Link[] => {
  const ring = all.filter((link) => !joins('studio-1', 'studio-3')(link) && !joins('studio-2', 'studio-4')(link));
  const further = ring.map((link, at) => ({
    ...link,
    index: ring.length + at,
    ends: [
      { ...link.ends[0], receptacle: link.ends[0].receptacle + 3 },
      { ...link.ends[1], receptacle: link.ends[1].receptacle + 3 },
    ] as const,
  }));
  return [...ring, ...further];
};

describe('an extra cable in a JACCL ring', () => {
  const { thunderbolt } = example;
  const observed = observeMesh(meshFleet(), { ranks: {} }).nodes;
  const leftOutOf = (unseen: readonly string[], { backend = 'jaccl-ring', away = '', poor = false } = {}) => {
    const links = twoOnEachHop(thunderbolt.links).slice(0, poor ? -1 : undefined);
    const members = nodes.map((node) => {
      const facts = node === away ? undefined : observed[node]?.facts;
      return { node, mac: checkedMac(facts) };
    });
    const names = {
      lan: () => undefined,
      device: (end: LinkEnd) =>
        end.node === away || unseen.includes(linkEndText(end)) ? undefined : `rdma_en${end.receptacle}`,
    };
    const placement: DesiredPlacement = { ...placedOne, transport: backend === 'ring' ? 'tcp' : 'rdma' };
    const fleet = { ...example, thunderbolt: { ...thunderbolt, links } };
    return check({ placement, runtime, model: modelledOne, nodes: members, fleet, names })
      .filter(({ code }) => code === 'mlx/cable-left-out')
      .map(({ severity, detail }) => `${severity} ${detail}`);
  };

  it('causes a notice that names its receptacle if its device was not observed', () => {
    expect(leftOutOf(['studio-2:5'])).toEqual([
      'notice The RDMA device of studio-2:5 was not observed, so a start does not use studio-1:5 <-> studio-2:5; every hop of the ring uses 1 of 2 cables.',
    ]);
    expect(leftOutOf(['studio-1:5', 'studio-2:5', 'studio-3:7']).join()).toContain(
      'studio-1:5, studio-2:5, studio-3:7 was not observed, so a start does not use studio-1:5 <-> studio-2:5, studio-3:7 <-> studio-4:7;',
    );
  });

  it('is not reported if its device was observed, a node was not, or the ring uses one cable per hop', () => {
    expect([
      leftOutOf([]),
      leftOutOf([], { away: 'studio-2' }),
      leftOutOf(['studio-2:5'], { poor: true }),
      leftOutOf(['studio-2:5'], { backend: 'ring' }),
    ]).toEqual([[], [], [], []]);
  });

  it('is not reported if a hop lacks its first cable', () => {
    expect(leftOutOf(['studio-1:2', 'studio-1:5'])).toEqual([]);
  });
});

describe('an mlx placement', () => {
  it('is accepted with four nodes in a full mesh', () => {
    expect(codesOf()).toEqual([]);
    expect(codesOf({ placement: { transport: 'tcp' } })).toEqual([]);
  });

  it.each([
    ['jaccl', 'tcp'],
    ['jaccl-ring', 'tcp'],
    ['ring', 'rdma'],
  ] as const)('cannot have the backend %s with transport %s', (backend, transport) => {
    expect(codesOf({ placement: { backend, transport } })).toEqual(['error mlx/backend-against-transport']);
  });

  it('needs a full mesh for jaccl, and only a ring if no backend is set', () => {
    const links = (all: readonly Link[]) => all.filter((link) => !joins('studio-1', 'studio-3')(link));
    expect(codesOf({ links, placement: { backend: 'jaccl' } })).toEqual(['error mlx/backend-needs-cables']);
    expect(codesOf({ links })).toEqual([]);
    const open = (all: readonly Link[]) => links(all).filter((link) => !joins('studio-1', 'studio-4')(link));
    expect(codesOf({ links: open })).toEqual(['error mlx/backend-needs-cables']);
    expect(codesOf({ links: open, placement: { transport: 'tcp' } })).toEqual(['error mlx/backend-needs-cables']);
  });

  it('produces a notice for an unused second cable, unless a ring has two cables on every hop', () => {
    const doubled = (all: readonly Link[]) => [
      ...all,
      ...all.map((link, at) => ({
        ...link,
        index: all.length + at,
        ends: [
          { ...link.ends[0], receptacle: link.ends[0].receptacle + 3 },
          { ...link.ends[1], receptacle: link.ends[1].receptacle + 3 },
        ] as const,
      })),
    ];
    expect(codesOf({ links: doubled })).toEqual(['notice mlx/cable-unused']);
    expect(codesOf({ links: doubled, placement: { transport: 'tcp' } })).toEqual(['notice mlx/cable-unused']);
    const ring = (all: readonly Link[]) =>
      doubled(all.filter((link) => !joins('studio-1', 'studio-3')(link) && !joins('studio-2', 'studio-4')(link)));
    expect(codesOf({ links: ring })).toEqual([]);
    expect(codesOf({ links: (all) => ring(all).slice(0, -1) })).toEqual(['notice mlx/cable-unused']);
  });

  it('is refused if a firewall blocks a node that others must reach', () => {
    const blocked = (node: string, transport: 'rdma' | 'tcp') => codesOf({ placement: { transport }, blocked: node });
    expect(blocked('studio-1', 'rdma')).toEqual(['error mlx/firewall-blocks']);
    expect(blocked('studio-3', 'rdma')).toEqual([]);
    expect(blocked('studio-3', 'tcp')).toEqual(['error mlx/firewall-blocks']);
    expect(codesOf({ blocked: 'studio-1', system: { firewall: 'disabled' } })).toEqual([]);
  });

  it('needs no cable on a single node', () => {
    expect(codesOf({ placement: { nodes: nodes.slice(0, 1) }, links: () => [] })).toEqual([]);
  });

  it('has at most eight ranks in a full mesh', () => {
    const codesWith = (count: number) => {
      const named = Array.from({ length: count }, (_, at) => nodeName(`studio-${at + 1}`));
      return codesOf({ placement: { nodes: named, backend: 'jaccl' }, model: {} });
    };
    expect(codesWith(9)).toContain('error mlx/too-many-ranks');
    expect(codesWith(8)).not.toContain('error mlx/too-many-ranks');
  });

  it('is refused if its mlx-lm cannot split the model or the sizes do not divide', () => {
    expect(codesOf({ model: { shape: { ...shape, architecture: 'mamba' } } })).toEqual(['error mlx/cannot-split']);
    const unsupported = { model: { shape: { ...shape, architecture: 'deepseek_v4' } } };
    expect(codesOf(unsupported)).toEqual(['error mlx/cannot-load']);
    // A fork may add the class.
    const source = { repository: 'acme/mlx-lm', commit: 'd78bf58e217c904ec282ed8da9b947491f78c022' };
    const extras = [{ name: 'requirements.lock', source: './list', lists: { name: 'mlx-lm', python: '3.12', source } }];
    expect(codesOf({ ...unsupported, runtime: { extras } })).toEqual(['warning mlx/not-known-to-split']);
    expect(codesOf({ model: { shape: { ...shape, architecture: 'brand_new' } } })).toEqual([
      'warning mlx/not-known-to-split',
    ]);
    expect(
      codesOf({ runtime: { packages: { 'mlx-lm': '0.40.0' } }, model: { shape: { ...shape, architecture: 'mamba' } } }),
    ).toEqual(['warning mlx/not-known-to-split']);
    expect(codesOf({ placement: { nodes: nodes.slice(0, 3) } })).toContain('error placement/not-divisible');
    const pipelined = { ...shape, architecture: 'ministral3' };
    expect(codesOf({ placement: { sharding: 'pipeline' }, model: { shape: pipelined } })).toEqual([
      'error mlx/lost-layers',
    ]);
  });

  it('is refused only because of its version if its mlx-lm is too old', () => {
    const old = { packages: { mlx: '0.30.6', 'mlx-lm': '0.30.7' } };
    expect(codesOf({ runtime: old })).toEqual(['error mlx/too-old']);
    expect(codesOf({ runtime: old, placement: { nodes: nodes.slice(0, 1) } })).toEqual(['error mlx/too-old']);
  });

  it('is accepted while the shape or the package list is unknown', () => {
    const odd = { ...shape, architecture: 'mamba' };
    expect(codesOf({ isShapeUnknown: true, placement: { contextTokens: 10_000 } })).toEqual([]);
    expect(codesOf({ isListUnread: true, model: { shape: odd } })).toEqual([]);
  });

  it('may not set options that the driver sets', () => {
    expect(codesOf({ placement: { env: { MLX_RANK: '1' }, args: ['--temp', '0.6', '--port=1'] } })).toEqual([
      'error placement/reserved-word',
      'error placement/reserved-word',
    ]);
  });

  it('is compared with the approved model code, file by file', () => {
    const [one, other] = [digestOf('one'), digestOf('other')];
    const files = [
      { path: 'config.json', sha256: other, sizeBytes: 1 },
      { path: 'tokenization.py', sha256: one, sizeBytes: 1 },
    ];
    const own = { ...shape, hasOwnCode: true };
    const codes = (more: Partial<DesiredModel>) => codesOf({ model: { files, shape: own, ...more } });
    expect(codes({})).toEqual(['warning mlx/own-code']);
    expect(codes({ trustedCode: { 'tokenization.py': one } })).toEqual([]);
    expect(codes({ trustedCode: { 'tokenization.py': other } })).toEqual(['error mlx/other-code']);
    expect(codes({ trustedCode: { 'tokenization.py': one, 'more.py': one } })).toEqual(['error mlx/other-code']);
    expect(codes({ trustedCode: { 'other.py': one } })).toEqual(['error mlx/other-code']);
    expect(codes({ files: files.slice(0, 1) })).toEqual([]);
  });

  it("causes warnings for a context beyond the model's limit, and for a variable that may hang the mesh", () => {
    expect(codesOf({ placement: { contextTokens: 8_192 } })).toEqual([]);
    expect(codesOf({ placement: { contextTokens: 8_193 } })).toEqual(['warning mlx/context-too-long']);
    expect(codesOf({ placement: { env: { MLX_METAL_FAST_SYNCH: '1' } } })).toEqual(['warning mlx/fast-synch']);
  });
});

onOnePage('check');
