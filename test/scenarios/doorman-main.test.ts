import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { until, upstreamAt } from './doorman-door.ts';

const program = fileURLToPath(new URL('../../dist/doorman/doorman.mjs', import.meta.url));

/** Writes the files of a gateway with one placement. @returns the words that start it at an address */
function gatewayAt(address: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'doorman-'));
  const [keysFolder, closedFolder, countsFile] = ['keys', 'closed', 'counts.json'].map((name) => join(folder, name));
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify({ upstreams: [upstreamAt(1)], keysFolder, closedFolder, countsFile }));
  return [program, config, address];
}

const told = { time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), placements: ['chat'] };
const refusal = expect.stringContaining('EADDRNOTAVAIL');

/** What a gateway has logged. */
const lines = (text: string): readonly unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

it('says at once why it cannot listen', () => {
  // 192.0.2.1 is an example address, which no computer has (RFC 5737).
  const ended = spawnSync(process.execPath, gatewayAt('192.0.2.1:0'), { encoding: 'utf8', timeout: 60_000 });
  expect([ended.status, lines(ended.stderr)]).toEqual([
    1,
    [{ ...told, level: 'error', placements: [], event: 'failed', reason: refusal, msg: refusal }],
  ]);
});

it('says once that its port is taken, listens there as soon as it is free, and opens no debugger and leaves no core file (case 34)', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const child = spawn(process.execPath, gatewayAt(`127.0.0.1:${port}`), { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  await until(() => said !== '');
  // trust L2: Node would listen at 127.0.0.1:9229, and say so.
  child.kill('SIGUSR1');
  other.close();
  await until(() => said.includes('listening'));
  // By itself Node would end with SIGQUIT.
  child.kill('SIGQUIT');
  expect(await once(child, 'close')).toEqual([0, null]);
  const at = `127.0.0.1:${port}`;
  expect(lines(said)).toEqual([
    { ...told, level: 'warn', event: 'port-taken', port, msg: `port ${port} is taken; waiting for it` },
    { ...told, level: 'info', event: 'listening', address: '127.0.0.1', port, msg: `listening on ${at}` },
    { ...told, level: 'info', event: 'stopping', msg: 'stopping' },
  ]);
});

it.runIf(existsSync('/dev/full'))('listens, also when nothing can be written to its log', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const address = free.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  free.close();
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, gatewayAt(`127.0.0.1:${port}`), { stdio: ['ignore', 'ignore', full] });
  const status = (): Promise<number> =>
    fetch(`http://127.0.0.1:${port}/doorman/status`).then(
      (answer) => answer.status,
      () => 0,
    );
  await until(async () => (await status()) === 200);
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([0, null]);
});
