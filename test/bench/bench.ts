/**
 * `npm run bench`: observations and applies over real `sshd` processes compared with the system's ssh, memory,
 * start-up, a gateway under hostile load, models that go from Mac to Mac, and an apply that starts the real mlx_lm.
 * Exits with 1 only if something could not be measured; an exceeded limit is printed, not an error.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { firstApply, oneFileChange, timeNoOp } from './apply.ts';
import { startApplyRack } from './apply-rack.ts';
import { measureExchanges } from './exchange.ts';
import { measureFirstTokens } from './first-token.ts';
import type { Pair } from './floor.ts';
import { measureFnv } from './fnv.ts';
import { measureGateway } from './gateway.ts';
import { measureLost, startLostRack } from './lost-rank.ts';
import { observationMemory, timePair } from './observation.ts';
import { measureRecover } from './recover.ts';
import { type SshdRack, startSshdRack } from './sshd-rack.ts';
import { type StartUpRound, timeStartUp } from './start-up.ts';
import { type Applies, barsOf, barsText, type Measured, timesText } from './summary.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    nodes: { type: 'string', default: '4,16,64' },
    pairs: { type: 'string', default: '5' },
  },
});
const startUpRounds = 21;
const memoryRuns = 3;
const largestNodes = 64;
/** Every changeable simulated Mac runs separate processes. With more Macs, the benchmark would measure this machine. */
const largestApplied = 16;
const oneFileRuns = 3;
const firstTokenRounds = 3;

const running = new Set<SshdRack>();
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => {
    void Promise.all([...running].map((rack) => rack.stop())).finally(() => process.exit(code));
  });
}

const say = (text: string): void => void process.stderr.write(text);

async function repeat<T>(times: number, act: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let at = 0; at < times; at += 1) results.push(await act());
  return results;
}

interface Size {
  readonly nodes: number;
  readonly pairs: readonly Pair[];
  readonly peakBytes: readonly number[];
}

/** Starts a rack, runs a function with it, and always stops it. */
async function withRack<T>(
  title: string,
  start: () => Promise<SshdRack>,
  act: (rack: SshdRack) => Promise<T>,
): Promise<T> {
  say(`${title}: starting sshd `);
  const rack = await start();
  running.add(rack);
  try {
    return await act(rack);
  } finally {
    say('\n');
    await rack.stop();
    running.delete(rack);
  }
}

/** The first pair is discarded: it fills the caches for both. */
async function takePairs(pairs: number, take: () => Promise<Pair>): Promise<readonly Pair[]> {
  await take();
  return repeat(pairs, () => {
    say('.');
    return take();
  });
}

const measureSize = (nodes: number, pairs: number): Promise<Size> =>
  withRack(
    `facts, ${nodes} nodes`,
    () => startSshdRack({ size: nodes }),
    async (rack) => {
      const timed = await takePairs(pairs, () => timePair(rack));
      const peaks = nodes === largestNodes ? await repeat(memoryRuns, () => observationMemory(rack)) : [];
      return { nodes, pairs: timed, peakBytes: peaks.filter((peak) => peak !== undefined) };
    },
  );

const measureApply = (nodes: number, pairs: number): Promise<Applies> =>
  withRack(
    `apply, ${nodes} nodes`,
    () => startApplyRack(nodes),
    async (rack) => {
      const firstMs = await firstApply(rack);
      const timed = await takePairs(pairs, () => timeNoOp(rack));
      return { nodes, pairs: timed, firstMs, oneFileMs: await repeat(oneFileRuns, () => oneFileChange(rack)) };
    },
  );

async function measureStartUp(): Promise<readonly StartUpRound[]> {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-bench-'));
  try {
    await timeStartUp(folder);
    return await repeat(startUpRounds, () => timeStartUp(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Error unless the text is a whole number from 1 to 256. */
function countOf(text: string): number {
  if (/^[1-9][0-9]{0,2}$/u.test(text) && Number(text) <= 256) return Number(text);
  throw new Error(`${text} is not a whole number from 1 to 256`);
}

async function measure(): Promise<Measured> {
  const counts = options.nodes.split(',').map(countOf);
  const pairs = countOf(options.pairs);
  const startUp = await measureStartUp();
  const sizes: Size[] = [];
  for (const nodes of counts) sizes.push(await measureSize(nodes, pairs));
  const apply: Applies[] = [];
  for (const nodes of counts.filter((count) => count <= largestApplied)) apply.push(await measureApply(nodes, pairs));
  const lost = await withRack('status, a mesh that lost a member', startLostRack, (rack) => measureLost(pairs, rack));
  const recover = await withRack('recover', startLostRack, (rack) => measureRecover(pairs, rack));
  say('gateway\n');
  const gateway = await measureGateway();
  say('models between Macs ');
  const exchanges = await measureExchanges(say);
  say('\nfirst tokens of mlx_lm ');
  const firstTokens = await measureFirstTokens(firstTokenRounds, say);
  say('\nfnv\n');
  const fnv = measureFnv();
  const largest = sizes.find((size) => size.peakBytes.length > 0);
  return {
    observation: sizes.map(({ nodes, pairs }) => ({ nodes, pairs })),
    apply,
    ...(largest === undefined ? {} : { memory: { nodes: largest.nodes, peakBytes: largest.peakBytes } }),
    startUp,
    lost,
    recover,
    gateway,
    exchanges,
    firstTokens,
    ...(fnv === undefined ? {} : { fnv }),
  };
}

const machine = {
  date: new Date().toISOString().slice(0, 10),
  platform: `${process.platform} ${process.arch}`,
  cores: availableParallelism(),
  loadBefore: loadavg()[0] ?? 0,
  node: process.versions.node,
  ssh: spawnSync('ssh', ['-V'], { encoding: 'utf8' }).stderr.trim().split(',')[0] ?? '',
};

try {
  const measured = await measure();
  const bars = barsOf(measured);
  const { date, platform, cores, node, ssh, loadBefore } = machine;
  process.stdout.write(`${date}  ${platform}, ${cores} cores, Node ${node}, ${ssh}\n`);
  process.stdout.write(`load of the machine before the run: ${loadBefore.toFixed(1)}\n\n`);
  process.stdout.write(`${timesText(measured)}\n${barsText(bars)}`);
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ formatVersion: 1, machine, ...measured, bars }, null, 2)}\n`);
  }
} catch (error) {
  say(`\nbench: could not be measured: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
