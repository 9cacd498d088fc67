import { describe, expect, it } from 'vitest';
import { type Configuration, configurePlacement } from '../../../../src/drivers/configure-placement.ts';
import type { SeenNames } from '../../../../src/drivers/contract/driver.ts';
import { changedSettings } from '../../../../src/model/declared-settings.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement } from '../../../../src/model/desired.ts';
import { digestOf } from '../../../../src/model/digest.ts';
import { type Link, nodeName } from '../../../../src/model/node.ts';
import type { Text } from '../../../../src/model/step.ts';
import { renderPath } from '../../../../src/node/paths/node-paths.ts';
import { asLogin, meshFleet, mlxRuntime } from '../../../rack/placements.ts';

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName);

/** The device names and addresses that macOS shows. */
const seen: SeenNames = {
  device: ({ receptacle }) => `rdma_en${receptacle + 1}`,
  lan: (node) => `192.168.7.${node.slice(-1)}`,
};

/** A cable between ranks that are no neighbors in the ring. */
const isDiagonal = (ends: Link['ends']): boolean =>
  ['studio-1', 'studio-3'].every((name) => ends.some(({ node }) => node === name));

/** The changes for one start. */
interface Other {
  readonly generation?: number;
  readonly names?: SeenNames;
  readonly model?: Partial<DesiredModel>;
  readonly thunderbolt?: (before: DesiredFleet['thunderbolt']) => DesiredFleet['thunderbolt'];
}

function configured(
  change: Partial<DesiredPlacement> = {},
  { generation = 3, names = seen, model = {}, thunderbolt = (before) => before }: Other = {},
): Configuration {
  const made = meshFleet({ placement: { nodes, transport: 'rdma', runtime: 'mlx', ...change } });
  const fleet = { ...made, thunderbolt: thunderbolt(made.thunderbolt) };
  const [placement] = fleet.placements;
  if (placement === undefined) throw new Error('the fleet has no placement');
  const models = fleet.models.map((one) => ({ ...one, ...model }));
  return configurePlacement(placement, { ...asLogin(fleet), runtimes: [mlxRuntime], models }, generation, names);
}

const textOf = (text: Text): string =>
  text
    .map((part) => (typeof part === 'string' ? part : part.kind === 'login-user' ? '?' : renderPath(part, '')))
    .join('');

/** The command line, the environment and the files of one rank. */
function rankOf(
  rank: number,
  change: Partial<DesiredPlacement> = {},
  generation = 3,
  model: Partial<DesiredModel> = {},
) {
  const all = configured(change, { generation, model });
  const one = all.kind === 'configured' ? all.ranks[rank] : undefined;
  if (one === undefined) throw new Error(`the placement has no rank ${rank}`);
  const service = textOf(one.service);
  const words = [...(/<array>(.*)<\/array>/s.exec(service)?.[1] ?? '').matchAll(/<string>(.*)<\/string>/g)];
  const pairs = [...service.matchAll(/\t\t<key>(\w+)<\/key>\n\t\t<string>(.*)<\/string>/g)];
  return {
    argv: words.map(([, word = '']) => word),
    env: Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value])),
    files: Object.fromEntries(
      one.files.map((file) => [file.name, file.kind === 'file' ? textOf(file.content) : file.kind]),
    ),
    record: one.record,
  };
}

const files = '/Library/Application Support/meshwright/placements/kimi/files';

