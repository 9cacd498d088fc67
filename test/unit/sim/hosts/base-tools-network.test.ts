import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPortClaims } from '../../../../src/sim/hosts/link-table.ts';
import { createNodeRoot } from '../../../../src/sim/hosts/node-root.ts';
import { execEnvironment, homeOf } from '../../../../src/sim/hosts/ssh/ssh-user.ts';

const claims = createPortClaims();
let folder = '';
let root = '';
let server: Server;
let served = 0;
/** The requests to the server, newest last. */
const asked: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "mw it's "));
  root = join(folder, 'node 1');
  const userKey = 'ssh-ed25519 AAAA';
  await createNodeRoot({ root, user: 'mesh', userKey }).then((node) => node.update([]));
  served = await claims.take();
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      asked.push(`${request.method} ${request.url} ${request.headers.host} ${body}`.trim());
      if (request.url === '/away') response.writeHead(302, { location: 'http://127.0.0.1:9/else' });
      response.end(request.url === '/long' ? 'x'.repeat(9_000) : 'said');
    });
  });
  await new Promise<void>((resolve) => server.listen(served, '127.0.0.1', resolve));
  await writeFile(join(root, '.sim/link-table'), `127.0.0.1:8080 127.0.0.1:${served}\n`);
  await writeFile(join(root, '.sim/web'), `models.lan:80 127.0.0.1:${served}\n`);
});
afterAll(async () => {
  server.close();
  await claims.close();
  await rm(folder, { recursive: true, force: true });
});

const options = (mark = 'test.node.0') => ({
  cwd: homeOf(root, 'mesh'),
  env: { ...execEnvironment({ root, user: 'mesh', mark }), R: root },
});

/** Runs a script while this process continues serving. */
async function sh(script: string, input = '') {
  const child = spawn('/bin/sh', ['-c', script], { ...options(), stdio: 'pipe' });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    text.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    text.err += chunk.toString();
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once('close', resolve));
  const unknown = (await readFile(join(root, '.sim/unknown'), 'utf8')).trimEnd();
  await writeFile(join(root, '.sim/unknown'), '');
  return { code, ...text, unknown };
}

describe("a simulated node's curl", () => {
  it('reaches its own loopback through the link table with a token request', async () => {
    const ran = await sh(
      `curl -q -s -S --noproxy '*' -m 5 -H 'Content-Type: application/json' --data-binary @- -o body -w '%{http_code}' http://127.0.0.1:8080/v1; echo; cat body`,
      '{"a": 1}',
    );
    expect(ran).toEqual({ code: 0, out: '200\nsaid', err: '', unknown: '' });
    expect(asked.at(-1)).toBe('POST /v1 127.0.0.1:8080 {"a": 1}');
  });

  it('reaches a server by name with a resumed download', async () => {
    const ran = await sh(
      'printf xx >part; curl -q -f -s -S -L --connect-timeout 20 --speed-limit 1 --speed-time 60 --retry 1 -C - -o new http://models.lan/file; cat new',
    );
    expect(ran).toEqual({ code: 0, out: 'said', err: '', unknown: '' });
    expect(asked.at(-1)).toBe('GET /file models.lan');
    expect(await readFile(join(root, '.sim/urls'), 'utf8')).toMatch(/^http:\/\/models\.lan\/file$/m);
  });

  it.each(['http://127.0.0.1:8081/', 'http://elsewhere.example/', 'https://models.lan/'])(
    'refuses the unlisted address %s',
    async (url) => {
      const before = asked.length;
      const ran = await sh(`curl -q -s -S -w '%{http_code}' ${url}`);
      expect([ran.code, ran.out, ran.err.slice(0, 9), asked.length]).toEqual([7, '000', 'curl: (7)', before]);
    },
  );

  it('does not follow a redirect to an unlisted address', async () => {
    expect((await sh('curl -q -s -L http://models.lan/away')).code).toBe(7);
  });

  it.each(['-k', '--insecure', '-x proxy:1', '--data-binary @/etc/passwd', '-o /tmp/x', '-m soon', '--retry', '-C 5k'])(
    'rejects and records %s',
    async (words) => {
      const ran = await sh(`curl -q ${words} http://models.lan/; exit $?`);
      expect(ran.code).not.toBe(0);
      expect(ran.unknown).toMatch(/curl/);
    },
  );
});

describe.runIf(process.platform === 'linux')("a simulated node's netstat", () => {
  const listen = (port: number, mark: string): Promise<ChildProcess> => {
    const text = `use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:${port}", Listen => 1) or die $!; $| = 1; print "up\\n"; sleep 60`;
    const child = spawn('perl', ['-e', text], { ...options(mark), stdio: ['ignore', 'pipe', 'inherit'] });
    return new Promise((resolve) => child.stdout.once('data', () => resolve(child)));
  };

  it("lists only listeners of its own node under the node's addresses", async () => {
    const [link, plain, other] = [await claims.take(), await claims.take(), await claims.take()];
    await writeFile(join(root, '.sim/link-names'), `${link} 10.77.0.1:51000\n`);
    const children = await Promise.all([
      listen(link, 'test.node.0'),
      listen(plain, 'test.node.0'),
      listen(other, 'test.node.01'),
    ]);
    const ran = await sh('netstat -an -f inet -p tcp');
    for (const child of children) child.kill('SIGKILL');
    const lines = ran.out.split('\n');
    expect(lines.slice(0, 2)).toEqual([
      'Active Internet connections (including servers)',
      'Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)    ',
    ]);
    expect(lines).toContain('tcp4       0      0  10.77.0.1.51000        *.*                    LISTEN     ');
    const listening = lines.slice(2, -1).map((line) => line.split(/\s+/)[3]);
    expect(listening.sort()).toEqual(['*.22', '10.77.0.1.51000', `127.0.0.1.${plain}`].sort());
    expect([ran.code, ran.err, ran.unknown]).toEqual([0, '', '']);
  });

  it('lists connections of its own processes, even with a closed far end', async () => {
    const port = await claims.take();
    const text = `use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:${port}", Listen => 2) or die $!; $| = 1; print "up\\n"; my @all = map { $s->accept } 1, 2; print "both\\n"; sleep 60`;
    const server = spawn('perl', ['-e', text], { ...options('test.node.0'), stdio: ['ignore', 'pipe', 'inherit'] });
    const said = () => new Promise((resolve) => server.stdout.once('data', resolve));
    await said();
    const clients = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await said();
    clients[1]?.destroy();
    let states: readonly string[] = [];
    while (!states.includes('CLOSE_WAIT')) {
      const { out } = await sh('netstat -n -f inet -p tcp');
      const lines = out.split('\n').map((line) => line.trim().split(/\s+/));
      states = lines.filter(([, , , local]) => local === `127.0.0.1.${port}`).map((words) => words[5] ?? '');
      expect(out).not.toContain('LISTEN');
    }
    server.kill('SIGKILL');
    clients[0]?.destroy();
    expect([...states].sort()).toEqual(['CLOSE_WAIT', 'ESTABLISHED']);
  });

  it('rejects every other form', () => {
    const ran = spawnSync('/bin/sh', ['-c', 'netstat -tlnp'], { ...options(), encoding: 'utf8' });
    expect([ran.status, ran.stderr.split('\n')[0]]).toEqual([64, expect.stringMatching(/^Usage:/)]);
  });
});
