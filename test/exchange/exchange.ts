import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Digest, digest } from '../../src/model/digest.ts';
import type { PeerPlan } from '../../src/model/node-script.ts';
import { exchangeText } from '../../src/rack/artifacts/peers/peer-scripts.ts';
import { type Ground, openGround } from '../namespace/host/ground.ts';
import { layCables, macName, plansOf, type Topology } from './cables.ts';
import { openLogins } from './logins.ts';
import { createMac, type Mac } from './mac.ts';

export const mebibyte = 1_048_576;
export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export interface ModelFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly sha256: Digest;
}

/** Different bytes in every chunk, made from a seed much faster than they are hashed. */
export function makeFile(path: string, size: number): ModelFile {
  const bytes = randomBytes(size);
  return { path, bytes, sha256: digest(sha256(bytes)) };
}

export interface ExchangeOptions {
  readonly topology: Topology;
  readonly files: readonly ModelFile[];
  /** Changes the plan of a Mac before it is written. */
  readonly planText?: (text: string, plan: PeerPlan) => string;
  /** The origins have no files yet; {@link Exchange.growFiles} writes them. */
  readonly isGrowing?: boolean;
}

/** Macs with `peer.pl` as their only program, and the network between them. */
export interface Exchange {
  readonly macs: readonly Mac[];
  /** @throws Error unless there is a Mac with this number; the first has number 1. */
  readonly mac: (number: number) => Mac;
  readonly receivers: readonly Mac[];
  readonly ground: Ground;
  readonly totalBytes: number;
  /** Starts every Mac's program. */
  readonly start: () => void;
  /** Resolves when every receiver has every file, and their programs have ended by themselves. With a list, only these
   * Macs are waited for, and their programs end at once, without the usual wait for Macs that are gone. */
  readonly finish: (survivors?: readonly Mac[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** @throws Error if the kernel refuses namespaces. */
export async function openExchange({ topology, files, planText, isGrowing }: ExchangeOptions): Promise<Exchange> {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-exchange-'));
  const runId = `exchange.${process.pid}`;
  const ground = await openGround(runId, true);
  const close = async (): Promise<void> => {
    await ground.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await ground.run(layCables(topology));
  } catch (error) {
    await close();
    throw error;
  }
  const tree = files.map(({ path, bytes, sha256: wanted }) => ({ path, sha256: wanted, sizeBytes: bytes.length }));
  const key = randomBytes(32).toString('hex');
  const macs = plansOf(topology).map((plan) => {
    const own = join(folder, plan.self);
    mkdirSync(join(own, 'peers', 'own'), { recursive: true });
    mkdirSync(join(own, 'model'));
    const text = exchangeText(plan, tree);
    writeFileSync(join(own, 'peers', 'plan'), planText?.(text, plan) ?? text);
    writeFileSync(join(own, 'peers', 'key'), `${key}\n`);
    const mac = createMac({ ground, plan, files, folder: own, key });
    if (plan.role === 'serve' && !isGrowing) for (const file of files) mac.write(file.path, file.bytes);
    return mac;
  });
  if (topology.kind === 'ssh') openLogins(macs);
  const receivers = macs.filter(({ plan }) => plan.role === 'receive');
  const origins = macs.filter(({ plan }) => plan.role === 'serve');
  return {
    macs,
    receivers,
    ground,
    totalBytes: files.reduce((sum, { bytes }) => sum + bytes.length, 0),
    mac: (number) => {
      const found = macs.find(({ plan }) => plan.self === macName(number));
      if (found === undefined) throw new Error(`no Mac ${number}`);
      return found;
    },
    start: () => {
      for (const mac of macs) mac.start();
    },
    finish: async (survivors) => {
      const waited = survivors ?? receivers;
      await Promise.all(waited.map((mac) => mac.complete()));
      for (const mac of [...origins, ...waited]) {
        if (survivors === undefined) mac.tell('finish');
        else mac.hangUp();
      }
      await Promise.all(waited.map((mac) => mac.exited()));
    },
    close,
  };
}