describe('a JACCL ring with several cables per hop', () => {
  /** The matrix where these pairs have a second cable. */
  function matrixWith(second: readonly (readonly [string, string])[], size = 4) {
    const base = meshFleet({
      placement: { nodes: nodes.slice(0, size), transport: 'rdma', runtime: 'mlx', backend: 'jaccl-ring' },
    });
    const more = second.map(([one, other], at) => ({
      ends: [
        { node: nodeName(one), receptacle: 5 },
        { node: nodeName(other), receptacle: 6 },
      ] as const,
      index: base.thunderbolt.links.length + at,
    }));
    const thunderbolt = { ...base.thunderbolt, links: [...base.thunderbolt.links, ...more] };
    const [placement] = base.placements;
    if (placement === undefined) throw new Error('the fleet has no placement');
    const all = configurePlacement(placement, { ...base, thunderbolt, runtimes: [mlxRuntime] }, 3, seen);
    const file =
      all.kind === 'configured' ? all.ranks[0]?.files.find(({ name }) => name === 'devices.json') : undefined;
    const rows: readonly (readonly (readonly string[] | null)[])[] = JSON.parse(
      file?.kind === 'file' ? textOf(file.content) : '',
    );
    return rows;
  }
  const counts = (rows: readonly (readonly (readonly string[] | null)[])[]) =>
    rows.map((row) => row.map((devices) => devices?.length ?? 0));
  const round = [
    ['studio-1', 'studio-2'],
    ['studio-2', 'studio-3'],
    ['studio-3', 'studio-4'],
    ['studio-4', 'studio-1'],
  ] as const;

  it('lists both devices toward each neighbor, with each cable at the same position on both sides', () => {
    const rows = matrixWith(round);
    const [even, odd] = [
      [0, 2, 0, 2],
      [2, 0, 2, 0],
    ];
    expect(counts(rows)).toEqual([even, odd, even, odd]);
    const at = rows[0]?.[1]?.indexOf('rdma_en6') ?? -1;
    expect(at).toBeGreaterThanOrEqual(0);
    expect(rows[1]?.[0]?.[at]).toBe('rdma_en7');
  });

  it('needs twice the device resources only if both neighbors are the same Mac', () => {
    const takes = (size: number, backend: 'jaccl-ring' | 'jaccl' = 'jaccl-ring') => {
      const fleet = meshFleet({
        placement: { nodes: nodes.slice(0, size), transport: 'rdma', runtime: 'mlx', backend },
      });
      const [placement] = fleet.placements;
      const all = placement && configurePlacement(placement, { ...asLogin(fleet), runtimes: [mlxRuntime] }, 3, seen);
      return all?.kind === 'configured' ? all.ranks.map(({ takesOfDevice }) => takesOfDevice ?? 1) : [];
    };
    expect([takes(2), takes(2, 'jaccl'), takes(4)]).toEqual([
      [2, 2],
      [1, 1],
      [1, 1, 1, 1],
    ]);
  });

  it('uses one cable per hop if a hop has only one', () => {
    expect(new Set(counts(matrixWith(round.slice(0, 3))).flat())).toEqual(new Set([0, 1]));
  });

  it('uses both cables between two Macs', () => {
    expect(counts(matrixWith(round.slice(0, 1), 2))).toEqual([
      [0, 2],
      [2, 0],
    ]);
  });
});

