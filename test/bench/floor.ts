import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quote } from '../../src/node/quote.ts';
import type { SshdRack } from './sshd-rack.ts';
import { builtCommand, type Run, type Start, timeRun } from './timed-process.ts';

/** Times of one round, in milliseconds: the product, then the system's ssh with the same commands. */
export interface Pair {
  readonly meshwrightMs: number;
  /** The time of ssh with OpenSSH's default algorithms. */
  readonly sshMs: number;
  /** The time of ssh with the product's algorithms, so that the key exchange costs both the same. */
  readonly sameAlgorithmsMs: number;
}

/** The algorithms that the product and an OpenSSH server negotiate (see src/remote/ssh2.ts). */
const sameAlgorithms = ['-o', 'KexAlgorithms=curve25519-sha256', '-o', 'Ciphers=aes128-gcm@openssh.com'];

const environment = (rack: SshdRack): Readonly<Record<string, string>> => ({
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: rack.folder,
  MESHWRIGHT_STATE: rack.stateFolder,
});

const recordFile = (rack: SshdRack): string => join(rack.folder, 'record.ndjson');

/** Runs a command over the rack, with JSON output and a record of every sent command. */
export function verbStart(rack: SshdRack, ...words: readonly string[]): Start {
  rmSync(recordFile(rack), { force: true });
  return {
    file: process.execPath,
    args: [builtCommand, ...words, '--sim', '--json', '-f', rack.clusterFile, '--record', recordFile(rack)],
    folder: rack.folder,
    env: environment(rack),
    stdout: join(rack.folder, 'verb.json'),
    stderr: join(rack.folder, 'verb.err'),
  };
}

/** True if a JSON value is an object. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Parses the document of a command. @throws Error unless the command exited with 0 */
export function documentOf({ exitCode }: Run, { args, stdout, stderr }: Start): Readonly<Record<string, unknown>> {
  const said = readFileSync(stdout, 'utf8');
  if (exitCode !== 0) {
    throw new Error(`${args[1]} exited with ${exitCode}\n${readFileSync(stderr, 'utf8')}${said}`.slice(0, 4_000));
  }
  const value: unknown = JSON.parse(said);
  return isRecord(value) ? value : {};
}

/** The command sent to each node. @throws Error unless each node got exactly one. */
function sentCommands(rack: SshdRack): ReadonlyMap<string, string> {
  const sent = new Map<string, string>();
  for (const line of readFileSync(recordFile(rack), 'utf8').trim().split('\n')) {
    const value: unknown = JSON.parse(line);
    const { node, command } = isRecord(value) ? value : {};
    if (typeof node !== 'string' || typeof command !== 'string') throw new Error(`no record of a command: ${line}`);
    if (sent.has(node)) throw new Error(`${node} received two commands`);
    sent.set(node, command);
  }
  for (const name of Object.keys(rack.nodes)) if (!sent.has(name)) throw new Error(`${name} received no command`);
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

/** @throws Error unless every ssh returned the whole answer of its node. */
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

/** Times of the floor: the same commands through the system's ssh, twice, with all answers checked. */
export async function timeFloor(rack: SshdRack): Promise<Omit<Pair, 'meshwrightMs'>> {
  mkdirSync(join(rack.folder, 'ssh'), { recursive: true });
  const commands = sentCommands(rack);
  const sshMs = await timeSsh(rack, commands, []);
  const sameAlgorithmsMs = await timeSsh(rack, commands, sameAlgorithms);
  return { sshMs, sameAlgorithmsMs };
}
