import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { emptyLock } from '../../src/config/lock.ts';
import { loadCluster } from '../../src/engine/load-cluster.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import { makePlace } from '../cli/place.ts';
import { startSimFleet } from '../contract/sim-host.ts';
import { findRealMlx, type RealMlx } from '../mlx/real-mlx.ts';
import { mlxPair, realRuntime, writeRealSources } from '../mlx/real-pair.ts';
import { writePlace } from '../namespace/write-place.ts';
import { fileText, first, writeSources } from '../scenarios/converge-file.ts';
import { writePublishedSources } from '../scenarios/published-sources.ts';
import { documentOf } from './floor.ts';
import { builtCommand, timeRun } from './timed-process.ts';

/** The first apply of two bare Macs in namespaces with the real mlx_lm, in milliseconds. */
export interface FirstToken {
  readonly applyMs: number;
  /** From the first answer of the leader's server, seen in its log on the node, to the end of the apply. */
  readonly afterTokenMs: number;
}

const logs = 'Library/Application Support/meshwright/log';
const answered = '"POST /v1/chat/completions HTTP/1.1" 200';
const lookEveryMs = 10;

const hasAnswered = (root: string): boolean =>
  existsSync(join(root, logs)) &&
  readdirSync(join(root, logs)).some((name) => readFileSync(join(root, logs, name), 'utf8').includes(answered));

/** Measures first applies; none where the kernel allows no namespaces, or if PyPI was not reached. */
export async function measureFirstTokens(rounds: number, say: (text: string) => void): Promise<readonly FirstToken[]> {
  const isLinuxRoot = process.platform === 'linux' && process.getuid?.() === 0;
  const real = isLinuxRoot ? findRealMlx() : undefined;
  const times: FirstToken[] = [];
  while (real !== undefined && times.length < rounds) {
    say('.');
    times.push(await measureOne(real));
  }
  return times;
}

async function measureOne(real: RealMlx): Promise<FirstToken> {
  const place = makePlace();
  mkdirSync(join(place.folder, 'dist'), { recursive: true });
  await writeSources(place.folder);
  await writePublishedSources(place.folder);
  await writeRealSources(real, place.folder);
  const file = mlxPair(place.folder, realRuntime(real, place.folder));
  const { fleet } = loadCluster(fileText(file), 'cluster.yaml');
  if (fleet === undefined) throw new Error('the benchmark wrote an invalid cluster file');
  const model = modelledFleet(fleet, 'bench');
  const macs = await startSimFleet({ folder: join(place.root, 'macs'), model }, 'namespace');
  try {
    writePlace(place, macs, emptyLock('cluster.lock'), file);
    const root = macs.disk(first) ?? '';
    const what = {
      file: process.execPath,
      args: [builtCommand, 'apply', '--yes', '--json', '--update-lock'],
      folder: place.folder,
      env: place.env,
      stdout: join(place.root, 'apply.json'),
      stderr: join(place.root, 'apply.err'),
    };
    const startedAt = performance.now();
    let isOver = false;
    const ran = timeRun(what).finally(() => {
      isOver = true;
    });
    while (!isOver && !hasAnswered(root)) await pause(lookEveryMs);
    const tokenMs = performance.now() - startedAt;
    const run = await ran;
    documentOf(run, what);
    if (!hasAnswered(root)) throw new Error('the log of the leader names no answer');
    return { applyMs: run.ms, afterTokenMs: run.ms - tokenMs };
  } finally {
    await macs.stop();
    place.remove();
  }
}
