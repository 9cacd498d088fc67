import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { command } from '../../../../src/drivers/command/command.ts';
import { type CommandRuntime, keys } from '../../../../src/drivers/command/runtime.ts';
import { configurePlacement } from '../../../../src/drivers/configure-placement.ts';
import type { SeenNames } from '../../../../src/drivers/contract/driver.ts';
import type { DesiredPlacement } from '../../../../src/model/desired.ts';
import { digestOf } from '../../../../src/model/digest.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { asLogin, type MeshChanges, meshFleet } from '../../../rack/placements.ts';

const seen: SeenNames = {
  device: ({ node, receptacle }) => `rdma_${node.at(-1)}x${receptacle}`,
  lan: (node) => `192.0.2.${node.at(-1)}`,
};

const on = (...numbers: readonly number[]) => numbers.map((number) => nodeName(`studio-${number}`));

/** The ranks of `kimi` as text. */
function ranksOf(changes: MeshChanges, names: SeenNames = seen) {
  const fleet = asLogin(meshFleet(changes));
  const [placement] = fleet.placements;
  const made = placement === undefined ? undefined : configurePlacement(placement, fleet, 5, names);
  if (made?.kind !== 'configured') throw new Error(made?.missing);
  return made.ranks.map(({ service, files, record }) => {
    const text = service.map((part) => (typeof part === 'string' ? part : 'path' in part ? part.path : '')).join('');
    const [, words = ''] = /<array>(.*)<\/array>/s.exec(text) ?? [];
    const [, variables = ''] = /EnvironmentVariables<\/key>\s*<dict>(.*?)<\/dict>/s.exec(text) ?? [];
    return {
      argv: [...words.matchAll(/<string>(.*)<\/string>/g)].map(([, word]) => word),
      env: Object.fromEntries(
        [...variables.matchAll(/<key>(.*)<\/key>\s*<string>(.*)<\/string>/g)].map(([, name, value]) => [name, value]),
      ),
      files,
      record,
    };
  });
}

const fileText = (rank: ReturnType<typeof ranksOf>[number] | undefined, name: string): string => {
  const file = rank?.files.find((one) => one.name === name);
  return file?.kind === 'file' ? file.content.join('') : '';
};

const roles: MeshChanges['runtime'] = {
  command: ['{runtime}/serve', '--listen={leader}:{port}', '--device={devices}'],
  follower: ['{runtime}/work', '--of={leader}:{port}', '--device={devices}'],
};
const overRdma: MeshChanges['placement'] = { transport: 'rdma' };
const folder = '/Library/Application Support/meshwright/placements/kimi/files';

