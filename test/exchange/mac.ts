import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { PeerPlan } from '../../src/model/node-script.ts';
import { firstProcess, type Ground, startBound } from '../namespace/host/ground.ts';
import { type ModelFile, sha256 } from './exchange.ts';

/** The program as it is sent to a Mac. */
const program = ['connections.pl', 'ssh.pl', 'chunks.pl', 'peer.pl']
  .map((name) => readFileSync(join(import.meta.dirname, '../../src/rack/artifacts/peers', name), 'utf8'))
  .join('');

interface MacOptions {
  readonly ground: Ground;
  readonly plan: PeerPlan;
  readonly files: readonly ModelFile[];
  readonly folder: string;
  readonly key: string;
}

/** A Mac of an exchange. This process plays root's part: it compares received files and moves them to the model. */
export interface Mac {
  readonly plan: PeerPlan;
  readonly key: string;
  /** Lines of the program's output except `progress`, since its last start. */
  readonly events: readonly string[];
  /** Starts the program, for the first time or again with its folder. */
  readonly start: () => void;
  readonly tell: (line: string) => void;
  /** Ends the program's input. */
  readonly hangUp: () => void;
  /** Kills the main process with SIGKILL; its children must notice by themselves. */
  readonly kill: () => Promise<void>;
  /** Resolves when the model's folder has every file with the right content. @throws Error if the program ends before */
  readonly complete: () => Promise<void>;
  readonly exited: () => Promise<void>;
  /** Bytes received from each Mac, as the program reported them at its end. */
  readonly receivedBytes: () => Readonly<Record<string, number>>;
  /** One character per chunk, from the program's own file. */
  readonly have: () => string;
  /** Resolves when this many chunks have arrived. */
  readonly has: (chunks: number) => Promise<void>;
  readonly write: (path: string, bytes: Buffer) => void;
  /** Writes a file as a download does, at this rate: its part grows, and gets its name at the end. */
  readonly grow: (file: ModelFile, megabits: number) => Promise<void>;
  /** The path of a file in the program's own folder. */
  readonly own: (name: string) => string;
  readonly model: (path: string) => string;
  /** Starts a perl program in the Mac's network; it ends with the exchange. */
  readonly perl: (text: string, args: readonly string[]) => ChildProcess;
  /** The same for a shell script. */
  readonly shell: (text: string) => ChildProcess;
  /** Living processes in the Mac's network. */
  readonly processes: () => readonly number[];
  /** Their command lines. */
  readonly commands: () => readonly string[];
}

