import { describe, expect, it } from 'vitest';
import { requestPattern } from '../../../../src/drivers/exo/exo.ts';
import { driverOf } from '../../../../src/drivers/registry.ts';
import { requestRemover } from '../../../../src/node/endpoint/request-lines.ts';
import { placementFolder, rankLog, startFile } from '../../../../src/node/paths/own-paths.ts';
import {
  parseRankProgress,
  parseRankReport,
  rankProgressCommand,
  rankReportCommand,
} from '../../../../src/rack/placement/observed/rank-log-script.ts';
import { run } from './exec-line.ts';
import { type MacRoot, makeMacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);

/** The output of launchctl for a service; nested braces belong to other sections. */
const service = (...fields: readonly string[]): string =>
  [
    "printf '%s\\n' 'system/dev.meshwright.rank.kimi = {'",
    ...['active count = 1', 'arguments = {', '\tpid = 99', '}', ...fields].map((line) => `printf '\\t%s\\n' '${line}'`),
    "printf '}\\n'",
  ].join('\n');

const report = async (root: MacRoot, lines = 20, pattern?: string) =>
  parseRankReport(
    await run(rankReportCommand({ placement: 'kimi', lines, requestPattern: pattern, rootPrefix: root.folder })),
  );

describe.each(scriptShells)('the rank report in $name', (shell) => {
  it('shows the log lines since the last start and the exit code', async () => {
    const root = newRoot(shell);
    root.tool('bin/launchctl', service('state = not running', 'last exit code = 78: EX_CONFIG'));
    root.file(rankLog('kimi').path, 'of old\n@log\none\ntwo\n');
    root.file(startFile('kimi').path, 'boot=x\nlog=12\n');
    expect(await report(root)).toEqual({ exit: '78: EX_CONFIG', lines: ['one', 'two'] });
    expect(await report(root, 1)).toEqual({ exit: '78: EX_CONFIG', lines: ['two'] });
  });

  it.each([
    [
      'the signal that stopped the rank',
      ['state = not running', 'last terminating signal = Killed: 9'],
      { exit: 'Killed: 9' },
    ],
    ["launchd's reason", ['last exit reason = OS_REASON_DYLD', 'last exit code = 1'], { exit: 'OS_REASON_DYLD' }],
    ['no exit while the rank runs', ['state = running', 'pid = 7', 'last exit code = 1'], {}],
    ['no exit before the first run', ['state = not running', 'last exit code = (never exited)'], {}],
  ])('shows %s', async (_, fields, end) => {
    const root = newRoot(shell);
    root.tool('bin/launchctl', service(...fields));
    expect(await report(root)).toEqual({ ...end, lines: [] });
  });

  it('omits exo request lines, but still shows the requested number of lines', async () => {
    const root = newRoot(shell);
    root.tool('bin/launchctl', 'exit 113');
    const lines = [
      'Executing command: a',
      'x received chat request: b',
      '[ Starting task c',
      'parsed tool_call_text_parts=d',
    ];
    root.file(rankLog('kimi').path, `one\ntwo\n${lines.join('\n')}\n`);
    expect(await report(root, 2, requestPattern)).toEqual({ lines: ['one', 'two'] });
    expect(await report(root)).toEqual({ lines: ['one', 'two', ...lines] });
  });

  it('omits every line of an mlx request body, up to the next line with a time or a known beginning', async () => {
    const root = newRoot(shell);
    root.tool('bin/launchctl', 'exit 113');
    const mlx = driverOf({ driver: 'mlx' }).requestPattern;
    const body = [
      '2026-11-28 10:00:00,000 - ERROR - JSONDecodeError: x - Raw body: {"messages": "my',
      '',
      'secret error',
      '  prompt"',
    ];
    const kept = ['one', '127.0.0.1 - - [28/Nov/2026 12:56:57] code', 'libc++abi: terminating', 'two'];
    const lines = [...body, kept[1], ...body, kept[2], kept[3]];
    root.file(rankLog('kimi').path, `one\n${lines.join('\n')}\n`);
    expect(await report(root, 9, mlx)).toEqual({ lines: kept });
    const remove = requestRemover(mlx);
    expect(lines.flatMap((line) => remove([line ?? '']))).toEqual(kept.slice(1));
  });

  it('shows the whole log after a rotation, and nothing without a log', async () => {
    const root = newRoot(shell);
    root.tool('bin/launchctl', 'exit 113');
    expect(await report(root)).toEqual({ lines: [] });
    root.file(rankLog('kimi').path, 'short\n');
    root.file(startFile('kimi').path, 'log=1000\n');
    expect(await report(root)).toEqual({ lines: ['short'] });
  });
});

describe.each(scriptShells)('the rank progress in $name', (shell) => {
  it("includes the process group's memory and the log size", async () => {
    const root = newRoot(shell);
    const look = async () => parseRankProgress(await run(rankProgressCommand('kimi', root.folder)));
    root.tool('bin/ps', "printf '%s\\n' '  7 100' '  8 1000' '  7   20'");
    expect(await look()).toEqual({ residentBytes: 0, logBytes: 0 });
    root.file(`${placementFolder('kimi').path}/process`, 'boot=x\npid=7\nstart=y\n');
    root.file(rankLog('kimi').path, 'four\n');
    expect(await look()).toEqual({ residentBytes: 120 * 1024, logBytes: 5 });
    const requests = [
      '127.0.0.1 - - [28/Nov/2026 12:56:57] "POST /v1/chat/completions HTTP/1.1" 404 -',
      'INFO:     127.0.0.1:50112 - "GET /health HTTP/1.1" 200 OK',
      '0.01.5 I srv  log_server_r: done request: POST /v1/chat/completions 127.0.0.1 503',
      '[GIN] 2024/08/08 - 14:07:10 | 200 |    5.4359065s |       127.0.0.1 | POST     "/api/chat"',
      'Received request: POST to /v1/chat/completions with body',
    ];
    const answers = [
      '2026-11-28 12:56:43,685 - INFO - Prompt Cache: 1 sequences, 0.00 GB',
      '2026-11-28 12:56:43,685 - INFO - - assistant: 1 sequences, 0.00 GB',
      '2026-11-28 12:56:43,685 - INFO - Prompt processing progress: 0/9',
      '16.15.162.661 I srv  params_from_: Chat format: peg-gemma4',
      'srv  get_availabl: updating prompt cache',
      'srv          load:  - looking for better prompt, base f_keep = 0.444, sim = 0.519',
      'srv        update:  - cache state: 5 prompts, 7053.061 MiB (limits: 8192.000 MiB, 262144 tokens, 262144 est)',
      '16.15.202.152 I slot get_availabl: id  3 | task -1 | selected slot by LRU, t_last = 168504210124',
      '16.15.294.685 I slot launch_slot_: id  3 | task 1804 | processing task, is_child = 0',
    ];
    root.file(rankLog('kimi').path, `old\nfour\n${requests.join('\n')}\n`);
    root.file(startFile('kimi').path, 'log=4\n');
    expect((await look())?.logBytes).toBe(5);
    expect(await report(root)).toEqual({ lines: ['four'] });
    const loading = ['srv  load_model: loading model', 'slot   load_model: id  0 | task -1 | new slot, n_ctx = 4096'];
    root.file(rankLog('kimi').path, `old\n${[...answers, ...loading].join('\n')}\n`);
    expect((await look())?.logBytes).toBe(`${loading.join('\n')}\n`.length);
  });
});
