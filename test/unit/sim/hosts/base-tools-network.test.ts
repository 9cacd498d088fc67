import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostTool } from '../../../../src/sim/hosts/base-tools/all-base-tools.ts';
import { createPortClaims } from '../../../../src/sim/hosts/link-table.ts';
import { createServerIdentity } from '../../../../src/sim/web/certificate.ts';
import { shared } from '../../../rack/kept-running.ts';
import { bareNode } from './bare-node.ts';

const claims = createPortClaims();
const node = shared(bareNode);
let server: Server;
let served = 0;
/** The requests to the server, newest last. */
const asked: string[] = [];

beforeAll(async () => {
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
  await node.setState('link-table', `127.0.0.1:8080 127.0.0.1:${served}\n`);
  await node.setState('web', `models.lan:80 127.0.0.1:${served}\n`);
});
afterAll(async () => {
  server.close();
  await claims.close();
});

const sh: typeof node.sh = (script, input) => node.sh(script, input);
/** The text of a file for the node's tools. */
const state = (name: string): Promise<string> => readFile(join(node.root, '.sim', name), 'utf8');

describe("a simulated node's curl", () => {
  it('reaches its own loopback through the link table with a token request', async () => {
    const ran = await sh(
      `curl -q -s -S --noproxy '*' -m 5 -H 'Content-Type: application/json' --data-binary @- -o body -w '%{http_code}' http://127.0.0.1:8080/v1; echo; cat body`,
      '{"a": 1}',
    );
    expect(ran).toEqual({ code: 0, out: '200\nsaid', err: '', unknown: '' });
    expect(asked.at(-1)).toBe('POST /v1 127.0.0.1:8080 {"a": 1}');
  });

  it('reaches a server by name to resume a download', async () => {
    const ran = await sh(
      'printf xx >part; curl -q -f -s -S -L --connect-timeout 20 --speed-limit 1 --speed-time 60 --retry 1 -C - -o new http://models.lan/file; cat new',
    );
    expect(ran).toEqual({ code: 0, out: 'said', err: '', unknown: '' });
    expect(asked.at(-1)).toBe('GET /file models.lan');
    expect(await state('urls')).toMatch(/^http:\/\/models\.lan\/file$/m);
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

describe("a simulated node's curl over HTTPS", () => {
  const secret = 'hf_canary-4711';
  const identity = createServerIdentity(['hub.lan', 'cdn.lan'], new Date());
  /** Requests as `METHOD HOST URL`, with a range and a token if there are any. */
  const requests: string[] = [];
  /** Arguments and environments of processes that contained the secret while the server answered. */
  const leaks: string[] = [];
  const tls = createTlsServer(identity, ({ method, url, headers }, response) => {
    const { host, range, authorization } = headers;
    requests.push([method, host, url, range, authorization].filter((one) => one !== undefined).join(' '));
    if (process.platform === 'linux') leaks.push(...leaksIn('/proc'));
    if (url === '/moved') response.writeHead(302, { location: 'https://cdn.lan/file?Signature=x', 'x-linked-size': 5 });
    else response.writeHead(range === undefined ? 200 : 206, { 'content-length': 5, 'x-repo-commit': 'c0ffee' });
    response.end(url === '/moved' ? '' : 'bytes');
  });
  const leaksIn = (folder: string): readonly string[] =>
    readdirSync(folder)
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .flatMap((name) => [`${folder}/${name}/cmdline`, `${folder}/${name}/environ`])
      .filter((path) => contentOf(path).includes(secret));
  const contentOf = (path: string): string => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      return '';
    }
  };

  beforeAll(async () => {
    const port = await claims.take();
    await new Promise<void>((resolve) => tls.listen(port, '127.0.0.1', resolve));
    const lines = ['hub.lan', 'cdn.lan'].map((host) => `${host}:443 127.0.0.1:${port}\n`);
    await node.setState('web', `models.lan:80 127.0.0.1:${served}\n${lines.join('')}`);
    await node.setState('ca', identity.cert);
  });
  afterAll(() => tls.close());

  it('sends a token from standard input to the first host only', async () => {
    const config = `header = "Authorization: Bearer ${secret}"\nurl = "https://hub.lan/moved"\n`;
    const ran = await sh('curl -q -f -s -S -L --proto =https --proto-redir =https -K -', config);
    expect(ran).toEqual({ code: 0, out: 'bytes', err: '', unknown: '' });
    expect(requests.splice(0)).toEqual([`GET hub.lan /moved Bearer ${secret}`, 'GET cdn.lan /file?Signature=x']);
  });

  it('passes configuration to the real curl without arguments, environment or files', async () => {
    const config = `header = "Authorization: Bearer ${secret}\\"\\\\"\nurl = "https://hub.lan/file?Signature=${secret}"`;
    expect((await sh('curl -q -s -S -K - -o got', config)).code).toBe(0);
    expect(requests.splice(0)).toEqual([`GET hub.lan /file?Signature=${secret} Bearer ${secret}"\\`]);
    expect(leaks).toEqual([]);
    await sh(`curl -q -s -H 'X: ${secret}' https://hub.lan/file`);
    expect(leaks.splice(0).length > 0).toBe(process.platform === 'linux');
    const entries = await readdir(node.root, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((path) => contentOf(path).includes(secret))).toEqual([]);
    expect(await state('urls')).toMatch(/^https:\/\/hub\.lan\/file$/m);
  });

  it('reports headers, redirects and status', async () => {
    const told = '%{http_code} %header{x-repo-commit} %{num_redirects} %{url_effective} %{size_download}\\n';
    expect(
      await sh(`curl -q -s -L -o /dev/null -D heads -w '%{stderr}${told}' https://hub.lan/moved; cat heads`),
    ).toEqual({
      code: 0,
      out: expect.stringMatching(/^HTTP\/1\.1 302 Found\r\n.*x-linked-size: 5\r\n.*HTTP\/1\.1 200 OK\r\n/s),
      err: '200 c0ffee 1 https://cdn.lan/file?Signature=x 5\n',
      unknown: '',
    });
    expect((await sh('curl -q -s -D - -o /dev/null https://hub.lan/file')).out).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('requests only headers with -I, and a range with -r', async () => {
    requests.splice(0);
    expect((await sh('curl -q -s -I https://hub.lan/moved')).out).toMatch(/location: https:\/\/cdn\.lan/i);
    expect((await sh(`curl -q -s -r 0-4 -w ' %{http_code}' https://hub.lan/file`)).out).toBe('bytes 206');
    expect(requests).toEqual(['HEAD hub.lan /moved', 'GET hub.lan /file bytes=0-4']);
  });

  it('stops at --max-filesize', async () => {
    const ran = await sh('curl -q -s -S --max-filesize 4 https://hub.lan/file');
    expect([ran.code, ran.out, ran.unknown]).toEqual([63, '', '']);
  });

  it.each(['https://hub.lan:8443/', 'https://huggingface.co/'])('does not reach %s', async (url) => {
    expect((await sh(`curl -q -s ${url}`)).code).toBe(7);
  });

  it('rejects a server whose certificate names a different host', async () => {
    await node.setState('web', (await state('web')).replace('cdn.lan', 'other.lan'));
    expect((await sh('curl -q -s https://other.lan/')).code).toBe(60);
  });

  it.each([
    'url = "https://hub.lan/"\noutput = "/tmp/x"\n',
    'url = https://hub.lan/\n',
    'url = "https://hub.lan/" \n',
    'url = "https://hub.lan/\\"\n',
    'url = "file:///etc/passwd"\n',
    'url = "https://hub.lan/"\nurl = "https://hub.lan/"\n',
    'url = "https://hub.lan/"\nheader = "@secret"\n',
    'url = "https://hub.lan/"\nheader = "a: b" "c"\n',
    'url = "https://hub.lan/"\ninsecure\n',
    '-k\nurl = "https://hub.lan/"\n',
    '',
  ])('rejects the configuration %j and does not record its text', async (config) => {
    const before = requests.length;
    const ran = await sh('curl -q -s -K -', config);
    expect([ran.code, ran.out, ran.unknown, requests.length]).toEqual([2, '', '/usr/bin/curl 4:-q -s -K -', before]);
    expect(ran.err).not.toContain('hub.lan');
  });

  it('reads a secret header from a file', async () => {
    const header = "printf 'Authorization: Bearer hf_canary-%s\\n' 4711 >header";
    const ran = await sh(`${header}; curl -q -s -H @header https://hub.lan/file`);
    expect([ran.code, ran.out, ran.unknown]).toEqual([0, 'bytes', '']);
    expect([requests.at(-1), leaks]).toEqual([`GET hub.lan /file Bearer ${secret}`, []]);
  });

  it.each([
    '-K config',
    '-K - --data-binary @-',
    '-D %',
    '-D /etc/x',
    '-r 5',
    '-r -5',
    '-r 0-1,3-4',
    '-H @-',
    '-H @/etc/x',
    "-w '%{json}'",
    "-w '%header{}'",
    '-w @format',
    '--max-filesize 5k',
    '--cacert ca',
    '-i',
  ])('rejects and records %s', async (words) => {
    const ran = await sh(`curl -q ${words} https://hub.lan/`);
    expect([ran.code === 0, ran.out]).toEqual([false, '']);
    expect(ran.unknown).toMatch(/curl/);
  });
});

describe.runIf(process.platform === 'linux')("a simulated node's netstat", () => {
  // The node's own perl listens only on ports that the simulator assigns.
  const perl = hostTool('perl') ?? 'perl';
  const listen = (port: number, mark: string): Promise<ChildProcess> => {
    const text = `use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:${port}", Listen => 1) or die $!; $| = 1; print "up\\n"; sleep 60`;
    const child = spawn(perl, ['-e', text], { ...node.options(mark), stdio: ['ignore', 'pipe', 'inherit'] });
    return new Promise((resolve) => child.stdout.once('data', () => resolve(child)));
  };

  it("lists only its own node's listeners, under the node's addresses", async () => {
    const [link, plain, other] = [await claims.take(), await claims.take(), await claims.take()];
    await node.setState('link-names', `${link} 10.77.0.1:51000\n`);
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

  it('lists connections of its own processes, even if the far end has closed', async () => {
    const port = await claims.take();
    const text = `use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:${port}", Listen => 2) or die $!; $| = 1; print "up\\n"; my @all = map { $s->accept } 1, 2; print "both\\n"; sleep 60`;
    const server = spawn(perl, ['-e', text], { ...node.options(), stdio: ['ignore', 'pipe', 'inherit'] });
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
    const ran = spawnSync('/bin/sh', ['-c', 'netstat -tlnp'], { ...node.options(), encoding: 'utf8' });
    expect([ran.status, ran.stderr.split('\n')[0]]).toEqual([64, expect.stringMatching(/^Usage:/)]);
  });
});
