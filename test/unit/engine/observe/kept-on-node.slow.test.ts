import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allProbes, parseFacts } from '../../../../src/engine/observe/facts.ts';
import { launchBody } from '../../../../src/engine/scripts/job.ts';
import { digest } from '../../../../src/model/digest.ts';
import type { Facts } from '../../../../src/model/facts/fact-values.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import {
  gatewayKeysFile,
  gatewaySecret,
  placementFolder,
  rankLog,
  rankServiceLabel,
  requestFile,
  stagedFile,
  startFile,
} from '../../../../src/node/paths/own-paths.ts';
import { read } from '../../../../src/rack/fact.ts';
import { placementsFact } from '../../../../src/rack/placement/observed/fact.ts';
import { jobsFact } from '../../../../src/rack/records/jobs-fact.ts';
import { leasesFact } from '../../../../src/rack/records/leases-fact.ts';
import { servicesFact } from '../../../../src/rack/records/services-fact.ts';
import { until } from '../../../until.ts';
import { type MacRoot, makeMacRoot, ours } from '../scripts/mac-root.ts';
import { removedAfter, startScript } from '../scripts/node-root.ts';
import { exampleDigest, exampleFence, exampleModel, exampleRecord } from '../scripts/script-examples.ts';
import { type Shell, scriptShells } from '../scripts/shells.ts';

const boundary = '0123456789abcdef0123456789abcdef';
const newMac = removedAfter(makeMacRoot);

/** A node whose launchd runs the rank, with listeners on these addresses. */
function newRoot(shell: Shell, listeners: readonly string[] = []): MacRoot {
  const root = newMac(shell);
  const label = rankServiceLabel('kimi');
  root.tool('bin/launchctl', `printf 'system/${label} = {\\n\\tstate = running\\n\\tpid = 7\\n}\\n'`);
  root.file(`Library/LaunchDaemons/${label}.plist`, '');
  root.file(
    '../netstat',
    `Active Internet connections (including servers)\nProto Recv-Q Send-Q  Local Address          Foreign Address        (state)\n${listeners.map((one) => `tcp4       0      0  ${one.padEnd(22)} *.*                    LISTEN\n`).join('')}tcp4       0      0  192.0.2.9.9999         192.0.2.7.1234         ESTABLISHED\n`,
  );
  root.recorded('usr/sbin/netstat', '/bin/cat "$R/../netstat"');
  root.tool(
    'usr/sbin/sysctl',
    `case $# in (2) printf '${session}\\n' ;; (*) printf 'kern.bootsessionuuid: ${session}\\n' ;; esac`,
  );
  return root;
}
const session = 'F2B1C3D4-0000-4000-8000-000000000001';

async function observe(shell: Shell, root: MacRoot): Promise<Facts> {
  const names = ['kept-records', 'kept-files', 'placement-members', 'launchd-services', 'sysctl'];
  const request = { probes: allProbes().filter(({ name }) => names.includes(name)), boundary, rootPrefix: root.folder };
  const { stdout } = await startScript(shell, observeScript(request)).end;
  return parseFacts(parseFrames(stdout, request), { sentAtEpochMs: 0, receivedAtEpochMs: 1 });
}

/** Writes a rank's record in the same form as bootstrap. */
function member(root: MacRoot, more: Partial<typeof exampleRecord>): void {
  const lines = Object.entries({ ...exampleRecord, ...more, startedIn: session, starts: 1 });
  root.file(`${placementFolder('kimi').path}/record`, lines.map(([key, value]) => `${key}=${value}\n`).join(''));
  root.file(requestFile('kimi').path, '{"prompt":"hi"}');
}

