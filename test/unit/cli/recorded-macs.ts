import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';
import { simLockPlace } from '../../../src/cli/cluster/open-cluster.ts';
import { simFolder } from '../../../src/cli/files/places.ts';
import { renderLock } from '../../../src/config/lock-text.ts';
import { allProbes, unaskingProbes } from '../../../src/engine/observe/facts.ts';
import type { ClusterLock } from '../../../src/model/cluster-lock.ts';
import { scriptCommand } from '../../../src/node/paths/node-paths.ts';
import { writeRunFile } from '../../../src/sim/hosts/control/run-folder.ts';
import { processStart } from '../../../src/sim/hosts/processes.ts';
import { meshwrightHere } from '../../cli/meshwright.ts';
import { makePlace } from '../../cli/place.ts';
import { printFrames, tokenIn } from '../../hostile/recorded-frames.ts';
import { type FaultExec, type FaultServer, type Faults, startFaultServer } from '../../sshd/fault-server.ts';
import { makeSshCase } from '../../sshd/ssh-case.ts';
import { loadFactCase, type Printed } from '../engine/observe/fact-cases.ts';

/** One Mac: `off` refuses connections, and `locked` refuses keys. */
type RecordedMac = 'off' | 'locked' | Answering;

interface Answering {
  /** Titles of recorded cases, such as `leases/held`, whose output answers observations. */
  readonly cases: readonly string[];
  /** The output of further probes, by probe. */
  readonly printed?: Readonly<Record<string, string>>;
  /** The output of other commands; the first answer whose name is in the command or its input counts. */
  readonly answers?: Readonly<Record<string, string | Partial<Printed>>>;
}

const probes = [...allProbes(), ...unaskingProbes()].map(
  ({ name, ask }) => [name, `r ${scriptCommand(ask)}\n`] as const,
);

/** The probes of an observation in their order; the search for models comes last. */
function probesIn(script: string): readonly string[] {
  const found = probes.flatMap(([name, line]) => (script.includes(line) ? [{ name, at: script.indexOf(line) }] : []));
  const names = [...new Set(found.sort((a, b) => a.at - b.at).map(({ name }) => name))];
  const count = Number(/ begin 1 (\d+)\\n/.exec(script)?.[1]);
  return names.length === count ? names : [...names, 'model-copies'];
}

/** The output of each probe in these cases, joined if several cases have output of the same probe. */
function outputs(cases: readonly string[], printed: Readonly<Record<string, string>>): ReadonlyMap<string, Printed> {
  const written = Object.entries(printed).map(([name, stdout]) => [name, { stdout, stderr: '', code: 0 }] as const);
  const all = new Map<string, Printed>(written);
  for (const [name, one] of cases.flatMap((title) => [...loadFactCase(title).printed])) {
    const before = all.get(name)?.stdout.replace(/^end\n$/m, '') ?? '';
    all.set(name, { ...one, stdout: before + one.stdout });
  }
  return all;
}

