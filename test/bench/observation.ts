import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quote } from '../../src/script/quote.ts';
import type { SshdRack } from './sshd-rack.ts';
import { builtCommand, type Run, type Start, timeRun, watchMemory } from './timed-process.ts';

/** Times of one round, in milliseconds: the product, then the system's ssh with the very commands of that run. */
export interface Pair {
  readonly meshwrightMs: number;
  /** With the algorithms that OpenSSH chooses by itself. */
  readonly sshMs: number;
  /** With the algorithms of the product: what is left when the cost of the key exchange is equal. */
  readonly sameAlgorithmsMs: number;
}

/** What the product and an OpenSSH server agree on (see src/remote/algorithms.ts). */
const sameAlgorithms = ['-o', 'KexAlgorithms=curve25519-sha256', '-o', 'Ciphers=aes128-gcm@openssh.com'];

const environment = (rack: SshdRack): Readonly<Record<string, string>> => ({
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: rack.folder,
  MESHWRIGHT_STATE: rack.stateFolder,
});

const recordFile = (rack: SshdRack): string => join(rack.folder, 'record.ndjson');

function factsStart(rack: SshdRack): Start {
  const words = ['facts', '--sim', '--json', '-f', rack.clusterFile, '--record', recordFile(rack)];
  return {
    file: process.execPath,
    args: [builtCommand, ...words],
    folder: rack.folder,
    env: environment(rack),
    stdout: join(rack.folder, 'facts.json'),
    stderr: join(rack.folder, 'facts.err'),
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** @throws Error unless the run ended well and every node's macOS version is known. */
function checkObserved(rack: SshdRack, run: Run, { stdout, stderr }: Start): void {
  const why = readFileSync(stderr, 'utf8').slice(0, 2_000);
  if (run.exitCode !== 0) throw new Error(`facts ended with ${run.exitCode}\n${why}`);
  const report: unknown = JSON.parse(readFileSync(stdout, 'utf8'));
  const seen = isRecord(report) && isRecord(report['nodes']) ? report['nodes'] : {};
  for (const name of Object.keys(rack.nodes)) {
    const facts = seen[name];
    const version = isRecord(facts) ? facts['macos-version'] : undefined;
    if (!isRecord(version) || !('value' in version)) throw new Error(`${name} was not observed: ${why}`);
  }
}

/** The command that each node was sent, once each. @throws Error when a node was sent none or two. */
function sentCommands(rack: SshdRack): ReadonlyMap<string, string> {
  const sent = new Map<string, string>();
  for (const line of readFileSync(recordFile(rack), 'utf8').trim().split('\n')) {
    const value: unknown = JSON.parse(line);
    const { node, command } = isRecord(value) ? value : {};
    if (typeof node !== 'string' || typeof command !== 'string') throw new Error(`no record of a command: ${line}`);
    if (sent.has(node)) throw new Error(`${node} was sent two commands`);
    sent.set(node, command);
  }
  for (const name of Object.keys(rack.nodes)) if (!sent.has(name)) throw new Error(`${name} was sent no command`);
  return sent;
}

const outputFile = (rack: SshdRack, node: string): string => join(rack.folder, 'ssh', `${node}.out`);

/** One `ssh` process per node, all started together by a shell that then waits for all of them. */
function rawScript(rack: SshdRack, commands: ReadonlyMap<string, string>, more: readonly string[]): string {
  const options = [
    ...['-F', 'none', '-i', rack.userKey.file],
    ...['BatchMode=yes', 'IdentitiesOnly=yes', 'StrictHostKeyChecking=yes'].flatMap((option) => ['-o', option]),
    ...['-o', `UserKnownHostsFile=${rack.knownHosts}`, '-o', 'GlobalKnownHostsFile=none'],
    ...more,
  ];
  const lines = Object.entries(rack.nodes).map(([name, { port, user }]) => {
    const words = [...options, '-p', String(port), `${user}@127.0.0.1`, commands.get(name) ?? ''];
    const out = outputFile(rack, name);
    return `ssh ${words.map(quote).join(' ')} </dev/null >${quote(out)} 2>${quote(`${out}.err`)} &\np="$p $!"`;
  });
  return `s=0 p=\n${lines.join('\n')}\nfor i in $p; do wait "$i" || s=1; done\nexit $s\n`;
}

/** @throws Error unless every ssh brought the whole answer of its node. */
function checkAnswers(rack: SshdRack, run: Run, commands: ReadonlyMap<string, string>): void {
  for (const [name, command] of commands) {
    const token = /\nT=([0-9a-f]{32})\n/u.exec(command)?.[1];
    const output = readFileSync(outputFile(rack, name), 'latin1');
    if (run.exitCode !== 0 || token === undefined || !output.endsWith(`\n${token} end\n`)) {
      throw new Error(
        `ssh to ${name} brought no whole answer\n${readFileSync(`${outputFile(rack, name)}.err`, 'utf8')}`,
      );
    }
  }
}

async function timeSsh(
  rack: SshdRack,
  commands: ReadonlyMap<string, string>,
  options: readonly string[],
): Promise<number> {
  const script = join(rack.folder, 'raw.sh');
  writeFileSync(script, rawScript(rack, commands, options));
  const run = await timeRun({
    file: '/bin/sh',
    args: [script],
    folder: rack.folder,
    env: environment(rack),
    stdout: join(rack.folder, 'raw.out'),
    stderr: join(rack.folder, 'raw.err'),
  });
  checkAnswers(rack, run, commands);
  return run.ms;
}

/** Runs the product, then twice the same commands through the system's ssh, and checks all answers. */
export async function timePair(rack: SshdRack): Promise<Pair> {
  rmSync(recordFile(rack), { force: true });
  mkdirSync(join(rack.folder, 'ssh'), { recursive: true });
  const facts = factsStart(rack);
  const ours = await timeRun(facts);
  checkObserved(rack, ours, facts);
  const commands = sentCommands(rack);
  const sshMs = await timeSsh(rack, commands, []);
  const sameAlgorithmsMs = await timeSsh(rack, commands, sameAlgorithms);
  return { meshwrightMs: ours.ms, sshMs, sameAlgorithmsMs };
}

/** Peak of resident memory of one observation, in bytes; undefined where the machine does not tell. */
export async function observationMemory(rack: SshdRack): Promise<number | undefined> {
  const facts = factsStart(rack);
  const run = await watchMemory(facts);
  checkObserved(rack, run, facts);
  return run.peakBytes;
}