describe.each(scriptShells)('jobs and the lease under $name', (shell) => {
  it('are read correctly while a job runs and after it ends', async () => {
    const root = newRoot(shell);
    root.tool('bin/ps', 'exec /bin/ps "$@"');
    root.tool(
      'usr/bin/shasum',
      'until [ -e "$R/../go" ] || [ ! -e "$R" ]; do /bin/sleep 0.02; done; exec /usr/bin/shasum "$@"',
    );
    root.file(stagedFile(exampleModel, 'a').path, 'ab');
    root.file(`${ours}/lease/heartbeat`, '41\n');
    const key = digest('c'.repeat(64));
    const files = [{ path: 'a', sha256: exampleDigest, sizeBytes: 2 }];
    await root.runBody(launchBody(key, { name: 'verify-model', args: { tree: exampleModel, files } }));
    await until(() => root.has(`${ours}/ops/${key}/progress`));
    const running = await observe(shell, root);
    const fields = { name: 'verify-model', tree: 'model tiny fb8e20fc2e4c3f24', boot: session, done: '0', total: '2' };
    expect(read(running, jobsFact)).toEqual({
      kind: 'known',
      value: [{ key, fields: { ...fields, state: 'running' } }],
    });
    expect(read(running, leasesFact)).toEqual({
      kind: 'known',
      value: [{ fields: { run: exampleFence.run, token: String(exampleFence.token), owner: 'ana', heartbeat: '41' } }],
    });
    root.file('../go', '');
    await until(() => root.has(`${ours}/ops/${key}/rc`));
    expect(read(await observe(shell, root), jobsFact)).toEqual({
      kind: 'known',
      value: [{ key, fields: { ...fields, done: '2', state: 'ended', exit: '0' } }],
    });
  });

  it('do not start an extra process on a node without them', async () => {
    const root = newRoot(shell);
    await observe(shell, root);
    const started = root.started().map(({ tool }) => tool);
    const own = [
      'bin/cat',
      'bin/launchctl',
      'bin/ps',
      'bin/rm',
      'bin/sh',
      'bin/sleep',
      'usr/bin/awk',
      'usr/bin/mktemp',
      'usr/bin/wc',
      'usr/sbin/sysctl',
    ];
    expect(started.filter((tool) => !own.includes(tool))).toEqual([]);
    expect(started.filter((tool) => tool === 'bin/sh')).toHaveLength(4);
  });
});

