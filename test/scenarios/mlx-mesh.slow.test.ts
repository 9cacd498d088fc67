import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RunListener } from '../../src/apply/run-events.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { accountChecked } from '../../src/node/paths/own-paths.ts';
import { textOf } from '../architecture/sources.ts';
import { sampleOf } from '../sample.ts';
import { asText } from '../unit/as-text.ts';
import { type FileValue, filePart } from './converge-file.ts';
import {
  type Applied,
  type ApplyOptions,
  type ConvergeRack,
  changesIn,
  leftIn,
  patience,
  startConvergeRack,
} from './converge-rack.ts';
import { toldOfRanks } from './failed-start.ts';

/** All four nodes of the example, with a placement of mlx over RDMA. */
function mlxFile(change: (placement: FileValue) => void = () => undefined): FileValue {
  const file = parse(textOf('cluster.example.yaml')) as FileValue;
  filePart(file, 'runtimes')['mlx'] = {
    driver: 'mlx',
    archive: './dist/uv-aarch64-apple-darwin.tar.gz',
    python: '3.12',
    requirements: './requirements.lock',
  };
  delete filePart(file, 'runtimes')['reference'];
  filePart(file, 'system')['accounts'] = { ranks: '_meshrank', gateway: 'login' };
  filePart(file, 'models')['tiny'] = { source: './models/llama' };
  const placement = filePart(file, 'placements', 'chat');
  Object.assign(placement, { runtime: 'mlx', transport: 'rdma', expect: { firstToken: '4s' } });
  change(placement);
  return file;
}

let rack: ConvergeRack;
beforeAll(async () => {
  rack = await startConvergeRack('mlx', mlxFile());
}, patience);
afterAll(() => rack.stop());

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'] as const;
const leader = nodes[0];

/** Everything that the rank of a node has written since its service was made. */
const logOf = async (node: string): Promise<string> =>
  (await rack.asRoot(node, '"$R/bin/cat" "$R/Library/Application Support/meshwright/log/"*')).stdout;

const processOf = (node: string) =>
  rack
    .fleet()
    .processes()
    .find((one) => one.node === node);

function endRank(node: string, signal: NodeJS.Signals): void {
  const found = processOf(node);
  if (found !== undefined) process.kill(found.pid, signal);
}

const plistOf = async (node: string): Promise<string> =>
  (await rack.asRoot(node, '"$R/bin/cat" "$R/Library/LaunchDaemons/dev.meshwright.rank.chat.plist"')).stdout;

/** Where the ranks of the present start meet. */
const meetingPort = async (): Promise<string> =>
  /MLX_JACCL_COORDINATOR<\/key>\s*<string>([\d.:]+)</.exec(await plistOf(leader))?.[1] ?? '';

const filesOfRanks = '/Library/Application Support/meshwright/placements/chat/files';

const readRankFile = async (node: string, name: string): Promise<string> =>
  (await rack.asRoot(node, `"$R/bin/cat" "$R${filesOfRanks}/${name}"`)).stdout;

describe('a mesh of four ranks of mlx over RDMA', { timeout: patience }, () => {
  it('comes from nothing to a token: Python, packages, model, matrix, ranks', async () => {
    const { plan } = await rack.converge();
    expect(changesIn(plan)).toEqual(expect.arrayContaining([`${leader} runtime/mlx`, `${leader} placement/chat`]));
    expect(rack.fleet().processes()).toHaveLength(4);
    for (const node of nodes) {
      expect(await logOf(node)).toContain('meshwright: group of 4 ranks over jaccl');
      expect((await rack.asRoot(node, `cat "$R${accountChecked('_meshrank').path}"`)).stdout).toMatch(
        /^build=\w+ uid=450\nhome\nfiles-[0-9a-f]{16}\nrdma\ngpu-[0-9a-f]{64}\n$/,
      );
    }
  });

  it('has nothing to do a second time', async () => {
    const { plan } = await rack.apply();
    expect([leftIn(plan), plan.effects]).toEqual([[], []]);
  });

  it.each(sampleOf(nodes, { few: 1, oneIn: 2 }))(
    'is seen to hang by a token when the rank of %s is gone, and comes back as a whole',
    async (node) => {
      const before = await meetingPort();
      await rack.behindOurBack(async () => endRank(node, 'SIGKILL'));
      const { plan } = await rack.converge();
      expect(changesIn(plan)).toEqual([`${leader} placement/chat`]);
      expect(rack.fleet().processes()).toHaveLength(4);
      expect(await meetingPort()).not.toBe(before);
    },
  );

  it('is seen to hang when a rank only stands still, though every process is there', async () => {
    await rack.behindOurBack(async () => endRank('studio-3', 'SIGUSR1'));
    const { plan } = await rack.converge();
    expect(changesIn(plan)).toEqual([`${leader} placement/chat`]);
    expect(rack.fleet().processes()).toHaveLength(4);
  });

  it('has the names of the devices in its matrix, with none towards itself', async () => {
    for (const [rank, node] of nodes.entries()) {
      const rows = JSON.parse(await readRankFile(node, 'devices.json'));
      expect(rows[rank][rank]).toBeNull();
      expect(rows[rank].filter((name: unknown) => typeof name === 'string' && /^rdma_en\d$/.test(name))).toHaveLength(
        3,
      );
    }
  });
});

