import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JobPoll, launchBody } from '../../../../src/engine/scripts/job.ts';
import { type NodeName, nodeName } from '../../../../src/model/node.ts';
import type { JobCall, PeerPlan, TreeFile, TreeId } from '../../../../src/model/node-script.ts';
import { jobFolder, peersFolder, stagedFile, treeFolder } from '../../../../src/node/paths/own-paths.ts';
import { makeKeyPair } from '../../../../src/remote/keys/exchange-key.ts';
import { hasSshd, startSshd } from '../../../sshd/start-sshd.ts';
import type { MacRoot } from './mac-root.ts';
import { hostTool, removedAfter } from './node-root.ts';
import { ended, isVerified, key, makeJobRoot, poll, sha256 } from './run-job.ts';
import { exampleModel } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const jobRoot = removedAfter(makeJobRoot);

/** A Mac whose sudo runs the command as this user. */
function newRoot(shell: Shell): MacRoot {
  const root = jobRoot(shell);
  root.recorded('bin/sync', 'exit 0');
  root.tool('usr/bin/mkfifo', `exec ${hostTool('usr/bin/mkfifo')} "$@"`);
  root.tool(
    'usr/bin/sudo',
    'while :; do case $1 in (-n | -H) shift ;; (-u) shift 2 ;; (*) break ;; esac; done\nexec "$@"',
  );
  // Keeps each content of the file that names the sources.
  root.tool('bin/mv', `case $3 in (*/sources) cat "$2" >>"$3.log" ;; esac\nexec ${hostTool('bin/mv')} "$@"`);
  return root;
}

const sourcesLog = `${jobFolder(key).path}/sources.log`;

const contents: Readonly<Record<string, Buffer>> = {
  'config.json': Buffer.from('{}'),
  empty: Buffer.alloc(0),
  "odd names/it's #?.bin": Buffer.from(Array.from({ length: 3_500_000 }, (_, at) => (at * 7_919) % 251)),
};
const files: readonly TreeFile[] = Object.entries(contents).map(([path, bytes]) => ({
  path,
  sha256: sha256(bytes),
  sizeBytes: bytes.length,
}));

const mebibyte = 1_048_576;
const otherModel: TreeId = { ...exampleModel, name: 'other' };
const chunkDigest = (bytes: Buffer, chunk: number): Buffer =>
  Buffer.from(sha256(bytes.subarray(chunk * mebibyte, (chunk + 1) * mebibyte)), 'hex');
const totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
const names = ['a', 'b', 'c'].map(nodeName);
/** Every address in 127.0.0.0/8 belongs to this machine. */
let round = 0;
const addressOf = (at: number): string => `127.77.${round}.${at + 1}`;

/** The plans of Macs that are all cabled to each other. The first one is the origin. */
const mesh = (): readonly PeerPlan[] =>
  names.map((self, at) => ({
    self,
    role: at === 0 ? 'serve' : 'receive',
    mode: 'mesh',
    port: 20_000 + (process.pid % 10_000),
    stripe: { at: Math.max(0, at - 1), of: 2 },
    listen: [addressOf(at)],
    sources: names.flatMap((node, other) =>
      at === 0 || other === at ? [] : [{ node, address: addressOf(other), isOrigin: other === 0 }],
    ),
    feeds: names.filter((_, other): boolean => other !== 0 && other !== at) as readonly NodeName[],
  }));

