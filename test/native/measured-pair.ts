/** Runs the native link test at both ends of a cable of the fake verbs library. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Counts, type FakeDevice, linesOf } from './fake-verbs.ts';

type Program = ChildProcessByStdio<Writable, Readable, Readable>;

/** One end: its program, and what it printed. */
export interface MeasuredEnd {
  readonly status: number | null;
  readonly lines: readonly string[];
  readonly stderr: string;
  /** What the end opened and left open; undefined if it was killed. */
  readonly counts?: Counts;
}

export interface PairOptions {
  readonly seconds?: number;
  readonly library?: string;
  /** Called with both programs once each has printed a line with this word. */
  readonly at?: readonly [word: string, act: (ends: readonly [Program, Program]) => void];
}

const endAddresses = [1, 2].map((at) => Buffer.from(`00000000000000000000ffff0a4d000${at}`, 'hex'));

/** A healthy end; its GID table has the mapped address at index 1. */
export const healthyEnd = (at: 0 | 1, set: FakeDevice['set'] = {}): FakeDevice => ({
  name: `rdma_en${at + 2}`,
  gids: new Map([[1, endAddresses[at] as Buffer]]),
  peers: [endAddresses[1 - at] as Buffer],
  set: { state: 4, ...set },
});

const wordOf = (line: string): string => line.split(' ')[0] ?? '';

/** Starts one end, alone if it is not connected to another one. */
export function startEnd(folder: string, device: FakeDevice, role: string, options: PairOptions = {}) {
  const own = mkdtempSync(join(folder, 'end-'));
  mkdirSync(join(folder, 'wire'), { recursive: true });
  writeFileSync(join(own, 'input'), [...linesOf(device), ''].join('\n'));
  const env = {
    MESHWRIGHT_VERBS_LIBRARY: join(folder, `${options.library ?? 'fake-verbs'}.so`),
    MESHWRIGHT_FAKE_VERBS: join(own, 'input'),
    MESHWRIGHT_FAKE_VERBS_COUNTS: join(own, 'counts'),
    MESHWRIGHT_FAKE_VERBS_WIRE: join(folder, 'wire'),
  };
  const words = ['measure', device.name.toString(), '1', role, String(options.seconds ?? 0.05)];
  const program: Program = spawn(join(folder, 'meshwright-probe'), words, { env, stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  program.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes.toString();
  });
  program.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  // The other end may have exited already.
  program.stdin.on('error', () => undefined);
  const ended = once(program, 'close').then(([status]): MeasuredEnd => {
    const lines = stdout.split('\n').slice(0, -1);
    const end = { status: status as number | null, lines, stderr };
    return status === null ? end : { ...end, counts: JSON.parse(readFileSync(join(own, 'counts'), 'utf8')) as Counts };
  });
  return { program, ended, words: () => stdout.split('\n').map(wordOf) };
}

/** Measures between two devices; the first end leads. */
export async function measurePair(
  folder: string,
  devices: readonly [FakeDevice, FakeDevice],
  options: PairOptions = {},
): Promise<readonly [MeasuredEnd, MeasuredEnd]> {
  const [lead, follow] = [
    startEnd(folder, devices[0], 'lead', options),
    startEnd(folder, devices[1], 'follow', options),
  ];
  // `pipe` would stop reading from one end when the other one exits.
  for (const [from, to] of [
    [lead.program, follow.program],
    [follow.program, lead.program],
  ] as const) {
    from.stdout.on('data', (bytes: Buffer) => to.stdin.write(bytes));
    from.stdout.on('end', () => to.stdin.end());
  }
  const { at } = options;
  if (at !== undefined) {
    const [word, act] = at;
    let hasActed = false;
    const look = () => {
      if (hasActed || ![lead, follow].every((end) => end.words().includes(word))) return;
      hasActed = true;
      act([lead.program, follow.program]);
    };
    for (const { program } of [lead, follow]) program.stdout.on('data', look);
  }
  const ends = await Promise.all([lead.ended, follow.ended]);
  const sockets = readdirSync(join(folder, 'wire'));
  rmSync(join(folder, 'wire'), { recursive: true });
  // A killed end, and a queue pair that the driver does not take back, leave theirs.
  const excused = ends.filter(({ status, lines }) => status === null || lines.some((line) => wordOf(line) === 'left'));
  if (sockets.length > excused.length) throw new Error(`left on the wire: ${sockets.join(', ')}`);
  return ends;
}

/** The numbers after a word, from the one line that begins with it. */
export function numbersAfter(word: string, { lines }: MeasuredEnd): readonly number[] {
  const [line = ''] = lines.filter((one) => wordOf(one) === word);
  return line.split(' ').slice(1).map(Number);
}