describe('the roles of a command runtime', () => {
  it("have their own command lines, with the leader's address and the devices of each rank", () => {
    const [leader, second, third] = ranksOf({ runtime: roles, placement: overRdma });
    const port = leader?.record.port;
    expect(leader?.argv.slice(1)).toEqual([`--listen=10.77.0.1:${port}`, '--device=rdma_1x2,rdma_1x3']);
    expect(second?.argv.slice(1)).toEqual([`--of=10.77.0.1:${port}`, '--device=rdma_2x2,rdma_2x3']);
    expect(third?.argv.slice(1)).toEqual([`--of=10.77.0.5:${port}`, '--device=rdma_3x2,rdma_3x3']);
    expect([leader, second, third].map((rank) => rank?.argv[0]?.split('/').at(-1))).toEqual(['serve', 'work', 'work']);
  });

  it('use one device for a pair and no follower for a single rank', () => {
    const runtime = { command: ['{runtime}/serve', '{leader}'], follower: ['{runtime}/work', '{device}'] };
    const pair = ranksOf({ runtime, placement: { ...overRdma, nodes: on(2, 3) } });
    expect(pair.map(({ argv }) => argv[1])).toEqual(['10.77.0.13', 'rdma_3x3']);
    const alone = ranksOf({ runtime: { command: ['{runtime}/serve', '{leader}'] }, placement: { nodes: on(3) } });
    expect(alone.map(({ argv }) => argv[1])).toEqual(['127.0.0.1']);
  });

  it('reach a leader over the office network if no cable leads to it', () => {
    const placement: Partial<DesiredPlacement> = { nodes: on(1, 2, 3, 4), sharding: 'pipeline' };
    const runtime = { command: ['{runtime}/serve', '{leader}'] };
    const fleet = asLogin(meshFleet({ runtime, placement }));
    const links = fleet.thunderbolt.links.filter(({ ends: [a, b] }) => `${a.node} ${b.node}` !== 'studio-1 studio-3');
    const cut = { ...fleet, thunderbolt: { ...fleet.thunderbolt, links } };
    const [kimi] = cut.placements;
    if (kimi === undefined) throw new Error('the fleet has no placement');
    const made = configurePlacement(kimi, cut, 5, seen);
    expect(
      made.kind === 'configured' && made.ranks.map(({ service }) => /192\.0\.2\.1</.test(service.join(''))),
    ).toEqual([false, false, true, false]);
    const blind = configurePlacement(kimi, cut, 5, { ...seen, lan: () => undefined });
    expect(blind).toMatchObject({ kind: 'incomplete', missing: expect.stringContaining('office network address') });
  });

  it('include a rank that reads prompts, whose address every rank knows', () => {
    const runtime = {
      command: ['{runtime}/serve', '--prefill={prefill}:{port}'],
      roles: { prefill: ['{runtime}/read', '--listen={prefill}:{port}', '--for={leader}'] },
    };
    const placement = { nodes: on(1, 2, 3), roles: { prefill: nodeName('studio-3') } };
    const [leader, second, reader] = ranksOf({ runtime, placement });
    const port = leader?.record.port;
    expect(leader?.argv[1]).toBe(`--prefill=10.77.0.6:${port}`);
    expect(second?.argv[1]).toBe(`--prefill=10.77.0.14:${port}`);
    expect(reader?.argv.slice(1)).toEqual([`--listen=10.77.0.6:${port}`, '--for=10.77.0.5']);
    expect([leader, second, reader].map((rank) => rank?.argv[0]?.split('/').at(-1))).toEqual([
      'serve',
      'serve',
      'read',
    ]);
    const own = runtime as Partial<CommandRuntime> as CommandRuntime;
    expect([command.programs?.(own, []), command.programKey?.(own, 'read')]).toEqual([
      ['serve', 'read'],
      'roles/prefill',
    ]);
  });

  it('need the names of RDMA devices only if a field or a variable uses them', () => {
    const needs = (runtime: Partial<CommandRuntime>, placement: Partial<DesiredPlacement> = {}) => {
      const fleet = meshFleet({ runtime, placement: { ...overRdma, ...placement } });
      const [kimi] = fleet.placements;
      const [own] = fleet.runtimes;
      return kimi && own?.driver === 'command' ? command.needs?.(kimi, own as CommandRuntime) : undefined;
    };
    expect(needs({})).toEqual([]);
    expect(needs({ env: { DEVICES: '{devices}' } })).toEqual(['devices']);
    expect(needs({}, { env: { HOSTS: '{hostfile}' } })).toEqual(['devices', 'lan']);
    expect(needs({ variables: 'mlx' }, { nodes: on(1, 2) })).toEqual(['devices']);
    expect(needs({ variables: 'mlx' }, { transport: 'tcp' })).toEqual([]);
    const far = (count: number, sharding: 'tensor' | 'pipeline', command = ['{runtime}/serve', '{prefill}']) =>
      needs({ command }, { nodes: on(1, 2, 3, 4).slice(0, count), sharding });
    expect([far(4, 'pipeline'), far(3, 'pipeline'), far(4, 'tensor')]).toEqual([['lan'], [], []]);
    expect(far(4, 'pipeline', ['{runtime}/serve', '{device}'])).toEqual(['devices']);
  });
});

