import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quietProgram } from '../../../../src/drivers/exo/configure.ts';
import { logPattern, signatures } from '../../../../src/drivers/messages/exo.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { linesOf } from '../message-lines.ts';

const { at, write } = temporaryFolder();
const home = at('home');
const program = write('quiet.pl', quietProgram);

/** Runs a shell script in place of exo. */
async function quietly(
  script: string,
): Promise<{ readonly said: string; readonly code: unknown; readonly signal: unknown }> {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(join(home, '.exo'), { recursive: true });
  const child = spawn('perl', [program, home, '/bin/sh', '-c', script, 'exo', home], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: Buffer[] = [];
  for (const output of [child.stdout, child.stderr]) output.on('data', (piece: Buffer) => said.push(piece));
  // All outputs are closed, so the reader has exited too.
  const [code, signal] = await once(child, 'close');
  return { said: Buffer.concat(said).toString('utf8'), code, signal };
}

const record = (level: string, text: string): string =>
  `[ 07:15:02.1234PM | \u001b[1m${level.padEnd(8)}\u001b[0m] \u001b[1m${text}\u001b[0m`;
const seen = (level: string, text: string): string => `[ 07:15:02.1234PM | ${level.padEnd(8)}] ${text}`;

const print = (lines: readonly string[], end = ''): string => `cat <<'THE END'\n${lines.join('\n')}\nTHE END\n${end}`;

const begun = record('INFO', `Starting node ${'3e'.repeat(16)}`);

/** The lines that the filter keeps once exo has a node. */
const keptOf = async (...lines: readonly string[]): Promise<readonly string[]> =>
  (await quietly(print([begun, ...lines]))).said.split('\n').slice(1, -1);

describe('the log filter that starts exo', () => {
  it('drops request text, wherever exo prints it', async () => {
    const secret = 'my purple elephant';
    const kept = await keptOf(
      record('INFO', `Executing command: TextGeneration(task_params=[InputMessage(content='${secret}')])`),
      record('INFO', `received chat request: task_id='5' task_params=${secret}`),
      record('INFO', `Starting task TextGeneration(content='${secret}')`),
      record('INFO', `<|im_start|>user\n${secret}\nsecond line of ${secret}\n\n<|im_end|>`),
      record('INFO', `Starting node ${secret}`),
      record('WARNING', `tool call parsing failed for text ${secret}`),
      record('WARNING', `Error in command processor ${secret}`),
      'Traceback (most recent call last):',
      `  File "exo/x.py", line 3, in ${secret}`,
      `    │      └ '${secret}'`,
      `ValueError: ${secret}`,
      `[ 2026-06-01 12:03:04.123 | DEBUG    | exo.worker.engines.mlx.utils_mlx:apply:679 ] ${secret}`,
      record('INFO', 'runner ready'),
    );
    expect(kept).toEqual([seen('INFO', 'runner ready')]);
  });

  it('keeps the mesh messages of both dialects', async () => {
    const own = [
      'Node elected Master',
      'Node elected Master - maintaining self',
      'Node elected Master - promoting self',
      'Runner process succesfully terminated',
      'Runner process successfully terminated: 0',
      'Runner process successfully terminated: -15',
      'Continuous batching disabled (--no-batch)',
      'FAST_SYNCH forced OFF',
      'Fast synch flag: 1',
      'Starting distributed init',
      'Group size: 2, group rank: 1',
      'Rank 1 mlx distributed initialization complete',
      'rank 0 MLX_JACCL_COORDINATOR: 10.77.0.1:52415',
      'runner initialized in 0.53 seconds',
      'Time taken to load model: 12.50s',
      'Generating warmup tokens',
      'warmed up by generating 50 tokens',
      'KV cache updated (index 0): 37 tokens',
      'Runner terminated with exitcode=-9 (Killed: 9)',
      "Runner process didn't respond to SIGTERM, killing",
      'EXO Shutdown complete',
      'Model mlx-community/Kimi-K2-Thinking found at /Library/Application Support/meshwright/placements/kimi/files/m',
      'DownloadCoordinator: Model acme/indexed found at /opt/models/acme--indexed',
    ];
    const asked = ['Model elephant found at /my purple elephant', 'Model my elephant found at /opt/models'];
    expect(await keptOf(...[...own, ...asked].map((text) => record('INFO', text)))).toEqual(
      own.map((text) => seen('INFO', text)),
    );
  });

  it("keeps only a failure's known words", async () => {
    const runner = 'Runner 9b1d5b0e-0000-4000-8000-000000000001';
    expect(
      await keptOf(
        'libc++abi: terminating due to uncaught exception of type std::runtime_error: [jaccl] Recv failed with errno=60 elephant',
        record(
          'WARNING',
          `${runner} crashed with critical exception [jaccl] Changing queue pair to RTR failed with errno 22`,
        ),
        record('WARNING', `${runner} crashed with critical exception elephant`),
        record('INFO', 'RUST: other event OutgoingConnectionError { elephant: "No route to host" elephant }'),
        record('WARNING', 'Runner stderr: [METAL] elephant GPU Timeout elephant'),
        record('INFO', 'Executing command: [jaccl] Recv failed with errno=60'),
      ),
    ).toEqual([
      'Recv failed with errno=60',
      seen('WARNING', 'Changing queue pair to RTR failed with errno 22'),
      seen('WARNING', `${runner} crashed with critical exception (in words that are not kept)`),
      seen('INFO', 'No route to host'),
      seen('WARNING', '[METAL] ... GPU Timeout'),
    ]);
  });

  it.each(linesOf('exo').filter(({ id }) => id !== '-'))(
    'keeps the words that identify $id: $line',
    async ({ id, line }) => {
      const kept = await keptOf(line, record('WARNING', `Runner stderr: ${line}`));
      const found = kept.map((one) => signatures.find(({ pattern }) => pattern.test(one))?.id);
      expect(found).toEqual([id, id]);
      const pattern = new RegExp(`${logPattern.replaceAll('[[]', '\\[').replaceAll('[]]', '\\]')}`);
      expect(kept.filter((one) => !pattern.test(one))).toEqual([]);
    },
  );

  it('keeps messages from before exo has a node, including a failed start', async () => {
    const lines = [
      'usage: EXO [-h]',
      'EXO: error: unrecognized arguments: --x',
      record('INFO', 'pid = 5'),
      'ImportError: x',
    ];
    expect((await quietly(print(lines))).said).toBe(
      `${[...lines.slice(0, 2), seen('INFO', 'pid = 5'), lines[3]].join('\n')}\n`,
    );
    expect((await quietly(print([record('INFO', 'something new'), 'elephant']))).said).toBe('');
    const child = spawn('perl', [program, home, '/nowhere/exo'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const said: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => said.push(piece));
    const [code] = await once(child, 'close');
    expect([code, Buffer.concat(said).toString('utf8')]).toEqual([
      2,
      'meshwright: /nowhere/exo: No such file or directory\n',
    ]);
  });

  it("keeps exo's exit status, signals and last messages", async () => {
    expect(await quietly(print([begun], 'exit 7'))).toMatchObject({ code: 7, signal: null });
    expect(await quietly('kill -s SEGV $$')).toMatchObject({ code: null, signal: 'SIGSEGV' });
    const last = record('INFO', 'EXO Shutdown complete');
    const trapped = `trap "printf '%s\\n' '${last}'; exit 3" TERM; kill -s TERM $$; sleep 5`;
    expect(await quietly(print([begun], trapped))).toEqual({
      code: 3,
      signal: null,
      said: `${seen('INFO', `Starting node ${'3e'.repeat(16)}`)}\n${seen('INFO', 'EXO Shutdown complete')}\n`,
    });
  });

  it('removes open and leftover logs only in its own home folder', async () => {
    const log = '.exo/exo_log';
    const script = `cd "$1" && mkdir -p ${log}/runner_log .exo/event_log/master
echo a >${log}/exo.2026.log; echo a >${log}/exo.2026.log.zst; echo e >${log}/exo.log
echo '${record('INFO', 'runner ready')}'; echo e >.exo/event_log/master/events.bin
rm ${log}/exo.2026.log; echo e >${log}/runner_log/stderr.log
n=0; while [ -e ${log}/exo.log ] || [ -e ${log}/runner_log/stderr.log ]; do
  [ $((n += 1)) -lt 100 ] || exit 9; echo '${record('INFO', 'runner ready')}'; sleep 0.05
done
[ -e .exo/event_log/master/events.bin ] && echo e >${log}/exo.log`;
    expect(await quietly(script)).toMatchObject({ code: 0 });
    for (const gone of [`${log}/exo.log`, `${log}/exo.2026.log.zst`, '.exo/event_log/master/events.bin']) {
      expect([gone, existsSync(join(home, gone))]).toEqual([gone, false]);
    }
    const next = `cd / && rm -rf "$1" && mkdir -p "$1/.exo/event_log/master" && echo e >"$1/.exo/event_log/master/events.bin"`;
    await quietly(next);
    expect(existsSync(join(home, '.exo/event_log/master/events.bin'))).toBe(true);
  });
});
