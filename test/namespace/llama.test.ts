import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rankPort } from '../../src/desired/endpoints.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { read } from '../../src/rack/fact.ts';
import { placementsFact } from '../../src/rack/placement/observed/fact.ts';
import { tinyShape } from '../../src/sim/doubles/tiny-gguf.ts';
import { json } from '../cli/meshwright.ts';
import { schemaCheck } from '../cli/schema-check.ts';
import { inTurn } from '../in-turn.ts';
import { writeLlamaArchive } from '../llama/llama-archive.ts';
import { llamaFile, meshNodes } from '../llama/llama-file.ts';
import { cachedShape, goldenRequest, soloAnswer, textIn } from '../llama/local-llama.ts';
import { findLlamaPackages, llamaPackages } from '../llama/packages.ts';
import { eventually } from '../rack/running.ts';
import { type FileValue, filePart } from '../scenarios/converge-file.ts';
import { changesIn, leftIn, patience } from '../scenarios/converge-rack.ts';
import { writeTinyGguf } from '../tiny-models.ts';
import { type NamespaceRack, startNamespaceRack } from './rack.ts';
import { curesOf, type TypedRack, typedRack } from './typed.ts';

const found = findLlamaPackages();
const [leader, worker, otherWorker] = meshNodes;
let folder: string;
let golden: string;
let rack: NamespaceRack;
let typed: TypedRack;

