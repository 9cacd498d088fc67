import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RunListener } from '../../src/apply/run-events.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { accountChecked } from '../../src/node/paths/own-paths.ts';
import { textOf } from '../architecture/sources.ts';
import { inTurn } from '../in-turn.ts';
import { shared } from '../rack/kept-running.ts';
import { sampleOf } from '../sample.ts';
import { asText } from '../unit/as-text.ts';
import { quickTiming } from './apply-rack.ts';
import { type FileValue, filePart } from './converge-file.ts';
import { type Applied, type ApplyOptions, changesIn, leftIn, patience, startConvergeRack } from './converge-rack.ts';
import { toldOfRanks } from './failed-start.ts';
import { nodeArchive } from './published-sources.ts';

/** All four nodes of the example, with a placement of mlx over RDMA. */
function mlxFile(change: (placement: FileValue) => void = () => undefined): FileValue {
  const file = parse(textOf('test/rack/reference.yaml')) as FileValue;
  filePart(file, 'runtimes')['mlx'] = {
    driver: 'mlx',
    archive: './dist/uv-aarch64-apple-darwin.tar.gz',
    python: '3.12',
    requirements: './requirements.lock',
  };
  delete filePart(file, 'runtimes')['reference'];
  file['gateway'] = { node: nodeArchive };
  filePart(file, 'system')['accounts'] = { ranks: '_meshrank', gateway: 'login' };
  filePart(file, 'models')['tiny'] = { source: './models/llama' };
  const placement = filePart(file, 'placements', 'chat');
  Object.assign(placement, { runtime: 'mlx', transport: 'rdma', expect: { firstToken: '4s' } });
  change(placement);
  return file;
}

const rack = shared(() => startConvergeRack('mlx', mlxFile()));

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'] as const;
const leader = nodes[0];

/** The log of the rank of a node. */
const logOf = async (node: string): Promise<string> =>
  (await rack.asRoot(node, '"$R/bin/cat" "$R/Library/Application Support/meshwright/log/"*')).stdout;

/** The processes of the ranks; the gateway in front of them is another one. */
const ranks = () =>
  rack
    .fleet()
    .processes()
    .filter(({ label }) => label.includes('.rank.'));

const processOf = (node: string) => ranks().find((one) => one.node === node);

function endRank(node: string, signal: NodeJS.Signals): void {
  const found = processOf(node);
  if (found !== undefined) process.kill(found.pid, signal);
}

const plistOf = async (node: string): Promise<string> =>
  (await rack.asRoot(node, '"$R/bin/cat" "$R/Library/LaunchDaemons/dev.meshwright.rank.chat.plist"')).stdout;

/** The address where the ranks of the current start meet. */
const meetingPort = async (): Promise<string> =>
  /MLX_JACCL_COORDINATOR<\/key>\s*<string>([\d.:]+)</.exec(await plistOf(leader))?.[1] ?? '';

const filesOfRanks = '/Library/Application Support/meshwright/placements/chat/files';

const readRankFile = async (node: string, name: string): Promise<string> =>
  (await rack.asRoot(node, `"$R/bin/cat" "$R${filesOfRanks}/${name}"`)).stdout;

/** A rank that waits for a dead one ignores SIGTERM. For a real one, a run waits for minutes before SIGKILL. */
const impatient: ApplyOptions = { timing: { ...quickTiming, scale: 0.05 } };

