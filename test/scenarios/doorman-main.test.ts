import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { upstreamAt } from './doorman-door.ts';

const program = fileURLToPath(new URL('../../dist/doorman/doorman.mjs', import.meta.url));

it('says at once why it cannot listen, unless its port is only taken', () => {
  const folder = mkdtempSync(join(tmpdir(), 'doorman-'));
  const [keysFolder, closedFolder, countsFile] = ['keys', 'closed', 'counts.json'].map((name) => join(folder, name));
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify({ upstreams: [upstreamAt(1)], keysFolder, closedFolder, countsFile }));
  // 192.0.2.1 is an example address, which no computer has (RFC 5737).
  const ended = spawnSync(process.execPath, [program, config, '192.0.2.1:0'], { encoding: 'utf8', timeout: 60_000 });
  expect([ended.status, ended.stderr]).toEqual([1, expect.stringMatching(/^doorman: .*EADDRNOTAVAIL.*\n$/)]);
});