beforeAll(async () => {
  if (found.kind === 'missing') return;
  folder = await mkdtemp(join(tmpdir(), 'mw-llama-'));
  await writeLlamaArchive(join(folder, 'llama.tar.gz'), llamaPackages(found));
  const model = join(folder, 'model/tiny.gguf');
  await writeTinyGguf(model, tinyShape);
  golden = await soloAnswer(llamaPackages(found), model, ['--ctx-size', '512', '--parallel', '1']);
  rack = await startNamespaceRack('llama', llamaFile(folder));
}, patience);
afterAll(async () => {
  typed?.end();
  await rack?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const cacheFolder = '/Library/Application Support/meshwright/placements/chat/files/cache';
/** Overwrites the beginning of a file. */
const scribble = `/usr/bin/perl -e 'open my $f, "+<", shift or die; print $f "x" x 1_000_000'`;
/** An idle machine answers immediately; a busy one gets this long. */
const patientSeconds = 60;
/** The deadline for requests without an expected answer. */
const shortSeconds = 4;
const curl = (seconds: number): string => `/usr/bin/curl -q -s -m ${seconds}`;

/** The answer of the mesh to the golden request, or curl's exit code. */
async function ask(seconds = patientSeconds): Promise<string> {
  const ran = await rack.asRoot(
    leader,
    `printf %s '${goldenRequest('tiny')}' | ${curl(seconds)} -H 'Content-Type: application/json' --data-binary @- http://127.0.0.1:8080/v1/chat/completions`,
  );
  return ran.code === 0 ? textIn(ran.stdout) : `curl ${ran.code}`;
}

/** The answer of the server's health endpoint. */
const health = async (): Promise<string> =>
  (await rack.asRoot(leader, `${curl(patientSeconds)} http://127.0.0.1:8080/health`)).stdout;

/** Sends a signal to the process of a rank. */
async function signal(node: string, name: string): Promise<void> {
  const rank = 'system/dev.meshwright.rank.chat';
  const ran = await rack.asRoot(
    node,
    `p=$(launchctl print ${rank} | awk '$1 == "pid" { print $3 }') && [ -n "$p" ] && kill -${name} "$p"`,
  );
  expect(ran.code).toBe(0);
}

/** A file with a model whose tensors are cached. */
const cachingFile = (): FileValue =>
  llamaFile(folder, (file) => {
    Object.assign(filePart(file, 'runtimes', 'llama'), { cache: 'verified' });
    Object.assign(filePart(file, 'models'), { large: { source: join(folder, 'large') } });
    // Nothing hangs here, and perl reads every byte.
    Object.assign(filePart(file, 'placements', 'chat'), { model: 'large', expect: { firstToken: '1m' } });
  });

/**
 * Waits until the next start of a worker has verified every cached tensor, and then changes one of them. The server
 * cannot have loaded it yet, because the server starts only after every worker was observed listening.
 */
const changeOnceVerified = `cd "${cacheFolder}/rpc" && set -- * || exit 1
log='/Library/Application Support/meshwright/log/chat.log'
seen() { grep -c 'is what its name says' "$log"; }
before=$(seen)
until [ "$(seen)" -ge $((before + $#)) ]; do sleep 0.01; done
${scribble} "$1" && printf %s "$1"`;

/** The log of a worker, as shown by `logs`. */
const workerLog = async (): Promise<string> => (await typed.type('logs', worker, '--lines', '200')).stdout;

/** True if a rank's process has exited. */
const isGone = async (node: string): Promise<boolean> =>
  !(await rack.asRoot(node, 'launchctl print system/dev.meshwright.rank.chat')).stdout.includes('pid = ');

/** True if the endpoint returned a token to the product. */
async function hasToken(): Promise<boolean> {
  const facts = read((await rack.observe()).nodes[leader]?.facts, placementsFact);
  const members = facts?.kind === 'known' ? facts.value : [];
  return members.some(({ token }) => token.kind === 'answered');
}

/** The state of the mesh, according to a plan's change. */
const wrongIn = ({ changes }: Plan): readonly string[] =>
  changes.filter(({ id }) => id === `${leader} placement/chat`).map(({ from }) => from);

/** The state of a mesh whose leader exited in this way, and a worker by a signal. */
const lostWith = (leaderEnd: string, workerEnd = 'was ended by a signal (Killed: 9)'): string =>
  `partial: rank 0 on ${leader} ${leaderEnd}, rank 1 on ${worker} ${workerEnd}`;

/** Runs `restart`, and expects the golden answer and no remaining changes. */
async function restart(): Promise<void> {
  const { code, stdout, stderr } = await typed.type('restart', 'chat', '--yes');
  expect(code, stdout + stderr).toBe(0);
  expect(await ask()).toBe(golden);
  expect(leftIn(await rack.plan())).toEqual([]);
}

/** Runs `recover`, and expects these cures, the golden answer and no remaining changes. */
async function recover(...rungs: readonly string[]): Promise<void> {
  expect(curesOf(await typed.type('recover', '--yes', '--json'))).toEqual([0, ...rungs]);
  expect(await ask()).toBe(golden);
  expect(leftIn(await rack.plan())).toEqual([]);
}

describe.skipIf(found.kind === 'missing')('a mesh of the real llama.cpp on three Macs', { timeout: patience }, () => {
  it('starts from scratch and gives the same answer as a single process', async () => {
    const { plan, report } = await rack.converge();
    expect(changesIn(plan)).toEqual(
      expect.arrayContaining([`${worker} runtime/llama`, `${leader} model/tiny`, `${leader} placement/chat`]),
    );
    // Workers get their weights over the cables.
    expect(changesIn(plan)).not.toContain(`${otherWorker} model/tiny`);
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    expect(await ask()).toBe(golden);
    typed = typedRack(rack, llamaFile(folder));
  });

  it('needs no changes in a second apply', async () => {
    const { plan, report } = await rack.apply();
    expect([leftIn(plan), plan.effects, report]).toEqual([[], [], undefined]);
  });

  inTurn(0, 3)('that serves', () => {
    it('has workers that listen only on their cables, and a log without prompts', async () => {
      const listeners = await rack.asRoot(worker, 'netstat -an -f inet -p tcp | awk \'$NF == "LISTEN" { print $4 }\'');
      const [first, last] = [rankPort('chat', 0), rankPort('chat', 63)];
      const portOf = (one: string): number => Number(one.split('.').at(-1));
      const isOfRank = (one: string): boolean => portOf(one) >= first && portOf(one) <= last;
      const ofRanks = listeners.stdout.trim().split('\n').filter(isOfRank);
      expect(ofRanks.map((one) => one.replace(/\.\d+$/, ''))).toEqual(['10.77.0.2']);
      const log = await rack.asRoot(leader, 'cat "/Library/Application Support/meshwright/log/chat.log"');
      expect(log.stdout).toContain('model buffer size');
      expect(log.stdout).not.toContain('Tell me of the cable');
    });

    it("shows each Mac's memory as llama.cpp counts it", async () => {
      const { stdout } = await typed.type('status');
      // A worker has layers, and its log shows MiB with two decimals. Without a GPU, the leader has only the embedding.
      expect(stdout).toMatch(new RegExp(`^    ${worker} uses weights [\\d.]+ [kM]B, cache [\\d.]+ [kM]B`, 'm'));
      const document = json(await typed.type('status', '--json'));
      expect(schemaCheck('status')(document)).toEqual([]);
      const nodes = meshNodes.map((node) => ({ node, held: { weights: expect.any(Number) } }));
      expect(document).toMatchObject({ placements: { chat: { memory: nodes } } });
    });

    it('differs from the file if the file sets rdma and llama.cpp silently uses TCP', async () => {
      const overRdma = llamaFile(folder, (file) => {
        Object.assign(filePart(file, 'placements', 'chat'), { transport: 'rdma' });
      });
      expect(await rack.declare(overRdma)).toEqual([]);
      const { after, exit } = await rack.apply();
      expect([exit, wrongIn(after)]).toEqual([1, ['running, but its ranks use tcp, the file says rdma']]);
      // A second apply may help; a third would not.
      const again = await rack.apply();
      expect([again.exit, again.plan.blockers]).toEqual([3, []]);
      const { blockers, steps } = await rack.plan();
      expect([blockers.map(({ code, node }) => [code, node]), steps]).toEqual([[['mesh/stays-on-tcp', leader]], []]);
      expect(await rack.declare(llamaFile(folder))).toEqual([]);
      await rack.converge();
      expect(await ask()).toBe(golden);
    });
  });

  inTurn(1, 3)('that loses a process or a cable', () => {
    it('reports good health after a worker is killed, but returns no token until recover restarts the mesh', async () => {
      await rack.behindOurBack(async () => {
        await signal(worker, 'KILL');
        expect(await health()).toBe('{"status":"ok"}');
        expect(await hasToken()).toBe(false);
      });
      const plan = await rack.plan();
      expect(wrongIn(plan)).toEqual([lostWith('was ended by a signal (Abort trap: 6)')]);
      await recover('restart');
    });

    it('reports good health while a worker is suspended, but is hung until recover resumes the worker', async () => {
      await rack.behindOurBack(async () => {
        await signal(worker, 'STOP');
        expect(await health()).toBe('{"status":"ok"}');
      });
      expect(wrongIn(await rack.plan())).toEqual([
        `hung: no token: none came before the deadline of 4 s; rank 1 on ${worker} is suspended`,
      ]);
      await recover('continue');
    });

    it('is restarted by recover after the Mac of a worker has crashed and come back', async () => {
      await rack.behindOurBack((fleet) => fleet.setFault(['crash', worker]));
      await recover('restart');
    });

    it('is stopped by recover while a cable is unplugged, and started by recover when it is back', async () => {
      await rack.behindOurBack((fleet) => fleet.setFault(['cable-missing', `${leader}:2`]));
      expect(curesOf(await typed.type('recover', '--yes', '--json'))).toEqual([3, 'stop']);
      await rack.behindOurBack((fleet) => fleet.clearFault([]));
      await recover('start');
    });

    it('gives no token while a cable is unplugged, reports this, and recovers by itself', async () => {
      await rack.behindOurBack(async (fleet) => {
        await fleet.setFault(['cable-missing', `${leader}:2`]);
        expect(await health()).toBe('{"status":"ok"}');
        expect(await hasToken()).toBe(false);
        const { blockers } = await rack.plan();
        expect(blockers.map(({ code, blocks }) => [code, blocks])).toEqual([
          ['cabling/missing', [`${leader} placement/chat`]],
        ]);
        await fleet.clearFault([]);
        // Waiting data is sent again at TCP's next retry.
        expect(await eventually(async () => (await ask(shortSeconds)) === golden)).toBe(true);
      });
      await restart();
    });

    it('also loses its worker if its server is killed during an answer, until a restart', async () => {
      await rack.behindOurBack(async () => {
        await signal(worker, 'STOP');
        expect(await ask(shortSeconds)).toBe('curl 28');
        await signal(leader, 'KILL');
        await signal(worker, 'CONT');
        expect(await eventually(() => isGone(worker))).toBe(true);
      });
      expect(wrongIn(await rack.plan())).toEqual([
        lostWith('was ended by a signal (Killed: 9)', 'was ended by a signal (Broken pipe: 13)'),
      ]);
      await restart();
    });
  });

  inTurn(2, 3)('with a cache', () => {
    it('names and removes a cached tensor that changed on disk, before it returns an answer', async () => {
      const model = join(folder, 'large/large.gguf');
      await writeTinyGguf(model, { ...cachedShape, layers: 1 });
      golden = await soloAnswer(llamaPackages(found), model, ['--ctx-size', '512', '--parallel', '1']);
      expect(await rack.declare(cachingFile())).toEqual([]);
      await rack.converge();
      expect(await ask()).toBe(golden);
      typed.end();
      typed = typedRack(rack, cachingFile());
      const changed = await rack.behindOurBack(() =>
        rack.asRoot(worker, `cd "${cacheFolder}/rpc" && set -- * && ${scribble} "$1" && printf %s "$1"`),
      );
      expect(changed.stdout).toMatch(/^[0-9a-f]{16}$/);
      await restart();
      expect(await workerLog()).toContain(`cached tensor ${changed.stdout} was not what its name says`);
    });

    it('gives a different answer if a cached tensor changes after its verification, until a restart', async () => {
      const [changed, first] = await Promise.all([
        rack.asRoot(worker, changeOnceVerified),
        typed.type('restart', 'chat', '--yes'),
      ]);
      expect(changed.stdout).toMatch(/^[0-9a-f]{16}$/);
      expect([first.code, first.stderr.includes('Warning')], first.stderr).toEqual([1, false]);
      expect(first.stderr).toContain('mesh/another-answer');
      expect(first.stderr.replace(/\s+/g, ' ')).toContain('meshwright restart chat');
      // A mesh with a different answer is stopped.
      expect(await ask()).toBe('curl 7');
      await restart();
      expect(await workerLog()).toContain(`cached tensor ${changed.stdout} was not what its name says`);
    });
  });
});