inTurn(0, 3)('a mesh of four mlx ranks over RDMA', { timeout: patience }, () => {
  it('starts from scratch and produces a token, with Python, packages, model, matrix and ranks', async () => {
    const { plan } = await rack.converge();
    expect(changesIn(plan)).toEqual(expect.arrayContaining([`${leader} runtime/mlx`, `${leader} placement/chat`]));
    expect(ranks()).toHaveLength(4);
    for (const node of nodes) {
      expect(await logOf(node)).toContain('meshwright: group of 4 ranks over jaccl');
      expect((await rack.asRoot(node, `cat "$R${accountChecked('_meshrank').path}"`)).stdout).toMatch(
        /^build=\w+ uid=450\nhome\nfiles-[0-9a-f]{16}\nrdma\ngpu-[0-9a-f]{64}\n$/,
      );
    }
  });

  it('needs no changes in a second apply', async () => {
    const { plan } = await rack.apply();
    expect([leftIn(plan), plan.effects]).toEqual([[], []]);
  });

  it.each(sampleOf(nodes, { few: 1, oneIn: 4 }))(
    'is found hung by a token request and restarted as a whole after the rank on %s died',
    async (node) => {
      const before = await meetingPort();
      await rack.behindOurBack(async () => endRank(node, 'SIGKILL'));
      const { plan } = await rack.converge(impatient);
      expect(changesIn(plan)).toEqual([`${leader} placement/chat`]);
      expect(ranks()).toHaveLength(4);
      expect(await meetingPort()).not.toBe(before);
    },
  );

  it('is found hung when a rank is suspended, although every process exists', async () => {
    await rack.behindOurBack(async () => endRank('studio-3', 'SIGUSR1'));
    const { plan } = await rack.converge(impatient);
    expect(changesIn(plan)).toEqual([`${leader} placement/chat`]);
    expect(ranks()).toHaveLength(4);
  });

  it('has a matrix with device names, but none from a rank to itself', async () => {
    for (const [rank, node] of nodes.entries()) {
      const rows = JSON.parse(await readRankFile(node, 'devices.json'));
      expect(rows[rank][rank]).toBeNull();
      expect(rows[rank].filter((name: unknown) => typeof name === 'string' && /^rdma_en\d$/.test(name))).toHaveLength(
        3,
      );
    }
  });
});

/** Causes an event just before a step of the placement starts. */
const beforeStep =
  (step: string, happen: () => void): RunListener =>
  (event) => {
    if (event.kind === 'step-started' && event.rescues === undefined && event.step.id === step) happen();
  };

/** Kills all ranks and starts them again with a listener for events. */
const startWith = (onEvent: RunListener, options: ApplyOptions = {}): Promise<Applied> =>
  rack.behindOurBack(async () => {
    for (const node of nodes) endRank(node, 'SIGKILL');
    return rack.apply({ ...options, onEvent });
  });

const failedIn = ({ report }: Applied): readonly string[] =>
  (report?.steps ?? []).filter(({ outcome }) => outcome === 'failed').map(({ step }) => step.id);

inTurn(0, 3)('an mlx start', { timeout: patience }, () => {
  // Every start over RDMA uses up some of a boot session's budget.
  beforeAll(() => rack.restart(), patience);

  it.each(sampleOf(nodes, { few: 1, oneIn: 4 }))(
    'leaves nothing running if the rank on %s never starts',
    async (node) => {
      const program = join(rack.fleet().nodes[node]?.root ?? '', filesOfRanks, 'rank.py');
      const applied = await startWith(beforeStep(`${node}/placement/chat/kick`, () => rmSync(program)));
      expect(failedIn(applied)).toHaveLength(1);
      expect(ranks()).toEqual([]);
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
    },
  );

  it('leaves nothing running if a rank does nothing', async () => {
    const applied = await startWith(beforeStep(`${leader}/placement/chat/ask`, () => endRank('studio-2', 'SIGSTOP')));
    expect(failedIn(applied)).toEqual([`${leader}/placement/chat/ask`]);
    expect(ranks()).toEqual([]);
  });
});

