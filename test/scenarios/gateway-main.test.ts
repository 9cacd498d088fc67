import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createPortClaims } from '../../src/sim/hosts/link-table.ts';
import { until } from '../until.ts';
import { upstreamAt } from './test-gateway.ts';

const claims = createPortClaims();
afterAll(() => claims.close());

const program = fileURLToPath(new URL('../../dist/gateway/gateway.mjs', import.meta.url));

/** Writes the files of a gateway with one placement. @returns the arguments that start it at an address */
function gatewayAt(address: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [keysFolder, closedFolder, countsFile] = ['keys', 'closed', 'counts.json'].map((name) => join(folder, name));
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify({ upstreams: [upstreamAt(1)], keysFolder, closedFolder, countsFile }));
  return [program, config, address];
}

const common = { time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), placements: ['chat'] };
const refusal = expect.stringContaining('EADDRNOTAVAIL');

/** The lines that a gateway logged. */
const lines = (text: string): readonly unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

it('a gateway immediately logs why it cannot listen', () => {
  // 192.0.2.1 is an example address, which no computer has (RFC 5737).
  const ended = spawnSync(process.execPath, gatewayAt('192.0.2.1:0'), { encoding: 'utf8', timeout: 120_000 });
  expect([ended.status, lines(ended.stderr)]).toEqual([
    1,
    [{ ...common, level: 'error', placements: [], event: 'failed', reason: refusal, msg: refusal }],
  ]);
});

it('a gateway waits for an occupied port, opens no debugger, and leaves no core file', async () => {
  const port = await claims.take();
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  const child = spawn(process.execPath, gatewayAt(`127.0.0.1:${port}`), { stdio: ['ignore', 'ignore', 'pipe'] });
  let logged = '';
  child.stderr.on('data', (text) => {
    logged += text;
  });
  await until(() => logged !== '');
  // trust L2: Node would open its debugger at 127.0.0.1:9229 and log this.
  child.kill('SIGUSR1');
  other.close();
  await until(() => logged.includes('listening'));
  // Without a handler, Node would die by SIGQUIT.
  child.kill('SIGQUIT');
  expect(await once(child, 'close')).toEqual([0, null]);
  const at = `127.0.0.1:${port}`;
  expect(lines(logged)).toEqual([
    { ...common, level: 'warn', event: 'port-taken', port, msg: `port ${port} is taken; waiting for it` },
    { ...common, level: 'info', event: 'listening', address: '127.0.0.1', port, msg: `listening on ${at}` },
    { ...common, level: 'info', event: 'stopping', msg: 'stopping' },
  ]);
});

it.runIf(existsSync('/dev/full'))('a gateway listens even if its log cannot be written', async () => {
  const port = await claims.take();
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const child = spawn(process.execPath, gatewayAt(`127.0.0.1:${port}`), { stdio: ['ignore', 'ignore', full] });
  const status = (): Promise<number> =>
    fetch(`http://127.0.0.1:${port}/gateway/status`).then(
      (answer) => answer.status,
      () => 0,
    );
  await until(async () => (await status()) === 401);
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([0, null]);
});
