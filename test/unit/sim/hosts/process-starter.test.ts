import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createProcessStarter,
  type ProcessStarter,
  type StartedProgram,
} from '../../../../src/sim/hosts/process-starter.ts';
import { createPipeSupply, type PipeSupply } from '../../../../src/sim/hosts/ssh/pipes.ts';
import { sharedFolder } from '../../../rack/kept-running.ts';

const folder = sharedFolder('mw-starter-');
let pipes: PipeSupply;
let starter: ProcessStarter;
beforeAll(async () => {
  pipes = await createPipeSupply(join(folder, 'pipes'));
  starter = createProcessStarter();
});
afterAll(async () => {
  await starter.close();
  await pipes.close();
});

interface Ran extends StartedProgram {
  readonly stdout: Promise<string>;
  readonly stderr: Promise<string>;
}

async function start(script: string, input = ''): Promise<Ran> {
  const stdio = await pipes.take();
  stdio.stdin.end(input);
  const [stdout, stderr] = [text(stdio.stdout), text(stdio.stderr)];
  try {
    const started = await starter.start({
      program: '/bin/sh',
      words: ['sh', '-c', script],
      environment: { PATH: '/usr/bin:/bin', GREETING: 'grüß\ngott' },
      folder,
      stdio: stdio.paths,
    });
    return { ...started, stdout, stderr };
  } finally {
    stdio.handedOver();
  }
}

describe('the process starter', () => {
  it('passes arguments, environment, folder and three pipes', async () => {
    const ran = await start('cat; printf "%s" "$GREETING"; pwd >&2; exit 7', 'said ');
    expect(await ran.ended).toEqual({ kind: 'exited', code: 7 });
    expect(await ran.stdout).toBe('said grüß\ngott');
    expect(await ran.stderr).toBe(`${folder}\n`);
  });

  it('names the signal that ended a process', async () => {
    const ran = await start('kill -s USR1 $$');
    expect(await ran.ended).toEqual({ kind: 'signalled', signal: 'USR1' });
  });

  it('starts each process in a separate group', async () => {
    const ran = await start('sleep 30 & wait');
    process.kill(-ran.pid, 'SIGTERM');
    expect(await ran.ended).toEqual({ kind: 'signalled', signal: 'TERM' });
    expect(await ran.stdout).toBe('');
  });

  it('starts many processes in parallel without mixing them up', async () => {
    const numbers = Array.from({ length: 20 }, (_, at) => at);
    const all = await Promise.all(numbers.map((at) => start(`printf ${at}; exit ${at}`)));
    expect(await Promise.all(all.map(({ stdout }) => stdout))).toEqual(numbers.map(String));
    expect(await Promise.all(all.map(({ ended }) => ended))).toEqual(numbers.map((code) => ({ kind: 'exited', code })));
  });

  it.each([
    ['a command line that is too long', `: ${'x'.repeat(200_000)}`, 'spawn E2BIG'],
    ['a word with a NUL', 'printf a\0b', 'spawn EINVAL: a NUL in an argument'],
  ])('rejects %s', async (_what, script, message) => {
    await expect(start(script)).rejects.toThrow(message);
  });

  it('rejects a missing folder', async () => {
    const { paths, handedOver } = await pipes.take();
    const start = { program: '/bin/sh', words: ['sh'], environment: {}, folder: join(folder, 'none'), stdio: paths };
    await expect(starter.start(start)).rejects.toThrow('spawn ENOENT');
    handedOver();
  });
});