inTurn(1, 3)('mlx ranks after a restart of all Macs', { timeout: patience }, () => {
  beforeAll(() => rack.restart(), patience);

  it('start when the fault is gone', async () => {
    const { after } = await rack.converge();
    expect(leftIn(after)).toEqual([]);
    expect(ranks()).toHaveLength(4);
  });

  it("fail with JACCL's error, and this is reported, if a device has no protection domains left", async () => {
    await rack.behindOurBack((fleet) => fleet.setFault(['pd-leak', 'studio-4']));
    const applied = await startWith(() => undefined, { allow: 'rdma-start' });
    const shown = (applied.report?.steps ?? []).flatMap(({ diagnostics }) =>
      diagnostics.map(({ detail }) => plainText(detail)),
    );
    expect(
      [...shown, ...(applied.report?.diagnostics ?? []).map(({ detail }) => plainText(detail))].join('\n'),
    ).toContain("Couldn't allocate protection domain");
    expect(ranks()).toEqual([]);
    await rack.behindOurBack((fleet) => fleet.clearFault(['pd-leak', 'studio-4']));
  });

  it('use RDMA in a ring, and sockets if the file sets tcp', async () => {
    expect(await rack.declare(mlxFile((placement) => Object.assign(placement, { backend: 'jaccl-ring' })))).toEqual([]);
    await rack.converge();
    const rows: unknown = JSON.parse(await readRankFile(leader, 'devices.json'));
    expect(rows).toEqual([0, 1, 2, 3].map((rank) => [0, 1, 2, 3].map((other) => nearby(rank, other))));
    expect(await plistOf(leader)).toContain('MLX_JACCL_RING');
    expect(await rack.declare(mlxFile((placement) => Object.assign(placement, { transport: 'tcp' })))).toEqual([]);
    await rack.converge();
    for (const node of nodes) expect(await logOf(node)).toContain('meshwright: group of 4 ranks over ring');
  });

  it('are blocked by the plan if their mlx-lm cannot split the model', async () => {
    const file = mlxFile();
    filePart(file, 'models')['tiny'] = { source: './models/tiny' };
    const config = join(rack.folder, 'models/tiny/config.json');
    // mlx-lm has no way to split this kind.
    writeFileSync(config, readFileSync(config, 'utf8').replace('"reference"', '"gpt2"'));
    expect(await rack.declare(file)).toEqual([]);
    const { blockers } = await rack.plan();
    expect(blockers.map(({ code }) => code)).toEqual(['mlx/cannot-split']);
  });
});

const nearby = (rank: number, other: number): unknown =>
  (rank + other) % 2 === 0 ? null : [expect.stringMatching(/^rdma_en\d$/)];

inTurn(2, 3)('a Mac that installs different libraries', { timeout: patience }, () => {
  const odd = 'studio-4';
  const sourceOf = (): string => join(rack.fleet().nodes[odd]?.root ?? '', '.sim/uv');

  it('stops at a gate before its mesh is touched, and is named by the next plan', async () => {
    writeFileSync(sourceOf(), 'macosx_15_0_arm64\n');
    const file = mlxFile((placement) => Object.assign(placement, { transport: 'tcp' }));
    filePart(file, 'runtimes', 'mlx')['python'] = '3.13';
    expect(await rack.declare(file)).toEqual([]);
    const before = ranks();
    const applied = await rack.apply();
    expect(failedIn(applied)).toEqual([`${leader}/placement/chat/libraries`]);
    expect(ranks()).toEqual(before);
    const { blockers } = applied.after;
    expect(blockers.map(({ code }) => code)).toEqual(['mlx/libraries-differ']);
    expect(blockers.map(asText)[0]?.action).toMatch(
      /mlx\.lib\.libmlx\.dylib is [0-9a-f]{16} on studio-1 and studio-2 and studio-3, [0-9a-f]{16} on studio-4/,
    );
  });

  it('installs its runtime again after its version was removed, and its mesh starts', async () => {
    rmSync(sourceOf());
    const version =
      '"$R/opt/meshwright/runtimes/mlx/$("$R/usr/bin/readlink" "$R/opt/meshwright/runtimes/mlx/current")"';
    await rack.behindOurBack(() => rack.asRoot(odd, `"$R/bin/rm" -r ${version}`));
    await rack.converge();
    expect(ranks()).toHaveLength(4);
  });
});

inTurn(2, 3)('an mlx rack without internet', { timeout: patience }, () => {
  const wheelsFile = (): FileValue => {
    const file = mlxFile((placement) => Object.assign(placement, { transport: 'tcp' }));
    filePart(file, 'runtimes', 'mlx')['wheels'] = './wheels';
    return file;
  };

  it('is refused if a wheel is missing, and starts when the folder is complete', async () => {
    for (const node of nodes) writeFileSync(join(rack.fleet().nodes[node]?.root ?? '', '.sim/uv'), 'offline\n');
    const wheel = join(rack.folder, 'wheels/mlx_lm-0.31.3-py3-none-any.whl');
    renameSync(wheel, `${wheel}.away`);
    expect(await rack.declare(wheelsFile())).toEqual(['mlx/wheel-missing']);
    renameSync(`${wheel}.away`, wheel);
    expect(await rack.declare(wheelsFile())).toEqual([]);
    await rack.converge();
    expect(ranks()).toHaveLength(4);
    expect(Object.keys(rack.lock().runtimeFiles ?? {})).toContain('mlx/mlx_lm-0.31.3-py3-none-any.whl');
  });
});