describe('a rank', () => {
  it.each(scriptShells)("shows its group's suspended processes under $name", async (shell) => {
    const root = newRoot(shell);
    root.tool('bin/ps', "printf '%s\\n' '  7   7 Ss' '  8   7 T' '  9   9 T' ' 10   7 Ts+' ' 11   7 UT'");
    expect(read(await observe(shell, root), servicesFact)).toMatchObject({ value: [{ pid: 7, suspended: [8, 10] }] });
  });

  let server: Server;
  let port = 0;
  let asked: string[] = [];
  let inFlight = '';
  let gateway: object = {};
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.url === '/hangs') return;
      if (request.url?.startsWith('/gateway/') === true && request.headers['meshwright-own'] !== 'secret')
        response.end();
      else if (request.url === '/gateway/ask/kimi') response.end(`${inFlight}\n`);
      else if (request.url?.startsWith('/gateway/') === true) {
        const isProof = request.headers['meshwright-proof'] === 'traffic';
        response.writeHead(425).end(JSON.stringify({ running: 1, ...(isProof ? gateway : {}) }));
      } else response.end('{"choices":[\r\n{"message":{"content":"42\\u001b"}}]}\u0000\r\n'.replace('\u0000', ''));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  describe.each(scriptShells)('observed under $name', (shell) => {
    const seen = async (root: MacRoot) => {
      asked = [];
      const placements = read(await observe(shell, root), placementsFact);
      return placements.kind === 'known' ? placements.value[0] : placements;
    };

    it('is asked for one token if it is the leader and listens', async () => {
      const root = newRoot(shell, [`127.0.0.1.${port}`, '*.29500', '10.77.0.1.22']);
      member(root, { endpointPort: port });
      expect(await seen(root)).toMatchObject({ isListening: true, token: { kind: 'answered', text: '42\u001b' } });
      expect(asked).toEqual(['POST /v1/chat/completions']);
      expect(root.calls()).toEqual(['netstat -an -f inet -p tcp']);
    });

    it('is not asked for a token unless it is the leader and listens', async () => {
      const root = newRoot(shell, ['127.0.0.1.1']);
      member(root, { endpointPort: port, rank: 1 });
      expect(await seen(root)).toMatchObject({ isListening: false, token: { kind: 'not-asked' } });
      member(root, { endpointPort: port });
      expect(await seen(root)).toMatchObject({ token: { kind: 'silent', reason: `nothing listens on port ${port}` } });
      expect(asked).toEqual([]);
    });

    it('is not asked if it takes one request at a time and one may be in flight', async () => {
      const root = newRoot(shell, [`127.0.0.1.${port}`]);
      member(root, { endpointPort: port, requests: 'one' });
      expect(await seen(root)).toMatchObject({ token: { kind: 'answered' } });
      expect([asked.length, root.has(`tmp/meshwright-ask.${port}`)]).toEqual([1, false]);
      root.tool('bin/sleep', 'case $1 in (0.5) ;; (*) exec /bin/sleep "$@" ;; esac');
      const listens = `printf 'tcp4 0 0 127.0.0.1.${port} *.* LISTEN\\n'`;
      const connected = (state: string): string =>
        `${listens}; case $* in (-an*) ;; (*) printf 'tcp4 0 0 127.0.0.1.${port} 127.0.0.1.50123 ${state}\\n' ;; esac`;
      const tokenBeside = async (netstat: string) => {
        root.tool('usr/sbin/netstat', netstat);
        const found = await seen(root);
        return 'token' in (found ?? {}) ? (found as { token: unknown }).token : found;
      };
      expect(await tokenBeside(connected('ESTABLISHED'))).toEqual({
        kind: 'in-flight',
        reason: 'another request is in flight, so none was sent',
      });
      expect(await tokenBeside(connected('CLOSE_WAIT'))).toMatchObject({ kind: 'silent', isTimeout: true });
      expect(await tokenBeside(`case $* in (-an*) ${listens} ;; (*) exit 1 ;; esac`)).toEqual({
        kind: 'in-flight',
        reason: 'could not check whether a request is in flight',
      });
      root.tool('usr/sbin/netstat', listens);
      root.file(`tmp/meshwright-ask.${port}/x`, '');
      expect(await tokenBeside(listens)).toMatchObject({ kind: 'in-flight' });
      expect(asked).toEqual([]);
    });

    it('is asked through its gateway, which reports client tokens', async () => {
      const root = newRoot(shell, [`127.0.0.1.${port}`]);
      member(root, { endpointPort: port, requests: 'one' });
      root.file(gatewayKeysFile(port, 'kimi').path, '{}');
      root.file(gatewaySecret(port).path, 'meshwright-own: secret\n');
      inFlight = '1';
      gateway = { lastTokenMsAgo: 40 };
      expect(await seen(root)).toMatchObject({ token: { kind: 'in-flight', lastTokenMsAgo: 40 } });
      expect(asked).toEqual(['GET /gateway/ask/kimi', 'POST /gateway/ask/kimi/v1/chat/completions']);
      gateway = { ownMs: 31_000 };
      expect(await seen(root)).toMatchObject({
        token: { kind: 'silent', reason: 'an earlier check has waited 31 s for one', isTimeout: true },
      });
      gateway = {};
      expect(await seen(root)).toMatchObject({ token: { kind: 'in-flight' } });
      inFlight = '{"error":{"code":"unknown_url"}}';
      expect(await seen(root)).toMatchObject({ token: { kind: 'answered' } });
    });

    it('counts as silent after its own deadline if it hangs', async () => {
      const root = newRoot(shell, [`*.${port}`]);
      member(root, { endpointPort: port, tokenPath: '/hangs', tokenDeadlineMs: 500 });
      expect(await seen(root)).toMatchObject({
        token: { kind: 'silent', reason: 'none came before the deadline of 0.5 s', isTimeout: true },
      });
    });

    it('reports the first and last matching log lines since its start', async () => {
      const root = newRoot(shell);
      member(root, { rank: 1, logPattern: '^(joined|RDMA [a-z]+)' });
      const before = 'joined long ago\n';
      const lines = Array.from({ length: 60 }, (_, index) => `joined ${index}\nnoise\n`).join('');
      root.file(rankLog('kimi').path, `${before}${lines}RDMA activated \u001b[31m\n`);
      root.file(startFile('kimi').path, `boot=${session}\ntransport=tcp\nuntil=1\nlog=${before.length}\npid=7\n`);
      const numbers = [...Array(48).keys(), 53, 54, 55, 56, 57, 58, 59];
      expect(await seen(root)).toMatchObject({
        said: [...numbers.map((number) => `joined ${number}`), 'RDMA activated ?[31m'],
      });
      member(root, { rank: 1 });
      expect(await seen(root)).toMatchObject({ said: [] });
    });

    it('reports the transport of its previous start if one was recorded', async () => {
      const root = newRoot(shell);
      member(root, { rank: 1 });
      const mark = `boot=${session}\ntransport=rdma\nuntil=1\nlog=0\n`;
      root.file(startFile('kimi').path, `${mark}lastTalked=tcp\npid=7\n`);
      expect(await seen(root)).toMatchObject({ lastTalked: 'tcp' });
      root.file(startFile('kimi').path, `${mark}pid=7\n`);
      expect(await seen(root)).not.toHaveProperty('lastTalked');
    });

    it('reports the outcome of its last start and the boot session of an earlier failure', async () => {
      const root = newRoot(shell);
      member(root, { rank: 1 });
      const mark = `boot=${session}\ntransport=rdma\nuntil=1\nlog=0\n`;
      root.file(startFile('kimi').path, `${mark}failedIn=before\npid=7\noutcome=failed\n`);
      expect(await seen(root)).toMatchObject({ outcome: 'failed', failedIn: 'before' });
      root.file(startFile('kimi').path, `${mark}pid=7\noutcome=splendid\n`);
      expect(await seen(root)).not.toHaveProperty('outcome');
    });

    it('reports lines from both ends of a long log, but a complaint only from the end', async () => {
      const root = newRoot(shell);
      member(root, { rank: 1, logPattern: '^joined' });
      const noise = 'noise\n'.repeat(20_000);
      const complaint = 'RTR failed with errno 22\n';
      root.file(startFile('kimi').path, `boot=${session}\ntransport=tcp\nuntil=1\nlog=0\npid=7\n`);
      root.file(rankLog('kimi').path, `joined 1\n${complaint}${noise}joined 2\n${noise}joined 3\n`);
      const long = await seen(root);
      expect(long).toMatchObject({ said: ['joined 1', 'joined 3'] });
      expect(long).not.toHaveProperty('complaint');
      root.file(rankLog('kimi').path, `joined 1\n${noise}${complaint}`);
      expect(await seen(root)).toMatchObject({ said: ['joined 1'], complaint: 'RTR failed with errno 22' });
    });

    it('reports the GPU memory limit from the beginning of a long log if it was not raised', async () => {
      const root = newRoot(shell);
      member(root, { rank: 1 });
      const line = (value: string): string => `ggml_metal_device_init: recommendedMaxWorkingSetSize  = ${value} MB\n`;
      const before = line('11453.25');
      root.file(rankLog('kimi').path, `${before}${line('498216.21')}${'noise\n'.repeat(10_000)}${line('22906.50')}`);
      const mark = `boot=${session}\ntransport=tcp\nuntil=1\nlog=${before.length}\n`;
      for (const raised of ['', 'wired=\n', 'wired=475136\n']) {
        root.file(startFile('kimi').path, `${mark}${raised}pid=7\n`);
        expect(await seen(root)).not.toHaveProperty('gpuBytes');
      }
      root.file(startFile('kimi').path, `${mark}wired=0\npid=7\n`);
      expect(await seen(root)).toMatchObject({ gpuBytes: 498_216_210_000 });
      root.file(rankLog('kimi').path, `${before}${'noise\n'.repeat(10_000)}`);
      expect(await seen(root)).not.toHaveProperty('gpuBytes');
    });

    it('is meeting the other ranks while it listens only on its meeting port', async () => {
      const root = newRoot(shell, ['*.29501']);
      member(root, { rank: 1, meetPort: 29_501 });
      expect(await seen(root)).toMatchObject({ isListening: false, isMeeting: true });
    });

    it('is unknown if the listening ports cannot be read', async () => {
      const root = newRoot(shell);
      member(root, {});
      root.tool('usr/sbin/netstat', 'exit 1');
      expect(await seen(root)).toMatchObject({ kind: 'unknown', reason: 'failed' });
    });

    it('is unknown if its record is damaged', async () => {
      const root = newRoot(shell, []);
      const damages: readonly Partial<Record<keyof typeof exampleRecord, unknown>>[] = [
        { port: 65_536 },
        { endpointPort: 0 },
        { rank: 2 },
        { generation: 'many' },
        { digest: 'x' },
        { placement: 'other' },
        { tokenPath: 'v1' },
      ];
      for (const damage of damages) {
        member(root, damage as Partial<typeof exampleRecord>);
        expect([damage, await seen(root)]).toMatchObject([damage, { kind: 'unknown', reason: 'garbled' }]);
      }
    });
  });
});
