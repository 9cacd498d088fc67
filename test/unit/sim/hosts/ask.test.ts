import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AskRequest, serveAsks } from '../../../../src/sim/hosts/control/asks.ts';
import type { ToolAnswer } from '../../../../src/sim/hosts/fleet-model.ts';
import { askClientText } from '../../../../src/sim/hosts/node-root.ts';
import { sharedFolder } from '../../../rack/kept-running.ts';

const folder = sharedFolder('mw-ask-');
let server: Awaited<ReturnType<typeof serveAsks>>;
const asked: AskRequest[] = [];
let answer: () => Promise<ToolAnswer> = () => Promise.reject(new Error('nothing to say'));
const socket = (): string => join(folder, "it's.sock");

beforeAll(async () => {
  await writeFile(join(folder, 'ask'), askClientText(socket()));
  await writeFile(join(folder, 'ask-nobody'), askClientText(join(folder, 'nobody.sock')));
  server = await serveAsks(socket(), (request) => {
    asked.push(request);
    return answer();
  });
});
afterAll(async () => {
  await server.close();
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program that simulated tools call, with only these environment variables. */
function ask(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    execFile('perl', [join(folder, program), ...args], { env, maxBuffer: 10_000_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ code, stdout, stderr });
    });
  });
}

describe('a tool that asks the simulator', () => {
  it('passes every argument unchanged and returns the answer', async () => {
    answer = () => Promise.resolve({ stdout: "out é\n'", stderr: 'err\n', exitCode: 3 });
    const words = ['/Users/mesh', '/usr/bin/pmset', '', 'two words', "it's\nö", '$HOME'];
    const ran = await ask('ask', words, { MW_SIM: 'run.node.4', MW_SIM_SUDO: '1' });
    expect(ran).toEqual({ code: 3, stdout: "out é\n'", stderr: 'err\n' });
    expect(asked.at(-1)).toEqual({
      mark: 'run.node.4',
      isRoot: true,
      tool: '/usr/bin/pmset',
      args: ['', 'two words', "it's\nö", '$HOME'],
    });
  });

  it('has no mark and is not root without its environment', async () => {
    answer = () => Promise.resolve({ stdout: '', stderr: '', exitCode: 0 });
    expect(await ask('ask', ['/', '/usr/bin/pmset'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(asked.at(-1)).toMatchObject({ mark: '', isRoot: false, args: [] });
  });

  it('prints long answers completely', async () => {
    const stdout = 'ä'.repeat(400_000);
    answer = () => Promise.resolve({ stdout, stderr: 'e'.repeat(70_000), exitCode: 0 });
    const ran = await ask('ask', ['/', '/usr/bin/pmset']);
    expect([ran.stdout === stdout, ran.stderr.length]).toEqual([true, 70_000]);
  });

  it('fails immediately if the simulator fails or is missing', async () => {
    answer = () => Promise.reject(new Error('no such Mac'));
    expect(await ask('ask', ['/', '/usr/bin/pmset'])).toEqual({
      code: 70,
      stdout: '',
      stderr: 'simulated: Error: no such Mac\n',
    });
    const nobody = await ask('ask-nobody', ['/', '/usr/bin/pmset']);
    expect(nobody).toEqual({ code: 70, stdout: '', stderr: 'simulated: the simulator of this Mac does not answer\n' });
  });
});

describe("the tools' socket", () => {
  it.each(['no length at all', '99999999999\n', '1048577\n', '-1\n', 'NaN\n'])(
    'closes the connection on the invalid length %j',
    async (text) => {
      const before = asked.length;
      const client = connect(socket());
      const closed = new Promise((resolve) => client.once('close', resolve));
      client.on('error', () => undefined);
      client.resume();
      client.write(text);
      await closed;
      expect(asked).toHaveLength(before);
    },
  );
});