export function createMac({ ground, plan, files, folder, key }: MacOptions): Mac {
  const net = `/proc/${ground.pid}/root/run/netns/${plan.self}`;
  const own = (name: string): string => join(folder, 'peers', 'own', name);
  const model = (path: string): string => join(folder, 'model', path);
  const inside = ['nsenter', `--net=${net}`, `--pid=/proc/${ground.pid}/ns/pid_for_children`];
  const spawnInside = (args: readonly string[]): ChildProcess => {
    const child = startBound([...inside, ...args], `exchange.${process.pid}.${plan.self}`, ['pipe', 'pipe', 'pipe']);
    child.stdin?.on('error', () => undefined);
    return child;
  };
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let errors = '';
  let events: string[] = [];
  const tell = (line: string): void => void child?.stdin?.write(`${line}\n`);
  const missing = new Set(files.keys());

  async function compare(number: number): Promise<void> {
    const file = files[number] as ModelFile;
    const received = await readFile(own(`data/${number}`));
    if (sha256(received) !== file.sha256) return tell(`wrong ${number}`);
    mkdirSync(dirname(model(file.path)), { recursive: true });
    renameSync(own(`data/${number}`), model(file.path));
    missing.delete(number);
    tell(`ok ${number}`);
  }

  function hear(line: string): void {
    const [what, value] = line.split(' ');
    if (what === 'progress') return;
    events.push(line);
    if (what === 'file' && missing.has(Number(value)))
      compare(Number(value)).catch((error: unknown) => events.push(`failed ${error}`));
  }

  async function until(isTrue: () => boolean, what: string): Promise<void> {
    while (!isTrue()) {
      if (child?.exitCode !== null || child.signalCode !== null) {
        throw new Error(`${plan.self} ended before it ${what}: ${events.join(', ')} ${errors}`);
      }
      await pause(3);
    }
  }

  /** After the chunks, the file has what this Mac knows about the Mac that downloads. */
  const state = /\d\d(?:\d\d:\d\d|-----)$/;
  const have = (): string => (existsSync(own('have')) ? readFileSync(own('have'), 'latin1').replace(state, '') : '');
  return {
    plan,
    key,
    get events() {
      return events;
    },
    start: () => {
      events = [];
      const args = [join(folder, 'peers'), join(folder, 'model'), '', '/bin/cp', '/usr/bin/ssh'];
      child = spawnInside(['/usr/bin/perl', '-e', program, ...args]);
      ended = once(child, 'close');
      if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', hear);
      child.stderr?.on('data', (bytes: Buffer) => {
        errors += bytes.toString('utf8');
      });
      for (const number of files.keys()) if (!missing.has(number)) tell(`ok ${number}`);
      tell('begin');
    },
    tell,
    hangUp: () => void child?.stdin?.end(),
    kill: async () => {
      const first = child?.pid === undefined ? undefined : firstProcess(child.pid);
      if (child === undefined || first === undefined) throw new Error(`${plan.self} does not run`);
      const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      process.kill(first, 'SIGKILL');
      await exited;
    },
    complete: () => until(() => missing.size === 0, 'was complete'),
    exited: async () => {
      await ended;
      if (errors !== '') throw new Error(`${plan.self}: ${errors}`);
    },
    receivedBytes: () =>
      Object.fromEntries(
        events.flatMap((line) => {
          const [what, node, bytes] = line.split(' ');
          return what === 'peer' ? [[node, Number(bytes)]] : [];
        }),
      ),
    have,
    has: (chunks) => until(() => have().split('1').length > chunks, `had ${chunks} chunks`),
    write: (path, bytes) => {
      mkdirSync(dirname(model(path)), { recursive: true });
      writeFileSync(model(path), bytes);
    },
    grow: async ({ path, bytes }, megabits) => {
      const part = `${model(path)}.part`;
      mkdirSync(dirname(part), { recursive: true });
      const began = performance.now();
      for (let at = 0; at < bytes.length; await pause(10)) {
        const due = Math.min(bytes.length, Math.round(((performance.now() - began) * megabits * 1_000) / 8));
        appendFileSync(part, bytes.subarray(at, due));
        at = due;
      }
      if (bytes.length === 0) writeFileSync(part, '');
      renameSync(part, model(path));
    },
    own,
    model,
    perl: (text, args) => spawnInside(['/usr/bin/perl', '-e', text, '--', ...args]),
    shell: (text) => spawnInside(['/bin/sh', '-c', text]),
    processes: () => processesIn(ground, plan.self),
    commands: () =>
      processesIn(ground, plan.self).map((pid) =>
        unlessGone(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')),
      ),
  };
}

/** What can be read of a process; empty if it has ended. */
function unlessGone(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** Living processes in a network; those that have ended and were not reaped have none. */
function processesIn(ground: Ground, name: string): readonly number[] {
  const table = readdirSync('/proc').filter((one) => /^[0-9]+$/u.test(one));
  const networkOf = (pid: string): string => unlessGone(() => readlinkSync(`/proc/${pid}/ns/net`));
  const wanted = `net:[${statSync(`/proc/${ground.pid}/root/run/netns/${name}`).ino}]`;
  return table.filter((pid) => networkOf(pid) === wanted).map(Number);
}
