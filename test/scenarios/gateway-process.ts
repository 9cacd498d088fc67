import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GatewayUpstream } from '../../src/model/gateway.ts';
import { hashOf } from '../unit/gateway/hash-of.ts';
import { rightKey } from './test-gateway.ts';

const program = fileURLToPath(new URL('../../dist/gateway/gateway.mjs', import.meta.url));

/** A gateway in a separate process, started as launchd does. */
export interface GatewayProcess {
  readonly port: number;
  /** The gateway's peak memory in bytes; undefined if the system does not report it. */
  readonly peakBytes: () => number | undefined;
  readonly end: () => void;
}

/** The key of a placement: {@link rightKey} for the usual one. */
export const keyTo = (placement: string): string =>
  placement === 'chat' ? rightKey : `key-of-${placement}-0123456789`;

/** Starts a gateway on loopback for placements, each with its own key. */
export async function startGatewayProcess(...upstreams: readonly GatewayUpstream[]): Promise<GatewayProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  const [keysFolder, closedFolder, countsFile] = ['keys', 'closed', 'counts'].map((name) => join(folder, name));
  mkdirSync(join(folder, 'keys'));
  for (const { placement } of upstreams) {
    writeFileSync(join(folder, 'keys', placement), JSON.stringify({ keys: [hashOf(keyTo(placement))] }));
  }
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify({ upstreams, keysFolder, closedFolder, countsFile }));
  const child = spawn(process.execPath, [program, config, '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [said] = await once(child.stderr, 'data');
  return {
    port: JSON.parse(String(said)).port,
    peakBytes: () => peakOf(child),
    end: () => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function peakOf({ pid }: ChildProcess): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}

/** The request head of a chat with a body of this many bytes, or in chunks. */
export const chatHead = (length: number | 'chunked'): string =>
  [
    'POST /v1/chat/completions HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${rightKey}`,
    'Content-Type: application/json',
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n');
