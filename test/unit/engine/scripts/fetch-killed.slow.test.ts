/**
 * Downloads from every source, with every fault of its server, killed at any moment: the next job goes on where the
 * killed one was, fetches no verified file again, and nothing is published that is not verified.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { launchBody } from '../../../../src/engine/scripts/job.ts';
import type { JobCall } from '../../../../src/model/node-script.ts';
import { nodePath } from '../../../../src/node/paths/node-paths.ts';
import {
  jobFolder,
  stagedArchive,
  stagedFile,
  stagingFolder,
  verifiedMark,
} from '../../../../src/node/paths/own-paths.ts';
import { sampleOf } from '../../../sample.ts';
import { cdnHost, type FakeHub, hubHost, openFakeHub } from '../../../servers/fake-hub.ts';
import { assetHost, fakeReleases } from '../../../servers/fake-releases.ts';
import type { Fault } from '../../../servers/fake-web.ts';
import { until } from '../../../until.ts';
import type { MacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { ended, key, makeJobRoot, sha256 } from './run-job.ts';
import { exampleModel, exampleRuntime } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const token = 'hf_canary0123456789';
const contents = {
  'config.json': Buffer.from('{}'),
  'model-1.safetensors': Buffer.alloc(300_000, 'weights '),
  'model-2.safetensors': Buffer.alloc(200_000, 'more weights '),
};
const archive = Buffer.alloc(400_000, 'an archive ');
const shelf = 'Volumes/disk/tiny';
const files = Object.entries(contents).map(([path, bytes]) => ({
  path,
  sha256: sha256(bytes),
  sizeBytes: bytes.length,
}));

const jobRoot = removedAfter(makeJobRoot);
let hub: FakeHub;
let commit = '';
beforeAll(async () => {
  const releases = fakeReleases({ github: { 'acme/program@v1': { 'program.tar.gz': archive } } });
  hub = await openFakeHub({ tokens: { [token]: { opens: ['acme/tiny'] } }, sites: releases.sites });
  commit = hub.push('acme/tiny', { files: contents, isPrivate: true });
});
afterAll(() => hub.close());
afterEach(() => hub.reset());

type Source = 'hub' | 'mirror' | 'folder' | 'release';
const sources: readonly Source[] = ['hub', 'mirror', 'folder', 'release'];

function callFor(source: Source): JobCall {
  if (source === 'release') {
    const url = 'https://github.com/acme/program/releases/download/v1/program.tar.gz';
    const args = { tree: exampleRuntime, archive: 'tar.gz', url } as const;
    return { name: 'fetch-archive', args: { ...args, sha256: sha256(archive), sizeBytes: archive.length } };
  }
  const origin = source === 'mirror' ? `${hub.origin}/${hubHost}` : `https://${hubHost}`;
  const url = { kind: 'url', base: `${origin}/acme/tiny/resolve/${commit}/`, secret: true } as const;
  const from = source === 'folder' ? ({ kind: 'folder', folder: nodePath(`/${shelf}`) } as const) : url;
  return { name: 'fetch-model', args: { tree: exampleModel, files, source: from } };
}

/** The faults of the host with the bytes. No two are set at once. */
const faults: Readonly<Record<string, Fault | undefined>> = {
  none: undefined,
  'a wrong byte': { kind: 'wrong-bytes', at: 70_000 },
  'a pointer': { kind: 'pointer' },
  'an ignored range': { kind: 'ignored-range' },
  'a truncated answer': { kind: 'truncated', afterBytes: 90_000 },
  'a stalled answer': { kind: 'stalled', afterBytes: 90_000 },
  'a slow answer': { kind: 'slow', bytesPerSecond: 400_000 },
  'a redirect loop': { kind: 'redirect-loop' },
  'status 403': { kind: 'status', status: 403 },
  'status 429': { kind: 'status', status: 429, headers: { ratelimit: '"resolvers";r=0;t=1' } },
  'status 503': { kind: 'status', status: 503 },
};

/** Twelve moments of a job, by the number of tools that it has started; a whole job without a fault starts about 60. */
const moments = Array.from({ length: 12 }, (_, at) => at * 5 + 1);
const cases = sources.flatMap((source) =>
  Object.keys(faults)
    .filter((name) => source !== 'folder' || name === 'none')
    .flatMap((name) => moments.map((moment) => ({ source, name, moment }))),
);

/** A node whose curl reaches the servers, and which has the model in a folder. */
function newRoot(): MacRoot {
  const root = jobRoot(scriptShells[0] as Shell);
  root.tool('bin/sleep', 'exec /bin/sleep 0.05');
  writeFileSync(join(root.folder, '../ca'), hub.ca);
  const hosts = hub.lines.trim().split('\n');
  const words = hosts.map((line) => `--connect-to ${line.replace(' ', ':')}`).join(' ');
  root.tool('usr/bin/curl', `exec /usr/bin/curl "$@" --cacert "$R/../ca" ${words}`);
  for (const [path, bytes] of Object.entries(contents)) root.file(`${shelf}/${path}`, bytes.toString());
  return root;
}

