import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type FaultServer, type Faults, startFaultServer } from '../sshd/fault-server.ts';
import { makeKey } from '../sshd/start-sshd.ts';
import { codesOf, ended, json, meshwrightHere, start } from './meshwright.ts';
import { makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';

const place = makePlace();
const key = makeKey(place.home, 'own');
const hostKey = makeKey(place.home, 'host');
const lockPath = join(place.folder, 'cluster.lock');
const clusterPath = join(place.folder, 'cluster.yaml');

let server: FaultServer;
async function serve(faults: Faults): Promise<FaultServer> {
  server = await startFaultServer({ privateKey: readFileSync(hostKey.file, 'utf8'), pair: hostKey }, faults);
  return server;
}
afterEach(async () => {
  await server.stop();
  for (const file of [lockPath, clusterPath]) rmSync(file, { force: true });
});
afterAll(() => place.remove());

const words = (identity: string, ...more: string[]): string[] => [
  ...['enroll', '127.0.0.1', '--port', String(server.port), '--user', 'mesh', '--identity', identity],
  ...more,
];
const nodeOf = (document: unknown) =>
  (document as { nodes: Record<string, { login?: string; pin: string }> }).nodes['127.0.0.1'];

describe('enroll', () => {
  it('resolves --identity against the current folder, even if the cluster file is further up', async () => {
    await serve({});
    place.write('cluster.yaml', 'schema: 1\nname: rack\nnodes:\n  studio-1: { host: 127.0.0.9 }\n');
    const folder = join(place.folder, 'below');
    mkdirSync(folder);
    const ran = await meshwrightHere(place, words('../../home/own', '--yes'), { folder });
    expect([ran.code, ran.stderr]).toEqual([0, '']);
  });

  it('warns about a lock that others can write, and refuses it in CI', async () => {
    await serve({});
    const pin = `"[127.0.0.1]:${server.port}":\n    - "${hostKey.type} ${hostKey.base64}"`;
    place.write('cluster.lock', `lock: 1\nhostKeys:\n  ${pin}\n`);
    chmodSync(lockPath, 0o666);
    expect((await meshwrightHere(place, words(key.file))).stderr).toContain('cli/file-open-to-others');
    const inCi = await meshwrightHere(place, words(key.file), { env: { CI: 'true' } });
    expect([inCi.code, inCi.stderr.includes('cli/file-open-to-others')]).toEqual([65, true]);
    expect(server.logins.filter((one) => one === 'publickey:signed')).toHaveLength(1);
  });

  it('reports an unknown login, not a refused one, if the node drops the connection', async () => {
    let connections = 0;
    await serve({
      onSocket: (socket, speakSsh) => {
        connections += 1;
        if (connections === 1) speakSsh();
        else socket.destroy();
      },
    });
    const ran = await meshwrightHere(place, words(key.file, '--yes', '--json'));
    const document = json(ran);
    expect([ran.code, nodeOf(document), codesOf(nodeOf(document))]).toEqual([
      1,
      expect.objectContaining({ pin: 'added', login: 'unknown' }),
      ['ssh/dropped'],
    ]);
    expect(schemaCheck('enroll')(document)).toEqual([]);
  });

  it('pins nothing if Ctrl-C interrupts it while it waits for the host key', async () => {
    let isAsked = false;
    await serve({
      onSocket: () => {
        isAsked = true;
      },
    });
    const all = words(key.file, '--yes', '--json');
    const child = start(place, all);
    const end = ended(child, all);
    while (!isAsked) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill('SIGINT');
    const ran = await end;
    expect([ran.code, codesOf(nodeOf(json(ran))), existsSync(lockPath)]).toEqual([130, ['run/interrupted'], false]);
  });
});
