import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestPattern } from '../../../../src/drivers/exo/exo.ts';
import { askCommand, parseAskAnswer, parseTimedAnswer } from '../../../../src/node/endpoint/ask-endpoint.ts';
import {
  type AppendStart,
  appendCommand,
  otherSizeExit,
  parseSent,
  prefixDigestCommand,
  stagedSizeCommand,
} from '../../../../src/node/node-bytes.ts';
import {
  gatewayKeysFile,
  gatewaySecret,
  rankLog,
  requestFile,
  stagedFile,
} from '../../../../src/node/paths/own-paths.ts';
import { historyCommand, parseHistory } from '../../../../src/node/root-script.ts';
import { authorizeRestart, restartBody } from '../../../../src/rack/boot/restart-script.ts';
import { rankLogCommand } from '../../../../src/rack/placement/observed/rank-log-script.ts';
import { until } from '../../../until.ts';
import { bootSession, type MacRoot, makeMacRoot, ours } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { exampleModel } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);

/** Ten years, in seconds. */
const tenYears = 315_360_000;

/** Runs a command line as sshd does, with bytes on its standard input. */
function exec(command: string, input = ''): Promise<{ readonly code: number | null; readonly stdout: string }> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'ignore'] });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, stdout }));
  });
}

describe.each(scriptShells)('appending to a sent file in $name', (shell) => {
  const path = stagedFile(exampleModel, "odd names/it's $x");
  const append = (root: MacRoot, start: AppendStart, bytes: string) =>
    exec(appendCommand(path, start, root.folder), bytes);
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

  it("continues only at the file's current end", async () => {
    const root = newRoot(shell);
    const size = () => exec(stagedSizeCommand(path, root.folder));
    expect(await size()).toEqual({ code: 0, stdout: 'size 0\n' });
    expect(await append(root, { offset: 0 }, 'first ')).toEqual({ code: 0, stdout: 'size 6\n' });
    expect(await append(root, { offset: 6 }, 'second')).toEqual({ code: 0, stdout: 'size 12\n' });
    for (const offset of [0, 6]) {
      expect(await append(root, { offset }, 'never')).toEqual({ code: otherSizeExit, stdout: 'size 12\n' });
    }
    expect(await size()).toEqual({ code: 0, stdout: 'size 12\n' });
    expect(root.read(path.path)).toBe('first second');
  });

  it('replaces the file if the command requests it', async () => {
    const root = newRoot(shell);
    await append(root, { offset: 0 }, 'wrong, and too long');
    expect(await append(root, { offset: 0, replaces: true }, 'right')).toEqual({ code: 0, stdout: 'size 5\n' });
    expect(root.read(path.path)).toBe('right');
  });

  it('reports the digest of a prefix, or of the whole file after the last byte', async () => {
    const root = newRoot(shell);
    await append(root, { offset: 0 }, 'first ');
    const { stdout } = await append(root, { offset: 6, digests: true }, 'second');
    expect(parseSent(stdout)).toEqual({ size: 12, sha256: sha256('first second') });
    const prefix = await exec(prefixDigestCommand(path, 6, root.folder));
    expect(parseSent(prefix.stdout)).toEqual({ size: undefined, sha256: sha256('first ') });
    expect(parseSent(`${stdout}more`)).toEqual({ size: undefined, sha256: undefined });
  });

  /** Tools that hash right once, for the digest of `abc`. */
  const once = (then: string) => `if mkdir "$R/../asked" 2>/dev/null; then exec sha256sum "$@"; fi\n${then}`;
  const other = `printf '${'0'.repeat(64)}  -\\n'`;
  it.each([
    ['works', 'exec sha256sum "$@"', 'sha256sum sha256sum'],
    ['fails', 'exit 1', 'sha256sum shasum'],
    ['prints something else', "printf 'usage: sha256sum\\n'", 'sha256sum shasum'],
    ['prints a wrong digest', other, 'sha256sum shasum'],
    ['later fails', once('sha256sum; exit 1'), 'sha256sum sha256sum', 1],
    ['later prints nothing', once('exit 0'), 'sha256sum sha256sum', 1],
    ['later prints something else', once(`${other.replace('0', 'x')}`), 'sha256sum sha256sum', 1],
    ['later prints a part of a digest', once("printf 'ba78  -\\n'"), 'sha256sum sha256sum', 1],
  ])('returns the correct digest or none if sha256sum %s', async (_how, body, used, code = 0) => {
    const root = newRoot(shell);
    root.file(path.path, 'first second');
    root.tool('sbin/sha256sum', body);
    const sum = await exec(prefixDigestCommand(path, 6, root.folder));
    expect(sum).toEqual({ code, stdout: code === 0 ? `sha256 ${sha256('first ')}\n` : '' });
    const tools = root.started().map(({ tool }) => tool.replace(/.*\//, ''));
    expect(tools.filter((tool) => tool.startsWith('sha')).join(' ')).toBe(used);
  });

  it('fails when the disk is full', async () => {
    const root = newRoot(shell);
    root.tool('bin/cat', 'printf "cat: stdout: No space left on device\\n" >&2; exit 1');
    expect(await append(root, { offset: 0 }, 'x')).toMatchObject({ code: 1 });
  });
});

describe.each(scriptShells)('a Mac restart in $name', (shell) => {
  const order = (more: Partial<Parameters<typeof restartBody>[0]> = {}) =>
    restartBody({ intent: `reboot-${bootSession}`, from: bootSession, to: 'up', delaySeconds: 0, ...more });
  const shutdowns = (root: MacRoot): readonly string[] => root.calls().filter((call) => call.startsWith('shutdown'));

  it('is ordered once per intent and begins after the script exits', async () => {
    const root = newRoot(shell);
    root.recorded('sbin/shutdown', ':');
    root.tool('bin/sleep', 'until [ -e "$R/../go" ] || [ ! -e "$R" ]; do /bin/sleep 0.02; done');
    expect((await root.runBody(order())).result).toEqual({ kind: 'done', isChanged: true, said: [] });
    expect(shutdowns(root)).toEqual([]);
    root.file('../go', '');
    await until(() => shutdowns(root).length > 0);
    expect((await root.runBody(order())).result).toEqual({ kind: 'done', isChanged: false, said: [] });
    expect((await root.runBody(order({ to: 'off' }))).result).toMatchObject({ isChanged: false });
    expect(shutdowns(root)).toEqual(['shutdown -r now']);
    await root.runBody(order({ intent: 'off-1', to: 'off' }));
    await until(() => shutdowns(root).length > 1);
    expect(shutdowns(root).at(-1)).toBe('shutdown -h now');
  });

  it('removes only the marks of earlier boot sessions', async () => {
    const root = newRoot(shell);
    root.recorded('sbin/shutdown', ':');
    const mark = (session: string) => `${ours}/ops/reboot-${session}/once`;
    root.file(`${mark('F2B1C3D4-0000-4000-8000-000000000009')}/x`, '');
    root.file(`${ours}/ops/${'0'.repeat(64)}/job`, 'name=fetch-model\n');
    await root.runBody(order({ from: 'F2B1C3D4-0000-4000-8000-000000000009' }));
    expect(root.has(mark('F2B1C3D4-0000-4000-8000-000000000009'))).toBe(true);
    await root.runBody(order());
    await until(() => shutdowns(root).length > 0);
    await root.runBody(order({ intent: 'off-1', to: 'off' }));
    expect(readdirSync(join(root.folder, ours, 'ops')).sort()).toEqual(
      ['0'.repeat(64), 'off-1', `reboot-${bootSession}`].sort(),
    );
  });

  it('happens only once if several runs order it in parallel, and never in a different boot session', async () => {
    const root = newRoot(shell);
    root.recorded('sbin/shutdown', ':');
    expect((await root.runBody(order({ from: 'F2B1C3D4-0000-4000-8000-000000000009' }))).result).toMatchObject({
      isChanged: false,
    });
    const results = await Promise.all(Array.from({ length: 8 }, () => root.runBody(order())));
    expect(results.filter(({ result }) => result.kind === 'done' && result.isChanged)).toHaveLength(1);
    await until(() => shutdowns(root).length > 0);
    expect(shutdowns(root)).toEqual(['shutdown -r now']);
    expect(() => order({ intent: '../x' })).toThrow();
  });
});

describe.each(scriptShells)('an authenticated restart in $name', (shell) => {
  const password = `a'b"$&<c>`;
  const body = (unlocksLater?: true) =>
    authorizeRestart(unlocksLater ? { unlocksLater } : {}, { user: 'mesh', password });
  const answering = (root: MacRoot, how: { readonly isSupported: boolean; readonly exit: number }): void =>
    root.recorded(
      'usr/bin/fdesetup',
      `case $1 in (supportsauthrestart) echo ${how.isSupported}; exit ;; esac
cat >"$R/../input"
echo 'Error: Unable to unlock FileVault.' >&2
exit ${how.exit}`,
    );

  it('gives fdesetup name and password as a property list on standard input, and no arguments with them', async () => {
    const root = newRoot(shell);
    answering(root, { isSupported: true, exit: 0 });
    expect((await root.runBody(body())).result).toEqual({ kind: 'done', isChanged: true, said: [] });
    const input = root.read('../input');
    expect(input).toContain('<key>Username</key><string>mesh</string>');
    expect(input).toContain(`<key>Password</key><string>a'b"$&amp;&lt;c&gt;</string>`);
    expect(root.calls().filter((call) => call.startsWith('fdesetup'))).toEqual([
      'fdesetup supportsauthrestart',
      'fdesetup authrestart -inputplist -delayminutes -1',
    ]);
  });

  it.each([
    [{ isSupported: true, exit: 11 }, 'disk-password'],
    [{ isSupported: true, exit: 1 }, 'no-authorization'],
    [{ isSupported: false, exit: 0 }, 'no-authrestart'],
  ])('fails if fdesetup answers %j', async (how, slug) => {
    const root = newRoot(shell);
    answering(root, how);
    expect((await root.runBody(body())).result).toMatchObject({ kind: 'failed', slug });
  });

  it('changes nothing on a Mac without it, if the run unlocks the Mac later', async () => {
    const root = newRoot(shell);
    answering(root, { isSupported: false, exit: 0 });
    expect((await root.runBody(body(true))).result).toMatchObject({ kind: 'done', isChanged: false });
  });
});

describe('an endpoint request', () => {
  let server: Server;
  let asked: string[] = [];
  let inFlight = '';
  let port = 0;
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString('utf8');
      });
      request.on('end', () => {
        const { 'content-type': type, 'meshwright-own': own } = request.headers;
        asked.push([request.method, request.url, type, body, ...(own === undefined ? [] : [own])].join(' '));
        response
          .writeHead(request.url === '/no' ? 500 : 200)
          .end(request.method === 'GET' ? inFlight : '{"answer":"42\\n"}\n\n');
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => server.close());

  it.each(scriptShells)('sends a body from standard input or a file, in $name', async (shell) => {
    asked = [];
    const root = newRoot(shell);
    const question = {
      placement: 'kimi',
      isOne: false,
      port,
      path: "/v1/chat?it's=1",
      deadlineSeconds: 5,
      rootPrefix: root.folder,
    };
    const { stdout } = await exec(askCommand(question), '{"a":1}');
    expect(parseAskAnswer(stdout)).toEqual({ status: 200, body: '{"answer":"42\\n"}\n\n' });
    root.file(requestFile('kimi').path, '{"b":2}');
    await exec(askCommand({ ...question, body: requestFile('kimi') }));
    expect(asked).toEqual([
      'POST /v1/chat?it\'s=1 application/json {"a":1}',
      'POST /v1/chat?it\'s=1 application/json {"b":2}',
    ]);
    expect(parseAskAnswer((await exec(askCommand({ ...question, path: '/no' }), '')).stdout)?.status).toBe(500);
  });

  const established = (state: string): string =>
    `printf 'tcp4       0      0  127.0.0.1.${port}        127.0.0.1.50123        ${state}\\n'`;

  it.each(scriptShells)('waits for the request in flight if only one is allowed, in $name', async (shell) => {
    asked = [];
    const root = newRoot(shell);
    const question = { placement: 'kimi', isOne: true, port, path: '/', deadlineSeconds: 3, rootPrefix: root.folder };
    root.tool('bin/sleep', 'rm -f "$R/../busy"');
    root.tool('usr/sbin/netstat', `[ ! -e "$R/../busy" ] || ${established('ESTABLISHED')}`);
    root.file('../busy', '');
    expect(parseAskAnswer((await exec(askCommand(question), '{}')).stdout)?.status).toBe(200);
    expect([asked.length, root.has(`tmp/meshwright-ask.${port}`)]).toEqual([1, false]);
  });

  it.each([
    ['a client waits', 'ESTABLISHED'],
    ['a client has left', 'CLOSE_WAIT'],
  ])('is refused with status 425 while %s', async (_case, state) => {
    asked = [];
    const root = newRoot(scriptShells[0] as Shell);
    const question = { placement: 'kimi', isOne: true, port, path: '/', deadlineSeconds: 2, rootPrefix: root.folder };
    root.tool('bin/sleep', ':');
    root.tool('usr/sbin/netstat', established(state));
    expect(parseAskAnswer((await exec(askCommand(question), '{}')).stdout)).toEqual({ status: 425, body: '' });
    expect(parseTimedAnswer((await exec(askCommand({ ...question, isTimed: true }), '{}')).stdout)).toMatchObject({
      status: 425,
    });
    // Otherwise the node would count as unreachable.
    expect((await exec(askCommand(question), '{}')).code).toBe(0);
    root.tool('usr/sbin/netstat', 'exit 1');
    expect(parseAskAnswer((await exec(askCommand(question), '{}')).stdout)?.status).toBe(425);
    expect(asked).toEqual([]);
  });

  it("is refused under another run's lock unless that lock is stale or from the future", async () => {
    asked = [];
    const root = newRoot(scriptShells[0] as Shell);
    const question = { placement: 'kimi', isOne: true, port, path: '/', deadlineSeconds: 2, rootPrefix: root.folder };
    root.tool('bin/sleep', ':');
    root.tool('usr/sbin/netstat', ':');
    root.file(`tmp/meshwright-ask.${port}/x`, '');
    expect(parseAskAnswer((await exec(askCommand(question), '{}')).stdout)?.status).toBe(425);
    for (const seconds of [61, tenYears, -tenYears]) {
      root.tool('bin/date', `echo $(($(/bin/date +%s) + ${seconds}))`);
      const { status } = parseAskAnswer((await exec(askCommand(question), '{}')).stdout) ?? {};
      expect([seconds, status]).toEqual([seconds, 200]);
    }
  });

  it('releases its lock when the connection ends during the request', async () => {
    const root = newRoot(scriptShells[0] as Shell);
    const question = { placement: 'kimi', isOne: true, port, path: '/', deadlineSeconds: 2, rootPrefix: root.folder };
    root.tool('usr/sbin/netstat', ':');
    root.tool('usr/bin/curl', 'kill -s HUP "$PPID"');
    expect((await exec(askCommand(question), '{}')).code).toBe(129);
    expect(root.has(`tmp/meshwright-ask.${port}`)).toBe(false);
  });

  it("goes through the placement's gateway if it accepts such requests", async () => {
    asked = [];
    const root = newRoot(scriptShells[0] as Shell);
    const question = {
      placement: 'kimi',
      isOne: false,
      port: 1,
      path: '/v1',
      deadlineSeconds: 5,
      rootPrefix: root.folder,
    };
    root.file(`${gatewayKeysFile(port, 'kimi').path}`, '{}');
    root.file(gatewaySecret(port).path, 'meshwright-own: secret\n');
    inFlight = '0\n';
    expect(parseAskAnswer((await exec(askCommand(question), '{}')).stdout)?.status).toBe(200);
    expect(asked).toEqual(['GET /gateway/ask/kimi   secret', 'POST /gateway/ask/kimi/v1 application/json {} secret']);
    inFlight = '{"error":{}}';
    expect(parseAskAnswer((await exec(askCommand(question), '{}')).stdout)?.status).toBe(0);
  });

  it('has no answer if the port is closed or curl prints nothing', async () => {
    const root = newRoot(scriptShells[0] as Shell);
    const question = {
      placement: 'kimi',
      isOne: false,
      port: 1,
      path: '/',
      deadlineSeconds: 5,
      rootPrefix: root.folder,
    };
    expect(parseAskAnswer((await exec(askCommand(question), '')).stdout)).toEqual({ status: 0, body: '' });
    expect(parseAskAnswer('')).toBeUndefined();
    expect(parseAskAnswer('half an answer')).toBeUndefined();
  });
});

describe.each(scriptShells)('history and rank log commands in $name', (shell) => {
  it('print the last history entries', async () => {
    const root = newRoot(shell);
    expect(await exec(historyCommand(root.folder, 2))).toEqual({ code: 0, stdout: '' });
    for (const body of ['changed', 'unchanged', 'failed slug words']) await root.runBody(body);
    const { stdout } = await exec(historyCommand(root.folder, 2));
    expect(parseHistory(stdout).map(({ result }) => result)).toEqual(['unchanged', 'failed']);
  });

  it('print the last lines of a rank log, or exit with 66 without a log', async () => {
    const root = newRoot(shell);
    const request = { placement: 'kimi', lines: 2, requestPattern: undefined, rootPrefix: root.folder };
    expect(await exec(rankLogCommand(request))).toEqual({ code: 66, stdout: '' });
    root.file(rankLog('kimi').path, 'one\ntwo\nthree\n');
    expect(await exec(rankLogCommand(request))).toEqual({ code: 0, stdout: 'two\nthree\n' });
  });

  it('omit request lines, but still print the requested number of lines', async () => {
    const root = newRoot(shell);
    const request = { placement: 'kimi', lines: 2, requestPattern, rootPrefix: root.folder };
    expect(await exec(rankLogCommand(request))).toEqual({ code: 66, stdout: '' });
    const asked = "[ 1 | INFO ] Executing command: TextGeneration(content='my words')\nStarting task 5\n";
    root.file(rankLog('kimi').path, `one\ntwo\nthree\n${asked}`);
    expect(await exec(rankLogCommand(request))).toEqual({ code: 0, stdout: 'two\nthree\n' });
    expect(await exec(rankLogCommand({ ...request, requestPattern: undefined }))).toEqual({ code: 0, stdout: asked });
  });
});
