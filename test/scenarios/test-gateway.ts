import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { type GatewayLimits, type RunningGateway, startGateway, usualLimits } from '../../src/gateway/gateway.ts';
import type { GatewayUpstream } from '../../src/model/gateway.ts';
import { hashOf } from '../unit/gateway/hash-of.ts';
import { startUpstream, type UpstreamOptions } from './gateway-upstream.ts';

const secret = 'c2VjcmV0IG9mIHRoZSBub2RlLCAzMiBieXRlcyBsb25nISE=';

/** The header with the secret of the node. */
export const ownHeaders = { 'meshwright-own': secret };

/** The file that the gateway reads it from. */
export const ownText = `meshwright-own: ${secret}\n`;

/** The key of every test. */
export const rightKey = 'key-of-the-tests-0123456789';

/** A gateway of the tests, with the files that meshwright would install. */
export interface TestGateway {
  readonly running: RunningGateway;
  readonly url: string;
  readonly client: OpenAI;
  readonly clientWith: (apiKey: string) => OpenAI;
  readonly setKeys: (keys: Readonly<Record<string, readonly string[] | 'anybody'>>) => void;
  readonly closeGateway: (placement: string, reason: string) => void;
  readonly openGateway: (placement: string) => void;
  readonly keysFolder: string;
  readonly countsFile: string;
  readonly status: () => Promise<TestStatus>;
  readonly end: () => Promise<void>;
}

/** The answer of `GET /gateway/status`. */
export interface TestStatus {
  readonly strangers: number;
  readonly placements: readonly {
    readonly placement: string;
    readonly closed?: string;
    readonly running: number;
    readonly waiting: number;
    readonly lastByteMsAgo?: number;
    readonly quietMs?: number;
    readonly streamQuietMs?: number;
    readonly counts: {
      readonly requests: number;
      readonly failed: number;
      readonly refused: number;
      readonly tokens: number;
      readonly firstToken: { readonly count: number; readonly totalMs: number };
      readonly generating: { readonly tokens: number };
    };
  }[];
}

/** An upstream as in the configuration of a gateway. */
export const upstreamAt = (port: number, more: Partial<GatewayUpstream> = {}): GatewayUpstream => ({
  placement: 'chat',
  servedName: 'tiny',
  port,
  model: 'default_model',
  ownPaths: ['/v1/chat/completions'],
  cancels: 'always',
  maxRequests: 4,
  ...more,
});

/** Starts a gateway on loopback, with {@link rightKey} for all of its placements. */
export async function startTestGateway(
  upstreams: readonly GatewayUpstream[],
  limits: Partial<GatewayLimits> = {},
  proxies: readonly string[] = [],
): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  const [keysFolder, closedFolder, countsFile] = ['keys', 'closed', 'counts'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [keysFolder, closedFolder]) mkdirSync(made);
  const put = (path: string, text: string): void => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };
  const setKeys: TestGateway['setKeys'] = (all) => {
    for (const [placement, keys] of Object.entries(all)) put(join(keysFolder, placement), JSON.stringify({ keys }));
  };
  const ownFile = join(folder, 'own');
  put(ownFile, ownText);
  setKeys(Object.fromEntries(upstreams.map(({ placement }) => [placement, [hashOf(rightKey)]])));
  const listen = { address: '127.0.0.1', port: 0 };
  const running = await startGateway(
    { listen, upstreams, keysFolder, closedFolder, countsFile, ownFile, proxies },
    { ...usualLimits, graceMs: 5_000, ...limits },
  );
  const url = `http://127.0.0.1:${running.port}`;
  const clientWith = (apiKey: string): OpenAI => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  return {
    running,
    url,
    clientWith,
    client: clientWith(rightKey),
    setKeys,
    closeGateway: (placement, reason) => put(join(closedFolder, placement), `${reason}\n`),
    openGateway: (placement) => rmSync(join(closedFolder, placement)),
    keysFolder,
    countsFile,
    status: async () => (await (await fetch(`${url}/gateway/status`, { headers: ownHeaders })).json()) as TestStatus,
    end: async () => {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts gateways, each with a runtime behind it. `endAll` stops everything in `open`, for the end of a test. */
export function openGateways(usual: Partial<GatewayUpstream> = {}) {
  const open: { readonly end: () => Promise<void> }[] = [];
  return {
    open,
    endAll: async () => {
      for (const one of open.splice(0)) await one.end();
    },
    opened: async (options: UpstreamOptions = {}, more: Partial<GatewayUpstream> = {}) => {
      const upstream = await startUpstream(options);
      const gateway = await startTestGateway([upstreamAt(upstream.port, { ...usual, ...more })]);
      open.push(gateway, { end: upstream.close });
      return { gateway, upstream };
    },
  };
}

/** A short chat. */
export const chat = (model = 'tiny'): { model: string; messages: { role: 'user'; content: string }[] } => ({
  model,
  messages: [{ role: 'user', content: 'Say hello.' }],
});