/** Lets something happen just before a step of the placement begins. */
const beforeStep =
  (step: string, happen: () => void): RunListener =>
  (event) => {
    if (event.kind === 'step-started' && event.rescues === undefined && event.step.id === step) happen();
  };

/** Ends all ranks, and starts them again while something happens. */
const startWith = (onEvent: RunListener, wish: ApplyOptions = {}): Promise<Applied> =>
  rack.behindOurBack(async () => {
    for (const node of nodes) endRank(node, 'SIGKILL');
    return rack.apply({ ...wish, onEvent });
  });

const failedIn = ({ report }: Applied): readonly string[] =>
  (report?.steps ?? []).filter(({ outcome }) => outcome === 'failed').map(({ step }) => step.id);

describe('a start of mlx', { timeout: patience }, () => {
  // Every start over RDMA takes from what a boot session has.
  beforeAll(() => rack.restart(), patience);

  it.each(nodes)('ends with nothing left running when the rank of %s never comes up', async (node) => {
    const program = join(rack.fleet().nodes[node]?.root ?? '', filesOfRanks, 'rank.py');
    const applied = await startWith(beforeStep(`${node}/placement/chat/kick`, () => rmSync(program)));
    expect(failedIn(applied)).toHaveLength(1);
    expect(rack.fleet().processes()).toEqual([]);
    expect(toldOfRanks(applied.report)).toEqual([
      {
        code: 'mesh/first-failing-rank',
        detail: expect.stringMatching(
          new RegExp(
            `^Rank ${nodes.indexOf(node)} on ${node} exited \\(2\\)\\. It logged:\\npython: can't open file .*rank\\.py`,
          ),
        ),
      },
    ]);
  });

  it('ends with nothing left running when a rank does nothing at all', async () => {
    const applied = await startWith(beforeStep(`${leader}/placement/chat/ask`, () => endRank('studio-2', 'SIGSTOP')));
    expect(failedIn(applied)).toEqual([`${leader}/placement/chat/ask`]);
    expect(rack.fleet().processes()).toEqual([]);
  });
});