/** The script of `exec /bin/sh -c '…'`. */
const scriptOf = (command: string): string => command.replace(/^exec \/bin\/sh -c '/, '').replaceAll(/'\\(.)'/g, '$1');

const noAnswer = 'no answer is recorded\n';

/** The answer of a Mac; a command without a recorded answer fails as one that the Mac does not have. */
function answerOf({ cases, printed = {}, answers = {} }: Answering, command: string, input: string): Partial<Printed> {
  const script = scriptOf(command);
  if (/ begin 1 \d+\\n/.test(script)) {
    const all = outputs(cases, printed);
    const none = { stdout: '', stderr: '', code: 127 };
    const said = probesIn(script).map((name) => all.get(name) ?? none);
    const frames = said.map(({ stdout, stderr, code }) => ({ out: stdout, err: stderr, code }));
    return { stdout: printFrames(tokenIn(script), frames).toString() };
  }
  const found = Object.entries(answers).find(([name]) => `${script}\n${input}`.includes(name))?.[1];
  if (found === undefined) return { stderr: noAnswer, code: 127 };
  return typeof found === 'string' ? { stdout: found } : found;
}

/** A document as one line, with the problems of a run sorted: two Macs may fail in any order. */
function inOneLine(text: string): string {
  const document = JSON.parse(text) as { readonly run?: unknown; readonly diagnostics?: readonly unknown[] };
  if (document.run === undefined) return JSON.stringify(document);
  const problems = document.diagnostics?.map((one) => JSON.stringify(one)).sort();
  return JSON.stringify({ ...document, diagnostics: problems?.map((one) => JSON.parse(one)) });
}

/** Refuses every key. */
const refusing: Faults = { onAuth: (context) => context.reject(['publickey']) };

/** Runs commands in this process against Macs that answer with recorded output, over SSH and without a shell. */
export function recordedMacs(clusterFile: string, lock: ClusterLock, macs: Readonly<Record<string, RecordedMac>>) {
  const place = makePlace();
  const ssh = makeSshCase('mesh');
  const servers: FaultServer[] = [];
  const unanswered: string[] = [];
  const serve = async (faults: Faults): Promise<FaultServer> => {
    const server = await startFaultServer(ssh.host, faults);
    servers.push(server);
    return server;
  };
  const answering =
    (mac: Answering) =>
    ({ channel, command }: FaultExec): void => {
      const chunks: Buffer[] = [];
      channel.on('data', (chunk: Buffer) => chunks.push(chunk));
      channel.on('end', () => {
        const input = Buffer.concat(chunks).toString();
        const { stdout = '', stderr = '', code = 0 } = answerOf(mac, command, input);
        if (stderr === noAnswer) unanswered.push(`${command}\n${input.slice(-300)}`);
        channel.stderr.write(stderr);
        channel.write(stdout);
        channel.exit(code);
        channel.end();
      });
    };
  beforeAll(async () => {
    const path = place.write('cluster.yaml', clusterFile);
    const hostKey = `${ssh.host.pair.type} ${ssh.host.pair.base64}`;
    const nodes: Record<string, { port: number; hostKey: string; root: string; user: string }> = {};
    for (const [name, mac] of Object.entries(macs)) {
      const faults = mac === 'locked' ? refusing : mac === 'off' ? {} : { onExec: answering(mac) };
      const { port, stop } = await serve(faults);
      if (mac === 'off') await stop();
      nodes[name] = { port, hostKey, root: `/macs/${name}`, user: 'mesh' };
    }
    const folder = simFolder(place.env, path);
    await writeRunFile(folder, {
      simulated: true,
      pid: process.pid,
      pidStart: (await processStart(process.pid)) ?? '',
      startedAtEpochMs: 0,
      runId: 'recorded',
      cluster: 'rack',
      clusterFile: path,
      controlSocket: `${place.root}/control`,
      userKeyFile: ssh.user.file,
      nodes,
    });
    writeFileSync(simLockPlace(folder).path, renderLock(lock), { mode: 0o600 });
  });
  afterAll(async () => {
    for (const { stop } of servers) await stop();
    ssh.remove();
    place.remove();
  });
  /** Runs a command. Returns its exit code, its document or text, and the first line of each problem. */
  const run = async (words: string, env: Readonly<Record<string, string>>): Promise<string> => {
    const ran = await meshwrightHere(place, words.split(' '), { env });
    // Paths differ in length, and therefore in their line breaks.
    const [stdout = '', stderr = ''] = [ran.stdout, ran.stderr].map((text) =>
      text.replaceAll(/ offered keys:[^)]*SHA256:[^)]*\)\s*/g, ' offered keys. '),
    );
    const isDocument = stdout.startsWith('{\n');
    const shown = isDocument ? inOneLine(stdout) : `\n${stdout}`.replaceAll(/\n+/g, '\n').trimEnd();
    const isShown = (line: string): boolean => stdout === '' || / {2}[a-z]+\/[a-z-]+$/.test(line);
    const problems = stderr.split('\n').filter((line) => !/^(?:error {2}cli\/usage)?$/.test(line) && isShown(line));
    return [`$ meshwright ${words} [exit ${ran.code}] ${shown}\n`, ...problems.map((line) => `! ${line}\n`)]
      .join('')
      .replaceAll(place.folder, '/rack')
      .replaceAll(/\/[^"\s]*(?=\/cluster\.lock)/g, '/state')
      .replaceAll(place.root, '/place')
      .replaceAll(/(?<=127\.0\.0\.1(?: port |\]:))\d+/g, 'PORT')
      .replaceAll(/SHA256:[\w+/]{43}/g, 'SHA256:KEY')
      .replaceAll(/\b20\d{6}T\d{6}-[0-9a-f]{6}\b/g, 'RUN')
      .replaceAll(/(?<="ms":)\d+/g, '0')
      .replaceAll(/(?<="(?:configHash|hash)":")[0-9a-f]{64}/g, 'HASH');
  };
  return {
    place,
    /** Compares the output of commands with `golden/recorded-NAME.txt` next to the test. Every Mac must have answers. */
    expectPage: async (name: string, commands: readonly string[], env = {}): Promise<void> => {
      const pages: string[] = [];
      for (const words of commands) pages.push(await run(words, env));
      expect(unanswered).toEqual([]);
      await expect(pages.join('')).toMatchFileSnapshot(`golden/recorded-${name}.txt`);
    },
  };
}