describe('the environment of a command runtime', () => {
  it("has its fields filled in, and the placement's value if both set a variable", () => {
    const runtime = { env: { HOST: '127.0.0.1:{endpoint}', LEVEL: 'info', STATE: '{data}/{name}' } };
    const [leader] = ranksOf({ runtime, placement: { env: { LEVEL: 'rank {rank}', BRACES: '{"a": {}}' } } });
    expect(leader?.env).toEqual({
      HOST: '127.0.0.1:8080',
      LEVEL: 'rank 0',
      STATE: `${folder}/data/kimi`,
      BRACES: '{"a": {}}',
    });
    expect(leader?.files).toEqual([{ kind: 'folder', name: 'data', keeps: true }]);
  });

  it("has MLX's variables for RDMA, and their files", () => {
    const [, second] = ranksOf({ runtime: { variables: 'mlx' }, placement: { ...overRdma, nodes: on(1, 2) } });
    expect(second?.env).toEqual({
      MLX_RANK: '1',
      MLX_IBV_DEVICES: `${folder}/devices.json`,
      MLX_JACCL_COORDINATOR: `10.77.0.1:${second?.record.port}`,
    });
    expect(JSON.parse(fileText(second, 'devices.json'))).toEqual([
      [null, 'rdma_1x2'],
      ['rdma_2x2', null],
    ]);
  });

  it("has MLX's hostfile for TCP, and no variables for a single rank", () => {
    const [, , third] = ranksOf({ runtime: { variables: 'mlx' } });
    expect(third?.env).toEqual({ MLX_RANK: '2', MLX_HOSTFILE: `${folder}/hosts.json` });
    expect(ranksOf({ runtime: { variables: 'mlx' }, placement: { nodes: on(1) } })[0]?.env).toEqual({});
  });

  it('cannot set a variable that `variables: mlx` sets', () => {
    const fleet = meshFleet({ runtime: { variables: 'mlx' }, placement: { env: { MLX_RANK: '7' } } });
    const [placement] = fleet.placements;
    const [runtime] = fleet.runtimes;
    const [model] = fleet.models;
    if (!placement || !runtime || !model) throw new Error('the fleet is incomplete');
    const found = command.check?.({ placement, runtime: runtime as CommandRuntime, model, nodes: [], fleet }) ?? [];
    expect(found).toMatchObject([{ code: 'placement/reserved-word', detail: 'The driver sets MLX_RANK itself.' }]);
    expect(plainText(found[0]?.hint ?? '')).toContain(
      '`variables: mlx` sets it from the cables and nodes of each start.',
    );
    const codes = (count: number, more: Partial<DesiredPlacement> = {}) => {
      const nodes = Array.from({ length: count }, (_, at) => nodeName(`mac-${at}`));
      const mesh = { ...placement, ...overRdma, sharding: 'tensor' as const, env: {}, nodes, ...more };
      const checked = { placement: mesh, runtime: runtime as CommandRuntime, model, nodes: [], fleet };
      return command.check?.(checked).map(({ code, detail }) => `${code}: ${detail}`);
    };
    expect([codes(8), codes(9, { sharding: 'pipeline' }), codes(9, { transport: 'tcp' })]).toEqual([[], [], []]);
    expect(codes(9)).toEqual(['mlx/too-many-ranks: kimi has 9 nodes; a JACCL full mesh has at most 8.']);
  });
});

describe('the hostfile of a command runtime', () => {
  const runtime = { command: ['{runtime}/serve', '{hostfile}'] };

  it("lists every rank in MLX's form, with devices over RDMA", () => {
    const [leader, second] = ranksOf({ runtime, placement: { ...overRdma, nodes: on(1, 2) } });
    expect(leader?.argv[1]).toBe(`${folder}/hostfile.json`);
    expect(fileText(leader, 'hostfile.json')).toBe(fileText(second, 'hostfile.json'));
    expect(JSON.parse(fileText(leader, 'hostfile.json'))).toEqual({
      backend: 'jaccl',
      envs: [],
      hosts: [
        { ssh: 'studio-1.lan', ips: ['10.77.0.1'], rdma: [null, 'rdma_1x2'] },
        { ssh: 'studio-2.lan', ips: ['10.77.0.2'], rdma: ['rdma_2x2', null] },
      ],
    });
  });

  it('has addresses on the cables over TCP', () => {
    const [leader] = ranksOf({ runtime, placement: { nodes: on(1, 2) } });
    expect(JSON.parse(fileText(leader, 'hostfile.json'))).toMatchObject({
      backend: 'ring',
      hosts: [{ ips: ['10.77.0.1'] }, { ips: ['10.77.0.2'] }],
    });
  });
});

describe('the preparation of a command runtime', () => {
  const prepare = ['{runtime}/convert', '--from={model}', '{data}/out', '{context}'];
  const prepared = (changes: MeshChanges, generation = 5) => {
    const fleet = asLogin(meshFleet(changes));
    const [placement] = fleet.placements;
    const made = placement && configurePlacement(placement, fleet, generation, seen);
    return made?.kind === 'configured' ? made.ranks.map((rank) => rank.prepare) : [];
  };
  const keysOf = (changes: MeshChanges, generation?: number) =>
    prepared(changes, generation).map((one) => one?.key ?? '');

  it("runs with its own arguments and the ranks' environment, in a folder that only its version uses", () => {
    const runtime = { prepare, env: { STATE: '{data}', PORT: '{port}' } };
    const [first] = prepared({ runtime });
    const name = `data-${first?.key.slice(0, 16)}`;
    expect(first).toMatchObject({ placement: 'kimi', name, account: '' });
    const paths = (first?.argv ?? []).map((word) => word.map((part) => (typeof part === 'string' ? part : part.path)));
    expect(paths.map((parts) => parts.join('').replace(/[0-9a-f]{16}/, 'DIGEST'))).toEqual([
      '/opt/meshwright/runtimes/reference/DIGEST/convert',
      '--from=/opt/meshwright/models/tiny/DIGEST',
      `${folder}/data-DIGEST/out`,
      '4096',
    ]);
    const [leader] = ranksOf({ runtime });
    expect(leader?.env['STATE']).toBe(`${folder}/${name}`);
    expect(leader?.files).toEqual([{ kind: 'prepared', name }]);
  });

  it('has the same key at every start, but a different key if the arguments, files or nodes differ', () => {
    const runtime = { prepare };
    const keys = keysOf({ runtime });
    expect(new Set(keys).size).toBe(3);
    expect(keysOf({ runtime }, 9)).toEqual(keys);
    const onPort = { runtime: { ...runtime, env: { PORT: '{port}' } } };
    expect(keysOf(onPort, 1)).toEqual(keysOf(onPort, 2));
    const others = [
      keysOf({ runtime: { prepare: [...prepare, 'x'] } }),
      keysOf({ runtime, placement: { contextTokens: 1_024 } }),
      keysOf({ runtime, placement: { env: { LEVEL: 'info' } } }),
      keysOf({ runtime: { ...runtime, digest: digestOf('newer') } }),
    ];
    expect(others.map((other) => other.some((one) => keys.includes(one)))).toEqual([false, false, false, false]);
    expect(keysOf({ runtime: { ...runtime, command: ['{runtime}/other'] } })).toEqual(keys);
  });
});