/** Launches the job, and returns true if it had ended before. */
async function launch(root: MacRoot, source: Source): Promise<boolean> {
  const body = launchBody(key, callFor(source), source === 'folder' || source === 'release' ? {} : { token });
  const { result } = await root.runBody(body);
  expect(result).toMatchObject({ kind: 'done' });
  return result.kind === 'done' && result.said.includes('job=done');
}

/** Kills the job with everything that it started, as a power failure does, unless it has ended. */
function killJob(root: MacRoot): void {
  const first = root.read(`${jobFolder(key).path}/pid`).trim();
  const stopped: string[] = [];
  // A process that is not stopped yet may start another one.
  for (let fresh = [first]; fresh.length > 0; ) {
    for (const pid of fresh) sendTo(pid, 'SIGSTOP');
    stopped.push(...fresh);
    const rows = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
      .split('\n')
      .map((row) => row.trim().split(/\s+/));
    fresh = rows.flatMap(([pid = '', of = '']) => (stopped.includes(of) && !stopped.includes(pid) ? [pid] : []));
  }
  for (const pid of stopped) sendTo(pid, 'SIGKILL');
}

function sendTo(pid: string, signal: NodeJS.Signals): void {
  try {
    process.kill(Number(pid), signal);
  } catch {
    // It has ended by itself.
  }
}

/** Waits until the job has started this many tools, has ended, or waits for a stalled answer. */
async function untilTool(root: MacRoot, count: number, fault: Fault | undefined): Promise<void> {
  const before = root.started().length;
  const isStalled = (): boolean =>
    fault?.kind === 'stalled' && hub.requests.some(({ bytes }) => bytes === fault.afterBytes);
  await until(() => isStalled() || root.has(`${jobFolder(key).path}/rc`) || root.started().length - before >= count);
}

const bytesHost = (source: Source): string => (source === 'release' ? assetHost : cdnHost);

/** Each large file with its place on the node, and the end of its address on the host with the bytes. */
const targets = (source: Source) =>
  source === 'release'
    ? [{ at: stagedArchive(exampleRuntime, 'tar.gz').path, bytes: archive, page: /program\.tar\.gz$/ }]
    : Object.entries(contents)
        .filter(([path]) => path.endsWith('.safetensors'))
        .map(([path, bytes]) => ({
          at: stagedFile(exampleModel, path).path,
          bytes,
          page: new RegExp(`${sha256(bytes)}$`),
        }));

const treeOf = (source: Source) => (source === 'release' ? exampleRuntime : exampleModel);

/** The digests that the node has compared. */
function comparedOn(root: MacRoot, source: Source): readonly string[] {
  const folder = join(root.folder, stagingFolder(treeOf(source)).path, 'checked');
  return existsSync(folder) ? readdirSync(folder) : [];
}

const sizeOf = (root: MacRoot, path: string): number => (root.has(path) ? statSync(join(root.folder, path)).size : 0);

describe('a killed download', () => {
  it.each(sampleOf(cases, { few: 4, oneIn: 48 }))(
    'resumes from $source with $name if it was killed after $moment tool runs',
    async ({ source, name, moment }) => {
      const root = newRoot();
      const fault = faults[name];
      if (fault !== undefined) hub.fault(fault, { host: bytesHost(source) });
      await launch(root, source);
      await untilTool(root, moment, fault);
      killJob(root);
      const compared = comparedOn(root, source);
      const isWhole = compared.length === (source === 'release' ? 1 : files.length);
      // What has its final name was compared.
      for (const { at, bytes } of targets(source)) {
        if (root.has(at)) expect(readFileSync(join(root.folder, at)).equals(bytes)).toBe(true);
      }
      if (root.has(verifiedMark(treeOf(source)).path)) expect(isWhole).toBe(true);
      const parts = targets(source).map(({ at, bytes, page }) => {
        const from = sizeOf(root, `${at}.part`);
        return { page, from, isComplete: root.has(at) || from === bytes.length };
      });
      const isWrong = name === 'a wrong byte' || name === 'a pointer';

      // A request that the killed job sent may still be on its way to the server.
      await until(async () => (await hub.connections()) === 0);
      hub.reset();
      // The killed process may still be there at the first launch; then apply launches the job once more.
      if (!(await launch(root, source))) {
        const first = await ended(root);
        if (first.state !== 'gone') expect(first).toMatchObject({ exit: 0 });
        else if (!(await launch(root, source))) expect(await ended(root)).toMatchObject({ exit: 0 });
      }
      for (const { at, bytes } of targets(source)) {
        expect(readFileSync(join(root.folder, at)).equals(bytes)).toBe(true);
      }
      for (const { page, from, isComplete } of parts) {
        const asked = hub.requests
          .filter(({ host, path }) => host === bytesHost(source) && page.test(path))
          .map(({ range }) => range);
        if (source === 'folder') expect(asked).toEqual([]);
        // A wrong part is noticed only when the whole file is compared.
        else if (!isWrong) expect(asked).toEqual(isComplete ? [] : [from > 0 ? `bytes=${from}-` : undefined]);
      }
    },
  );
});