describe('an exchange of a model between Macs', () => {
  let server: Server;
  let base = '';
  const asked: string[] = [];
  let sentBytes = 0;

  beforeAll(async () => {
    process.env['SUDO_USER'] = userInfo().username;
    server = createServer((request, response) => {
      const path = decodeURIComponent((request.url ?? '').slice(1));
      asked.push(path);
      const from = Number(/^bytes=(\d+)-/u.exec(request.headers.range ?? '')?.[1] ?? 0);
      const bytes = contents[path]?.subarray(from);
      sentBytes += bytes?.length ?? 0;
      response.writeHead(from === 0 ? 200 : 206, { 'content-range': `bytes ${from}-/${contents[path]?.length}` });
      response.end(bytes);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => {
    delete process.env['SUDO_USER'];
    server.close();
  });

  /**
   * Starts a job on each of these Macs of the mesh, and expects that the Macs that get the model have it in the end.
   *
   * @param wait the seconds after which a Mac gives up, as `peer.pl` reads them
   */
  async function exchange(roots: readonly MacRoot[], callFor: (peers: PeerPlan) => JobCall, wait?: string) {
    for (const [at, peers] of mesh().slice(-roots.length).entries()) {
      const text = launchBody(key, callFor(peers), { peerKey: 'k'.repeat(64) });
      const launched = wait === undefined ? text : text.replace('\nstreams 1\n', `\nstreams 1\nwait ${wait}\n`);
      expect((await (roots[at] as MacRoot).runBody(launched)).result).toMatchObject({ kind: 'done' });
    }
    const ends: JobPoll[] = [];
    for (const root of roots) ends.push(await ended(root));
    expect(ends.map(({ exit }) => exit)).toEqual(roots.map(() => 0));
    for (const root of roots.slice(-2)) {
      expect(isVerified(root, exampleModel)).toBe(true);
      for (const { path, sha256: wanted } of files) {
        expect(sha256(readFileSync(join(root.folder, stagedFile(exampleModel, path).path)))).toBe(wanted);
      }
      expect(root.has(`${peersFolder(exampleModel).path}/own/data/2`)).toBe(false);
    }
    return ends;
  }

  const start = (shell: Shell): readonly MacRoot[] => {
    round += 1;
    asked.length = 0;
    sentBytes = 0;
    return names.map(() => newRoot(shell));
  };
  const fetch = (peers: PeerPlan): JobCall => {
    const source = { kind: 'url', base, plainHttp: true } as const;
    return { name: 'fetch-model', args: { tree: exampleModel, files, source, peers } };
  };
  const serveOrFetch = (peers: PeerPlan): JobCall =>
    peers.role === 'serve' ? { name: 'serve-model', args: { tree: exampleModel, files, peers } } : fetch(peers);
  const nonEmpty = Object.keys(contents).filter((path) => path !== 'empty');

  /** Writes the published model of a Mac. */
  function publish(root: MacRoot | undefined, changed: Readonly<Record<string, string | Buffer>> = {}): void {
    for (const [path, bytes] of Object.entries(contents)) {
      const target = join(root?.folder ?? '', treeFolder(exampleModel).path, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, changed[path] ?? bytes);
    }
  }

  it.each(scriptShells)('downloads each file once and verifies it on every Mac, with $name', async (shell) => {
    const roots = start(shell);
    await exchange(roots, fetch);
    expect(isVerified(roots[0] as MacRoot, exampleModel)).toBe(true);
    expect(asked.toSorted()).toEqual(nonEmpty.toSorted());
  });

  it('downloads nothing if a Mac has the model, and leaves nothing on that Mac', async () => {
    const roots = start(scriptShells[0] as Shell);
    publish(roots[0]);
    // The comparison ends after the first report about the bytes.
    const slow = `sleep 1; exec ${hostTool('usr/bin/shasum')} "$@"`;
    for (const root of roots.slice(1)) root.tool('usr/bin/shasum', slow);
    const ends = await exchange(roots, serveOrFetch);
    const got = ends.map(({ exchange: one }) => one?.cables.map(({ node, bytes }) => ({ node, bytes })) ?? []);
    const fromOrigin = got.map((cables) => cables.filter(({ node }) => node === 'a').length);
    // A Mac that starts later may get everything from one that started before.
    expect(got.flat().reduce((sum, { bytes }) => sum + bytes, 0)).toBeGreaterThanOrEqual(2 * totalBytes);
    expect([fromOrigin[0], Math.max(...fromOrigin)]).toEqual([0, 1]);
    expect(ends.map(({ activity }) => activity)).toEqual(roots.map(() => 'serving'));
    expect(ends[0]?.serving?.report).toBeGreaterThan(0);
    const sources = roots.map((root) => new Set(root.has(sourcesLog) ? root.read(sourcesLog).split(/\s+/) : []));
    expect(sources.map((nodes) => names.some((name) => nodes.has(name)))).toEqual([false, true, true]);
    expect([asked, roots[0]?.has(peersFolder(exampleModel).path)]).toEqual([[], false]);
  });

  it('downloads only the chunks that no Mac has if the origin is gone', async () => {
    const roots = start(scriptShells[0] as Shell).slice(1);
    const name = "odd names/it's #?.bin";
    const bytes = contents[name] as Buffer;
    for (const [at, root] of roots.entries()) {
      const own = join(root.folder, peersFolder(exampleModel).path, 'own');
      mkdirSync(join(own, 'data'), { recursive: true });
      // The first has two chunks from an earlier run, and the other one has the first of these.
      const had = bytes.subarray(0, (2 - at) * mebibyte);
      writeFileSync(join(own, 'data/2'), had);
      const digests = [Buffer.alloc(32), ...(at === 0 ? [0, 1] : [0]).map((chunk) => chunkDigest(bytes, chunk))];
      writeFileSync(join(own, 'digests'), Buffer.concat(digests));
    }
    await exchange(roots, fetch, '1 1 8');
    expect([asked.toSorted(), sentBytes]).toEqual([nonEmpty.toSorted(), 2 + bytes.length - 2 * mebibyte]);
  });

  it.each(scriptShells)('gets only the wrong chunks of published files, with $name', async (shell) => {
    const roots = start(shell);
    const [path = ''] = nonEmpty.slice(-1);
    const flipped = (at: number): Buffer => {
      const bytes = Buffer.from(contents[path] as Buffer);
      bytes[at] = 255;
      return bytes;
    };
    const shorter = contents[path]?.subarray(0, -1) as Buffer;
    const longer = Buffer.concat([flipped(mebibyte), flipped(0)]);
    const cases = [
      { two: flipped(2_500_000), three: longer, bytes: [mebibyte, mebibyte], repaired: [1, 1] },
      // Of a file that is too short, the rest is fetched before it is compared.
      {
        two: shorter,
        three: flipped(0),
        left: flipped(mebibyte),
        bytes: [3_500_000 % mebibyte, mebibyte],
        repaired: [undefined, 1],
      },
    ];
    const { two, three, left, bytes, repaired } = cases[
      scriptShells.indexOf(shell) % cases.length
    ] as (typeof cases)[number];
    publish(roots[0]);
    publish(roots[1], { [path]: two });
    publish(roots[2], { [path]: three });
    if (left !== undefined) {
      // A job that was killed has left its copy of the published file.
      const data = join(roots[2]?.folder ?? '', peersFolder(exampleModel).path, 'own/data');
      mkdirSync(data, { recursive: true });
      writeFileSync(join(data, '2'), left);
    }
    const ends = await exchange(roots, serveOrFetch);
    const got = ends.map(({ exchange: one }) => one?.cables.reduce((sum, cable) => sum + cable.bytes, 0) ?? 0);
    expect([asked, ends.map(({ exchange: one }) => one?.drops.length ?? 0)]).toEqual([[], [0, 0, 0]]);
    expect(got).toEqual([0, ...bytes]);
    expect(ends.map(({ exchange: one }) => one?.repairedFiles)).toEqual([undefined, ...repaired]);
    // The published file has not changed, because a reader may have it open.
    const published = readFileSync(join(roots[1]?.folder ?? '', treeFolder(exampleModel).path, path));
    expect(sha256(published)).toBe(sha256(two));
  });

  it('downloads a published file that has changed if no other Mac answers', async () => {
    const [, root] = start(scriptShells[0] as Shell);
    const [, plan] = mesh();
    if (root === undefined || plan === undefined) throw new Error('no Mac');
    publish(root, { 'config.json': '[]' });
    root.tool(
      'usr/bin/perl',
      `[ ! -e "$4/plan" ] || echo wait 1 1 0 >>"$4/plan"\nexec ${hostTool('usr/bin/perl')} "$@"`,
    );
    const launched = launchBody(key, fetch({ ...plan, feeds: [] }), { peerKey: 'k'.repeat(64) });
    expect((await root.runBody(launched)).result).toMatchObject({ kind: 'done' });
    expect(await ended(root)).toMatchObject({ exit: 0 });
    expect([isVerified(root, exampleModel), asked]).toEqual([true, ['config.json']]);
    // A model that this computer sends has no other source.
    const only: JobCall = {
      name: 'fetch-model',
      args: { tree: otherModel, files, source: { kind: 'peers' }, peers: plan },
    };
    expect((await root.runBody(launchBody(key, only, { peerKey: 'k'.repeat(64) }))).result).toMatchObject({
      kind: 'done',
    });
    expect(await ended(root)).toMatchObject({ exit: 1, failure: { slug: 'no-peer' } });
  });

  it.skipIf(!hasSshd())('downloads a model soon if SSH reaches no other Mac, and reports why', async () => {
    const keys = makeKeyPair();
    const sshd = await startSshd({ userKeys: [] });
    const { type, base64 } = sshd.hostKey;
    const cases = [
      { hostKey: keys.publicKey, port: sshd.port, first: 600, why: 'Host key verification failed.' },
      // A Mac that has not started its transfer yet refuses the key, too. A busy machine needs seconds for one login.
      { hostKey: `${type} ${base64}`, port: sshd.port, first: 10, why: 'Permission denied (publickey).' },
      { hostKey: `${type} ${base64}`, port: 1, first: 600, why: 'Connection refused' },
    ];
    const roots = start(scriptShells[0] as Shell);
    const [, plan] = mesh() as [PeerPlan, PeerPlan];
    const [node] = names as [NodeName];
    try {
      for (const [at, { hostKey, port, first }] of cases.entries()) {
        const root = roots[at] as MacRoot;
        root.tool('usr/bin/ssh', `exec ${hostTool('usr/bin/ssh')} "$@"`);
        const peers: PeerPlan = {
          ...plan,
          listen: [],
          feeds: [],
          sources: [{ node, isOrigin: true, isOverSsh: true }],
        };
        const login = { node, user: sshd.user, address: '127.0.0.1', port, hostKey };
        const text = launchBody(key, fetch(peers), { peerKey: 'k'.repeat(64), ssh: { ...keys, logins: [login] } });
        await root.runBody(text.replace('\nstreams 1\n', `\nstreams 1\nwait ${first} 1 ${first}\n`));
      }
      for (const [at, { why }] of cases.entries()) {
        const refusals = [{ node, why: expect.stringContaining(why) }];
        expect(await ended(roots[at] as MacRoot)).toMatchObject({ exit: 0, exchange: { refusals } });
        expect(isVerified(roots[at] as MacRoot, exampleModel)).toBe(true);
      }
    } finally {
      await sshd.stop();
    }
  });

  it('passes on the files that the controller sends while they arrive', async () => {
    const roots = start(scriptShells[0] as Shell);
    const verifyOrFetch = (peers: PeerPlan): JobCall =>
      peers.role === 'serve'
        ? { name: 'verify-model', args: { tree: exampleModel, files, peers } }
        : { name: 'fetch-model', args: { tree: exampleModel, files, source: { kind: 'peers' }, peers } };
    for (const path of Object.keys(contents)) {
      mkdirSync(dirname(join(roots[0]?.folder ?? '', stagedFile(exampleModel, path).path)), { recursive: true });
    }
    const sent = (async () => {
      for (const [path, bytes] of Object.entries(contents)) {
        const target = join(roots[0]?.folder ?? '', stagedFile(exampleModel, path).path);
        for (let at = 0; at <= bytes.length; at += mebibyte) {
          appendFileSync(target, bytes.subarray(at, at + mebibyte));
          await pause(300);
        }
      }
    })();
    const ends = await exchange(roots, verifyOrFetch);
    await sent;
    expect([isVerified(roots[0] as MacRoot, exampleModel), ends[0]?.activity]).toEqual([true, 'serving']);
  });

  it('lets the origin finish even if a Mac connects only after getting the whole model', async () => {
    const roots = start(scriptShells[0] as Shell);
    publish(roots[0]);
    const late = addressOf(100);
    const overLate = (peers: PeerPlan): PeerPlan => ({
      ...peers,
      listen: peers.self === 'a' ? [...peers.listen, late] : peers.listen,
      sources: peers.sources.map((one) => (peers.self === 'c' && one.isOrigin ? { ...one, address: late } : one)),
    });
    const other = createNetServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => {
      other.listen(mesh()[0]?.port, late, resolve);
    });
    try {
      // A Mac that waits for another one that never connects would do so for longer than this test.
      const done = exchange(roots, (peers) => serveOrFetch(overLate(peers)), '600 600 600');
      await expect.poll(async () => poll(roots[2] as MacRoot)).toMatchObject({ activity: 'serving' });
      other.close();
      await done;
    } finally {
      other.close();
    }
  });

  it("makes all Macs wait for the downloading Mac's download hours until a run removes the hours", async () => {
    const roots = start(scriptShells[0] as Shell);
    const hours = { begin: '22:00', end: '06:00' };
    const withHours = (peers: PeerPlan): JobCall => {
      const source = { kind: 'url', base, plainHttp: true, hours } as const;
      return { name: 'fetch-model', args: { tree: exampleModel, files, source, peers } };
    };
    const [origin] = roots as [MacRoot];
    for (const root of roots) root.tool('bin/date', '[ "$*" = +%H%M%S ] || exec /bin/date "$@"; echo 120000');
    origin.tool('bin/sleep', 'exec /bin/sleep 0.2');
    const done = exchange(roots, withHours);
    const waiting = { state: 'running', activity: 'waiting', until: '22:00' };
    for (const root of roots) await expect.poll(async () => poll(root)).toMatchObject(waiting);
    expect(asked).toEqual([]);
    const [first] = mesh();
    const again = launchBody(key, fetch(first as PeerPlan), { peerKey: 'k'.repeat(64) });
    expect((await origin.runBody(again)).result).toMatchObject({ isChanged: false, said: ['job=attached'] });
    const ends = await done;
    expect(ends.map(({ activity, until }) => [activity, until])).toEqual(roots.map(() => ['serving', undefined]));
    expect(asked.toSorted()).toEqual(nonEmpty.toSorted());
  });

  // Undefined: there is no perl.
  it.each([
    [
      { body: undefined, why: /./, synced: true },
      { body: 'echo "$*" >&2; echo "This is perl, v4"', why: /sha1_hex/, synced: false },
    ],
    [
      { body: 'exit 1', why: /^$/, synced: true },
      { body: 'exit 0', why: /^$/, synced: false },
    ],
  ])('downloads the model itself on Macs whose perl is missing, old, or does nothing: %#', async (...cases) => {
    const roots = start(scriptShells[0] as Shell);
    for (const [at, { body }] of cases.entries()) {
      const root = roots[at + 1] as MacRoot;
      if (body === undefined) rmSync(join(root.folder, 'usr/bin/perl'));
      else root.tool('usr/bin/perl', body);
    }
    const ends = await exchange(roots, fetch, '1 1 8');
    expect(asked.toSorted()).toEqual(roots.flatMap(() => nonEmpty).toSorted());
    const reasons = ends.map(({ exchange: one }) => one?.perl);
    expect(reasons).toEqual([undefined, ...cases.map(({ why }) => expect.stringMatching(why))]);
    const synced = roots.slice(1).map((root) => root.calls().some((line) => line.startsWith('sync')));
    expect(synced).toEqual(cases.map((one) => one.synced));
  });

  it('lowers the rate of a Mac that restarted, unless the Mac was shut down cleanly', async () => {
    const root = newRoot(scriptShells[0] as Shell);
    const [, plan] = mesh();
    const folder = jobFolder(key).path;
    const isSeen = async (name: string, text: string) =>
      expect.poll(() => root.has(`${folder}/${name}`) && root.read(`${folder}/${name}`)).toBe(text);
    const restart = async (boot: string, signal: NodeJS.Signals): Promise<readonly string[]> => {
      process.kill(Number(root.read(`${folder}/pid`)), signal);
      await expect.poll(async () => (await poll(root)).state).toBe('gone');
      root.tool('usr/sbin/sysctl', `echo ${boot}`);
      const { result } = await root.runBody(launchBody(key, fetch(plan as PeerPlan), { peerKey: 'k'.repeat(64) }));
      return result.kind === 'done' ? result.said : [];
    };
    root.tool('usr/sbin/sysctl', 'echo one');
    await root.runBody(launchBody(key, fetch(plan as PeerPlan), { peerKey: 'k'.repeat(64) }));
    await isSeen('exchanging', '0 one\n');
    expect(await restart('one', 'SIGKILL')).toEqual(['job=started']);
    await isSeen('exchanging', '0 one\n');
    expect(await restart('two', 'SIGKILL')).toEqual(['cable_rate=250000000', 'job=started']);
    await isSeen('exchanging', '250000000 two\n');
    await expect.poll(() => root.read(`${peersFolder(exampleModel).path}/plan`)).toMatch(/^rate 250000000$/m);
    expect(await restart('three', 'SIGTERM')).toEqual(['cable_rate=250000000', 'job=started']);
    await isSeen('exchanging', '250000000 three\n');
    expect(await restart('four', 'SIGKILL')).toEqual(['cable_rate=125000000', 'job=started']);
    await isSeen('exchanging', '125000000 four\n');
    process.kill(Number(root.read(`${folder}/pid`)), 'SIGKILL');
  });

  it('downloads a file that is wrong on every other Mac', async () => {
    const roots = start(scriptShells[0] as Shell);
    publish(roots[0], { 'config.json': '[]' });
    await exchange(roots, serveOrFetch);
    expect(asked.length).toBeLessThanOrEqual(2);
    expect(new Set(asked)).toEqual(new Set(['config.json']));
  });

  it.each(scriptShells)('neither executes nor trusts what the program reports, with $name', async (shell) => {
    const [root] = start(shell);
    const [, plan] = mesh();
    if (root === undefined || plan === undefined) throw new Error('no Mac');
    const reports = [
      'progress x[$(:>"$R/../ran")] a',
      'file x[$(:>"$R/../ran")]',
      'right 0',
      'wrong 08',
      'file 99',
      'stuck',
    ];
    root.tool(
      'usr/bin/perl',
      `case "$*" in (*/opt/meshwright/peers/*) ;; (*) exec ${hostTool('usr/bin/perl')} "$@" ;; esac
cat <<'REPORTS'
${reports.join('\n')}
REPORTS
while read -r what number; do
  case $what in (finish) exit 0 ;; (download) printf 'part %s x[$(:>"$R/../ran")]\\n' "$number" ;; esac
done`,
    );
    const launched = launchBody(key, fetch(plan), { peerKey: 'k'.repeat(64) });
    expect((await root.runBody(launched)).result).toMatchObject({ kind: 'done' });
    expect(await ended(root)).toMatchObject({ exit: 0 });
    expect([isVerified(root, exampleModel), existsSync(join(root.folder, '../ran'))]).toEqual([true, false]);
    expect(asked.toSorted()).toEqual(nonEmpty.toSorted());
  });
});