describe('ranks of mlx after a restart of all Macs', { timeout: patience }, () => {
  beforeAll(() => rack.restart(), patience);

  it('come up when nothing fails any more', async () => {
    const { after } = await rack.converge();
    expect(leftIn(after)).toEqual([]);
    expect(rack.fleet().processes()).toHaveLength(4);
  });

  it('fail in the words of JACCL where a device has no protection domain left, and this is told', async () => {
    await rack.behindOurBack((fleet) => fleet.setFault(['pd-leak', 'studio-4']));
    const applied = await startWith(() => undefined, { allow: 'rdma-start' });
    const told = (applied.report?.steps ?? []).flatMap(({ diagnostics }) =>
      diagnostics.map(({ detail }) => plainText(detail)),
    );
    expect(
      [...told, ...(applied.report?.diagnostics ?? []).map(({ detail }) => plainText(detail))].join('\n'),
    ).toContain("Couldn't allocate protection domain");
    expect(rack.fleet().processes()).toEqual([]);
    await rack.behindOurBack((fleet) => fleet.clearFault(['pd-leak', 'studio-4']));
  });

  it('talk over RDMA round a ring, and over sockets where the file says tcp', async () => {
    expect(await rack.declare(mlxFile((placement) => Object.assign(placement, { backend: 'jaccl-ring' })))).toEqual([]);
    await rack.converge();
    const rows: unknown = JSON.parse(await readRankFile(leader, 'devices.json'));
    expect(rows).toEqual([0, 1, 2, 3].map((rank) => [0, 1, 2, 3].map((other) => nearby(rank, other))));
    expect(await plistOf(leader)).toContain('MLX_JACCL_RING');
    expect(await rack.declare(mlxFile((placement) => Object.assign(placement, { transport: 'tcp' })))).toEqual([]);
    await rack.converge();
    for (const node of nodes) expect(await logOf(node)).toContain('meshwright: group of 4 ranks over ring');
  });

  it('are not started with a model that their mlx-lm cannot split, and the plan says so', async () => {
    const file = mlxFile();
    filePart(file, 'models')['tiny'] = { source: './models/tiny' };
    expect(await rack.declare(file)).toEqual([]);
    const { blockers } = await rack.plan();
    expect(blockers.map(({ code }) => code)).toEqual(['mlx/cannot-split']);
  });
});

const nearby = (rank: number, other: number): unknown =>
  (rank + other) % 2 === 0 ? null : [expect.stringMatching(/^rdma_en\d$/)];

describe('a Mac that installs other libraries than the rest', { timeout: patience }, () => {
  const odd = 'studio-4';
  const sourceOf = (): string => join(rack.fleet().nodes[odd]?.root ?? '', '.sim/uv');

  it('keeps what runs as it is: the gate sees it before anything is stopped, then the plan names both', async () => {
    writeFileSync(sourceOf(), 'macosx_15_0_arm64\n');
    const file = mlxFile((placement) => Object.assign(placement, { transport: 'tcp' }));
    filePart(file, 'runtimes', 'mlx')['python'] = '3.13';
    expect(await rack.declare(file)).toEqual([]);
    const before = rack.fleet().processes();
    const applied = await rack.apply();
    expect(failedIn(applied)).toEqual([`${leader}/placement/chat/libraries`]);
    expect(rack.fleet().processes()).toEqual(before);
    const { blockers } = applied.after;
    expect(blockers.map(({ code }) => code)).toEqual(['mlx/libraries-differ']);
    expect(blockers.map(asText)[0]?.action).toMatch(
      /mlx\.lib\.libmlx\.dylib is [0-9a-f]{16} on studio-1 and studio-2 and studio-3, [0-9a-f]{16} on studio-4/,
    );
  });

  it('installs them anew when its version was taken away, and then all are started', async () => {
    rmSync(sourceOf());
    const version =
      '"$R/opt/meshwright/runtimes/mlx/$("$R/usr/bin/readlink" "$R/opt/meshwright/runtimes/mlx/current")"';
    await rack.behindOurBack(() => rack.asRoot(odd, `"$R/bin/rm" -r ${version}`));
    await rack.converge();
    expect(rack.fleet().processes()).toHaveLength(4);
  });
});

describe('a rack of mlx without internet', { timeout: patience }, () => {
  const wheelsFile = (): FileValue => {
    const file = mlxFile((placement) => Object.assign(placement, { transport: 'tcp' }));
    filePart(file, 'runtimes', 'mlx')['wheels'] = './wheels';
    return file;
  };

  it('is refused with the package whose wheel is missing, and comes up with the folder whole', async () => {
    for (const node of nodes) writeFileSync(join(rack.fleet().nodes[node]?.root ?? '', '.sim/uv'), 'offline\n');
    const wheel = join(rack.folder, 'wheels/mlx_lm-0.31.3-py3-none-any.whl');
    renameSync(wheel, `${wheel}.away`);
    expect(await rack.declare(wheelsFile())).toEqual(['mlx/wheel-missing']);
    renameSync(`${wheel}.away`, wheel);
    expect(await rack.declare(wheelsFile())).toEqual([]);
    await rack.converge();
    expect(rack.fleet().processes()).toHaveLength(4);
    expect(Object.keys(rack.lock().runtimeFiles ?? {})).toContain('mlx/mlx_lm-0.31.3-py3-none-any.whl');
  });
});