describe('an mlx rank over RDMA', () => {
  it("runs the rank program, followed by the server's arguments", () => {
    const { argv } = rankOf(2, { parallel: 4, args: ['--temp', '0.6'] });
    const tree = `/opt/meshwright/runtimes/mlx/${digestOf('tree').slice(0, 16)}`;
    const model = `/opt/meshwright/models/tiny/${digestOf('model').slice(0, 16)}`;
    expect(argv.slice(0, 5)).toEqual([`${tree}/venv/bin/python`, '-u', `${files}/rank.py`, 'jaccl', '4']);
    expect(argv.slice(5).join(' ')).toBe(
      `--model ${model} --host 127.0.0.1 --port 8080 --decode-concurrency 4 --prompt-concurrency 4 --prompt-cache-bytes 2147483648 --temp 0.6`,
    );
  });

  it("has a fixed environment plus the file's variables", () => {
    const { env, record } = rankOf(2, { env: { OMP_NUM_THREADS: '4' } });
    expect(env).toEqual({
      HF_HUB_CACHE: files,
      HF_HUB_OFFLINE: '1',
      MLX_IBV_DEVICES: `${files}/devices.json`,
      MLX_JACCL_COORDINATOR: expect.stringMatching(/^192\.168\.7\.1:\d{5}$/),
      MLX_RANK: '2',
      OMP_NUM_THREADS: '4',
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONNOUSERSITE: '1',
      TRANSFORMERS_OFFLINE: '1',
    });
    expect([record.port, record.meetPort]).toEqual([0, 0]);
  });

  it('has the same device matrix as every other rank, with no device toward itself', () => {
    const matrices = [0, 1, 2, 3].map((rank) => rankOf(rank).files['devices.json']);
    expect(new Set(matrices).size).toBe(1);
    const rows: readonly (readonly (string | null)[])[] = JSON.parse(matrices[0] ?? '');
    expect(rows.map((row) => row.map((device) => device === null))).toEqual(
      [0, 1, 2, 3].map((rank) => [0, 1, 2, 3].map((other) => rank === other)),
    );
    expect(rows.flat().filter((device) => device !== null && !/^rdma_en\d$/.test(device))).toEqual([]);
  });

  it('meets on a leader port that changes with every start', () => {
    const { env, record } = rankOf(0);
    expect(record.port).toBe(8080);
    expect(env['MLX_JACCL_COORDINATOR']).toBe(`192.168.7.1:${record.meetPort}`);
    expect(rankOf(0, {}, 4).record.meetPort).not.toBe(record.meetPort);
  });

  it('meets over the cable between two ranks, without an office address', () => {
    const two = { nodes: nodes.slice(0, 2) };
    expect(rankOf(1, two).env['MLX_JACCL_COORDINATOR']).toMatch(/^10\.77\.0\.\d+:\d+$/);
    expect(configured(two, { names: { ...seen, lan: () => undefined } }).kind).toBe('configured');
  });

  it("cannot start while the leader's address or a device is unknown", () => {
    const unseen = configured({}, { names: { ...seen, lan: () => undefined } });
    expect(unseen).toEqual({
      kind: 'incomplete',
      missing: 'the office network address of studio-1 is not known',
      digest: expect.any(String),
      declared: expect.any(String),
    });
    expect(configured({}, { names: { ...seen, device: () => undefined } }).kind).toBe('incomplete');
  });

  it('changes its digest for other settings, but not for a renamed device', () => {
    const { digest } = configured();
    const renamed = { names: { ...seen, device: () => 'rdma_en1' } };
    for (const same of [{ generation: 9 }, renamed]) expect(configured({}, same).digest).toBe(digest);
    expect(configured({ parallel: 2 }).digest).not.toBe(digest);
  });

  it('gets a new digest and new settings if the addresses of its cables change', () => {
    const moved: Other = {
      thunderbolt: ({ networks, ...rest }) => ({
        ...rest,
        networks: Object.fromEntries(
          Object.entries(networks).map(([link, one]) => [
            link,
            { ...one, address: one.address.replace('10.77.', '10.99.') },
          ]),
        ),
      }),
    };
    const before = configured();
    const after = configured({}, moved);
    expect(after.digest).not.toBe(before.digest);
    expect(changedSettings(before.declared, after.declared)).toBe(
      'addresses 10.77.0.9, 10.77.0.2, 10.77.0.14, 10.77.0.22 (file: 10.99.0.9, 10.99.0.2, 10.99.0.14, 10.99.0.22)',
    );
  });

  it('names the backend that follows from the cables', () => {
    const withoutOne: Other = {
      thunderbolt: ({ links, ...rest }) => ({ ...rest, links: links.filter(({ ends }) => !isDiagonal(ends)) }),
    };
    const { declared } = configured({}, withoutOne);
    expect(changedSettings(configured().declared, declared)).toBe(
      'backend jaccl (file: jaccl-ring), cables 6 (file: 5)',
    );
  });

  it('uses a ring if the file sets it, with devices for its neighbors only', () => {
    const { argv, env, files: own } = rankOf(1, { backend: 'jaccl-ring' });
    expect([argv[3], env['MLX_JACCL_RING']]).toEqual(['jaccl', '1']);
    const rows: readonly (readonly unknown[])[] = JSON.parse(own['devices.json'] ?? '');
    expect(rows.map((row) => row.map((devices) => (Array.isArray(devices) ? devices.length : devices)))).toEqual([
      [null, 1, null, 1],
      [1, null, 1, null],
      [null, 1, null, 1],
      [1, null, 1, null],
    ]);
  });

  it("runs the model's code only if it is approved", () => {
    expect(rankOf(0).argv).not.toContain('--trust-remote-code');
    expect(rankOf(0, {}, 3, { trustedCode: { 'a.py': digestOf('a') } }).argv).toContain('--trust-remote-code');
  });

  it('gets an extra argument in a pipeline', () => {
    expect(rankOf(0, { sharding: 'pipeline' }).argv).toContain('--pipeline');
  });
});

describe('an mlx rank over sockets', () => {
  it('has a list of one address per rank, each on the cable from the previous rank', () => {
    const { argv, env, files: own, record } = rankOf(1, { transport: 'tcp' });
    expect([argv[3], env['MLX_HOSTFILE']]).toEqual(['ring', `${files}/hosts.json`]);
    expect(env).not.toHaveProperty('MLX_IBV_DEVICES');
    const hosts: readonly (readonly string[])[] = JSON.parse(own['hosts.json'] ?? '');
    expect(hosts.flat().filter((host) => /^10\.77\.0\.\d+:\d{5}$/.test(host))).toHaveLength(4);
    expect([record.port, record.meetPort]).toEqual([0, 0]);
  });
});

describe('a single mlx rank', () => {
  it('has no group, no group file and no group variable', () => {
    const { argv, env, files: own, record } = rankOf(0, { nodes: nodes.slice(0, 1) });
    expect(argv.slice(3, 5)).toEqual(['alone', '1']);
    expect(Object.keys(env).filter((name) => name.includes('MLX'))).toEqual([]);
    expect([Object.keys(own), record.port]).toEqual([['rank.py'], 8080]);
  });
});
