import { once } from 'node:events';
import { appendFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { makeKeyPair } from '../../src/remote/keys/exchange-key.ts';
import { switchAddress, type Topology } from '../exchange/cables.ts';
import { makeFile, mebibyte, openExchange } from '../exchange/exchange.ts';
import type { Mac } from '../exchange/mac.ts';
import { hasSshd } from '../sshd/start-sshd.ts';

/** One model that went from one Mac to all others, in seconds. */
export interface ExchangeTime {
  readonly name: string;
  readonly seconds: number;
  /** How long one cable, or what bounds the exchange in theory, needs for the model. */
  readonly boundSeconds: number;
  /** What `seconds` may be, divided by `boundSeconds`. */
  readonly limit: number;
}

interface Case extends Topology {
  readonly name: string;
  readonly megabits: number;
  readonly mebibytes: number;
  readonly limit: number;
  /** The bound, divided by the time that one cable needs. */
  readonly bound?: number;
  /** The rate at which the first Mac downloads the model in the meantime. */
  readonly uplinkMegabits?: number;
}

/** Rates are low, so that the cables are the limit and not this machine, which computes for all Macs. */
const cases: readonly Case[] = [
  { name: '4 on a switch', kind: 'switch', macs: 4, megabits: 200, mebibytes: 128, limit: 1.15 },
  { name: '7 on a switch', kind: 'switch', macs: 7, megabits: 100, mebibytes: 128, limit: 1.2 },
  { name: 'mesh of 4', kind: 'mesh', macs: 4, megabits: 200, mebibytes: 256, limit: 0.5 },
  { name: 'mesh of 7', kind: 'mesh', macs: 7, megabits: 50, mebibytes: 128, limit: 0.25 },
  {
    name: 'slow cable, by its bound',
    kind: 'mesh',
    macs: 4,
    megabits: 100,
    slow: [{ between: [1, 2], megabits: 25 }],
    mebibytes: 128,
    // Two cables and a quarter leave the origin.
    bound: 1 / 2.25,
    limit: 1.15,
  },
  {
    name: 'while it downloads',
    kind: 'mesh',
    macs: 4,
    megabits: 100,
    uplinkMegabits: 200,
    mebibytes: 128,
    bound: 1 / 2,
    limit: 1.1,
  },
];

async function timeCase({
  name,
  mebibytes,
  limit,
  bound = 1,
  uplinkMegabits,
  ...topology
}: Case): Promise<ExchangeTime> {
  const files = [1, 1, 2].map((quarters, at) => makeFile(`${at}.bin`, (mebibytes / 4) * quarters * mebibyte));
  const exchange = await openExchange({ topology, files, isGrowing: uplinkMegabits !== undefined });
  try {
    const begunAt = performance.now();
    exchange.start();
    if (uplinkMegabits !== undefined) for (const file of files) await exchange.mac(1).grow(file, uplinkMegabits);
    await Promise.all(exchange.receivers.map((mac) => mac.complete()));
    const seconds = (performance.now() - begunAt) / 1_000;
    return { name, seconds, limit, boundSeconds: (bound * exchange.totalBytes * 8) / (topology.megabits * 1e6) };
  } finally {
    await exchange.close();
  }
}

/** A way to copy one file from a Mac to another with programs that every Mac has. */
interface Pipeline {
  readonly name: string;
  readonly kind: Topology['kind'];
  readonly limit: number;
  /** Resolves to the milliseconds that it took. */
  readonly copy: (path: string, from: Mac, to: Mac) => Promise<number>;
}

const listenPort = 9_999;

/** `nc` sends the file, `tee` writes it, and `shasum` hashes it at both ends. */
const byNc: Pipeline = {
  name: 'one cable without a limit, by nc and shasum',
  kind: 'mesh',
  limit: 1.25,
  copy: async (path, from, to) => {
    const receiver = to.shell(`nc -l ${listenPort} | tee '${to.model('copy')}' | shasum -a 256 >&2`);
    await pause(500);
    const beganAt = performance.now();
    from.shell(`bash -c "tee >(shasum -a 256 >&2) <'${from.model(path)}' | nc -N ${to.plan.listen[0]} ${listenPort}"`);
    await once(receiver, 'close');
    return performance.now() - beganAt;
  },
};

/** `ssh` sends the file with the cipher of the exchange, `tee` writes it, and `shasum` hashes it at both ends. */
const bySsh: Pipeline = {
  name: 'over SSH, by ssh and shasum',
  kind: 'ssh',
  limit: 1.25,
  copy: async (path, from, to) => {
    const key = makeKeyPair();
    const identity = to.own('copy-key');
    writeFileSync(identity, key.privateKey, { mode: 0o600 });
    appendFileSync(from.own('../../sshd/authorized_keys'), `${key.publicKey}\n`);
    const options = ['BatchMode=yes', `UserKnownHostsFile=${to.own('../ssh-hosts')}`, `HostKeyAlias=${from.plan.self}`];
    const words = options.map((one) => `-o '${one}'`).join(' ');
    const ssh = `ssh -F /dev/null -c aes128-gcm@openssh.com -i '${identity}' ${words} root@${switchAddress(from.plan.self)}`;
    // sshd starts meanwhile.
    await pause(1_000);
    const beganAt = performance.now();
    const sent = `bash -c \\"tee >(shasum -a 256 >&2) <'${from.model(path)}'\\"`;
    await once(to.shell(`${ssh} "${sent}" | tee '${to.model('copy')}' | shasum -a 256 >&2`), 'close');
    const ms = performance.now() - beganAt;
    if (statSync(to.model('copy')).size !== statSync(from.model(path)).size) throw new Error('ssh sent no whole file');
    return ms;
  },
};

/**
 * One file between two Macs by the exchange, and by other programs in the same network. @returns how often the
 * exchange takes the time of the other, at the median of rounds
 */
async function comparePipeline({ name, kind, limit, copy }: Pipeline, rounds: number): Promise<ExchangeTime> {
  const file = makeFile('model.bin', 512 * mebibyte);
  // As for a large model.
  const planText = (text: string): string =>
    text.replace(/^chunk .*/mu, `chunk ${64 * mebibyte}`).replace(/^streams .*/mu, 'streams 4');
  const times: { readonly own: number; readonly stock: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const exchange = await openExchange({ topology: { kind, macs: 2 }, files: [file], planText });
    try {
      const [from, to] = [exchange.mac(1), exchange.mac(2)];
      const stock = await copy(file.path, from, to);
      const ownAt = performance.now();
      exchange.start();
      await to.has(file.bytes.length / mebibyte / 64);
      times.push({ own: performance.now() - ownAt, stock });
      await to.complete();
    } finally {
      await exchange.close();
    }
  }
  const { own, stock } = times.toSorted((one, other) => one.own / one.stock - other.own / other.stock)[
    Math.floor(rounds / 2)
  ] as { own: number; stock: number };
  return { name, seconds: own / 1_000, boundSeconds: stock / 1_000, limit };
}

/** Measures exchanges one after the other; none where the kernel allows no namespaces. */
export async function measureExchanges(say: (text: string) => void): Promise<readonly ExchangeTime[]> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return [];
  const times: ExchangeTime[] = [];
  for (const one of cases) {
    say('.');
    times.push(await timeCase(one));
  }
  for (const one of [...(existsSync('/usr/bin/nc') ? [byNc] : []), ...(hasSshd() ? [bySsh] : [])]) {
    say('.');
    times.push(await comparePipeline(one, 3));
  }
  return times;
}