describe('a command runtime with Python packages', () => {
  const spec = { driver: 'command' as const, archive: './uv.tar.gz', command: ['{runtime}/venv/bin/serve'] };

  it('is built on each node, so that its program is not in the archive', () => {
    const built = keys.resolve({ ...spec, python: '3.12', requirements: './r.lock', wheels: './wheels' });
    expect(built).toMatchObject({
      python: '3.12',
      wheels: './wheels',
      extras: [{ name: 'requirements.lock', source: './r.lock' }],
    });
    const programs = (resolved: object) => command.programs?.(resolved as CommandRuntime, []);
    expect([programs(built), programs(keys.resolve(spec))]).toEqual([[], ['venv/bin/serve']]);
    expect(keys.ofVersion(JSON.parse(JSON.stringify(built)))).toMatchObject({ python: '3.12' });
  });
});

describe('the start of a command runtime', () => {
  it('starts followers once the leader listens; a single rank starts without followers', () => {
    const runtime: Partial<CommandRuntime> = {
      meeting: '{port}',
      joinedListening: '{endpoint}',
      followersJoin: 'running',
    };
    const ranks = ranksOf({ runtime });
    const { port } = ranksOf({})[0]?.record ?? { port: 0 };
    expect(ranks.map(({ record }) => [record.meetPort, record.port])).toEqual([
      [port, 8_080],
      [0, 0],
      [0, 0],
    ]);
    const fleet = meshFleet({ runtime });
    const [own] = fleet.runtimes;
    const wavesOn = (nodes: DesiredPlacement['nodes']) =>
      command.waves({ ...fleet.placements[0], nodes } as DesiredPlacement, own as CommandRuntime);
    expect(wavesOn(on(1, 2))).toEqual([
      { ranks: 'leader', until: 'meeting' },
      { ranks: 'followers', until: 'joined' },
    ]);
    expect(wavesOn(on(1))[0]).toEqual({ ranks: 'leader', until: 'joined' });
  });
});

describe("a command runtime's keys in the lock", () => {
  const spec = {
    driver: 'command' as const,
    archive: './a.zip',
    leader: ['{runtime}/serve'],
    follower: ['{runtime}/work'],
    env: { STATE: '{data}' },
    variables: 'mlx' as const,
    joined: { meeting: '{port}', listening: '{endpoint}', followers: 'running' },
  };

  it('include the roles and their environment', () => {
    const resolved = { ...keys.resolve(spec) };
    expect(keys.ofVersion(JSON.parse(JSON.stringify(resolved)))).toEqual(resolved);
    expect(resolved).toMatchObject({ command: spec.leader, follower: spec.follower, followersJoin: 'running' });
  });

  const words = { command: [], follower: [1], prepare: [], roles: { prefill: [] }, env: { A: 1 }, variables: 'mpi' };
  const others = { order: 'x', restart: 'x', joinedListening: 1, followersJoin: 1, meeting: 1, python: 1 };
  const tokens = [undefined, { path: 1, json: '/a' }, { path: '/a', json: 1 }].map((token): [string, unknown] => [
    'token',
    token,
  ]);
  it.each([['follower', []], ['env', 'A'], ...Object.entries({ ...words, ...others }), ...tokens])(
    'are not used if %s is invalid: %j',
    (key, wrong) => {
      expect(keys.ofVersion({ ...keys.resolve(spec), [key]: wrong })).toBeUndefined();
    },
  );
});
