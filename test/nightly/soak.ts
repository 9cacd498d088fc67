/**
 * A soak for `npm run nightly`: a serving rack behind real `sshd` processes is observed repeatedly until the
 * time is over. Every observation must give the same facts, and nothing may grow: no files and processes on nodes, no
 * memory here. From time to time the built command applies without changes, over one connection and one command per
 * node. Prints one JSON document; exits with 1 at the first violation.
 */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { observeFleet } from '../../src/apply/reach/observe.ts';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import { factsJson } from '../../src/engine/observe/facts.ts';
import { nodeName } from '../../src/model/node.ts';
import { keeperLabel } from '../../src/node/paths/keeper-files.ts';
import { readValue } from '../../src/rack/fact.ts';
import { servicesFact } from '../../src/rack/records/services-fact.ts';
import { trustFor } from '../../src/remote/keys/host-key-trust.ts';
import { firstApply, timeNoOp } from '../bench/apply.ts';
import { startApplyRack } from '../bench/apply-rack.ts';
import type { SshdRack } from '../bench/sshd-rack.ts';
import { eventually } from '../until.ts';

const { values: options } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, nodes: { type: 'string', default: '4' } },
});
const looksPerApply = 25;
/**
 * The allowed heap growth from the first observations to the last: enough for the runtime's caches, too little for a
 * leak in every observation.
 */
const growthLimitBytes = 24e6;

const limits = () => ({ parallel: 32, deadlineMs: 120_000, newBoundary: () => randomBytes(16).toString('hex') });

function waysTo({ nodes, userKey }: SshdRack): readonly NodeTarget[] {
  return Object.entries(nodes).map(([name, { port, user, hostKey, root }]) => {
    const host = '127.0.0.1';
    const [type = '', base64 = ''] = hostKey.split(' ');
    const hostKeys = { [`[${host}]:${port}`]: [{ type, base64, line: 1 }] };
    const identity = { identityFiles: [userKey.file], isIdentitiesOnly: true };
    const target = { label: name, host, port, user, rootPrefix: root, ...identity };
    const trust = trustFor(target, { knownHosts: [], lock: { file: 'cluster.lock', hostKeys } });
    return { node: nodeName(name), way: { kind: 'way', target, trust } };
  });
}

type Looked = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Every fact about every node, except the clock, and the keeper, which starts a round every minute. @throws Error if a
 * node was not observed
 */
async function look(ways: readonly NodeTarget[]): Promise<Looked> {
  const { nodes, failures } = await observeFleet(ways, limits());
  const [failed] = Object.keys(failures);
  if (failed !== undefined) throw new Error(`${failed} was not observed: ${JSON.stringify(failures[failed])}`);
  const entries = Object.entries(nodes).map(([name, { facts }]) => {
    const { clock: _, ...timeless } = factsJson(facts);
    const services = readValue(facts, servicesFact);
    if (services === undefined) throw new Error(`${name} reported no services`);
    return [name, { ...timeless, services: services.filter(({ label }) => label !== keeperLabel) }];
  });
  return Object.fromEntries(entries);
}

/** The facts that differ, each with both values. */
const differences = (before: Looked, now: Looked): readonly string[] =>
  Object.entries(before).flatMap(([node, facts]) =>
    Object.entries(facts)
      .filter(([name, value]) => !isDeepStrictEqual(value, now[node]?.[name]))
      .map(([name, value]) => `${node} ${name}: ${JSON.stringify(value)}, then ${JSON.stringify(now[node]?.[name])}`),
  );

/** The number of files in the nodes' temporary folders, and of processes of this machine that name a node's root. */
function leftOn({ nodes }: SshdRack): Readonly<Record<string, number>> {
  const roots = Object.values(nodes).map(({ root }) => root);
  const files = roots.flatMap((root) => readdirSync(join(root, 'private/tmp')));
  return { files: files.length, processes: countProcesses(roots) };
}

/** 0 without /proc. */
function countProcesses(roots: readonly string[]): number {
  const command = (id: string): string => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'latin1');
    } catch {
      return '';
    }
  };
  const ids = process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/u.test(name)) : [];
  return ids.map(command).filter((line) => roots.some((root) => line.includes(root))).length;
}

/** The memory in use after a garbage collection. */
function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function soak(rack: SshdRack, endMs: number) {
  const ways = waysTo(rack);
  await firstApply(rack);
  const before = await look(ways);
  const leftBefore = leftOn(rack);
  let heapBefore = 0;
  let looks = 0;
  let applies = 0;
  while (looks < 2 * looksPerApply || performance.now() < endMs) {
    looks += 1;
    const others = differences(before, await look(ways));
    if (others.length > 0) throw new Error(`observation ${looks} differs from the first one:\n${others.join('\n')}`);
    if (looks === looksPerApply) heapBefore = heapBytes();
    if (looks % looksPerApply !== 0) continue;
    await timeNoOp(rack);
    applies += 1;
  }
  // The keeper's current round ends first.
  if (!(await eventually(() => isDeepStrictEqual(leftOn(rack), leftBefore)))) {
    throw new Error(`the nodes had ${JSON.stringify(leftBefore)} before, ${JSON.stringify(leftOn(rack))} after`);
  }
  const grownBytes = heapBytes() - heapBefore;
  if (grownBytes > growthLimitBytes) throw new Error(`the heap grew by ${grownBytes} bytes`);
  return { nodes: ways.length, looks, applies, grownBytes };
}

const endMs = performance.now() + Number(options.minutes) * 60_000;
const rack = await startApplyRack(Number(options.nodes));
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => void rack.stop().finally(() => process.exit(code)));
}
try {
  process.stdout.write(`${JSON.stringify(await soak(rack, endMs))}\n`);
} catch (error) {
  process.stderr.write(`soak: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await rack.stop();
}
