import { describe, expect, it } from 'vitest';
import {
  classifyLog as classifyLogItself,
  finalLine,
  firstFailingRank as firstFailingRankItself,
  firstFailure as firstFailureItself,
  rankWords as rankWordsItself,
  tellingLines,
} from '../../../src/drivers/classify-log.ts';
import type { FailureAction, FailureSignature } from '../../../src/drivers/contract/driver.ts';
import { driverOf } from '../../../src/drivers/registry.ts';
import { nodeName } from '../../../src/model/node.ts';
import { onOnePage, onPage } from '../one-page.ts';
import { keptByAwk } from './llamacpp/kept-by-awk.ts';

const classifyLog = onPage(classifyLogItself);
const firstFailingRank = onPage(firstFailingRankItself);
const firstFailure = onPage(firstFailureItself);
const rankWords = onPage(rankWordsItself);

const signature = (id: string, pattern: RegExp, action: FailureAction): FailureSignature => ({
  id,
  pattern,
  source: 'mlx 0.32',
  meaning: `${id} means this.`,
  action,
  cure: `Do that about ${id}.`,
});
const signatures = [
  signature('waiting', /attempt \d+ waiting/, 'wait'),
  signature('peer-died', /errno=2\b/, 'read-other-ranks'),
  signature('no-gid', /errno 22/, 'apply'),
  signature('errno', /errno/, 'restart'),
];
const rank = (at: number, lines: readonly string[], exit?: string) => ({
  node: nodeName(`studio-${at + 1}`),
  rank: at,
  lines,
  ...(exit === undefined ? {} : { exit }),
});
const first = (...ranks: readonly ReturnType<typeof rank>[]) => {
  const found = firstFailingRank(signatures, ranks);
  return found === undefined ? undefined : [found.said.rank, found.failure?.signature.id];
};

describe('a classified log', () => {
  it('has the first matching signature for each known line, in log order', () => {
    const lines = ['hello', 'attempt 1 waiting', 'RTR failed with errno 22', 'errno 60'];
    expect(classifyLog(signatures, lines).map(({ index, signature: { id } }) => [index, id])).toEqual([
      [1, 'waiting'],
      [2, 'no-gid'],
      [3, 'errno'],
    ]);
    expect(firstFailure(signatures, lines)).toMatchObject({ line: 'RTR failed with errno 22' });
    expect(firstFailure(signatures, lines.slice(0, 2))).toBeUndefined();
  });
});

describe('a message that ends without a reason', () => {
  const { signatures: known, logPattern } = driverOf({ driver: 'mlx' });
  const died = '2026-11-28 12:56:43,693 - ERROR - mlx_lm.server generation thread died: ';
  const traceback = [
    'Traceback (most recent call last):',
    '  File "/venv/mlx_lm/server.py", line 544, in _run_generate',
    '    self._generate()',
  ];
  const log = [died, ...traceback, 'NotImplementedError', 'ValueError: of a later request'];

  it('is shown with the exception at the end of its traceback', () => {
    expect(firstFailure(known, log)).toMatchObject({ index: 0, line: `${died}NotImplementedError` });
    expect(finalLine(known, log)).toBe(`${died}NotImplementedError`);
    expect(keptByAwk(logPattern, log)).toEqual([died, 'NotImplementedError']);
  });

  it('is shown unchanged if the log has no exception', () => {
    expect(finalLine(known, [died, ...traceback])).toBe(died);
  });
});

describe('the rank that failed first', () => {
  it('is a rank that reports its own failure, before ranks that only exited or report other ranks', () => {
    const complaint = ['Recv failed with errno=2'];
    expect(first(rank(0, complaint, '1'), rank(1, [], '1'), rank(2, ['errno 22']))).toEqual([2, 'no-gid']);
    expect(first(rank(0, complaint, '1'), rank(1, [], '1'))).toEqual([1, undefined]);
    expect(first(rank(0, []), rank(1, complaint))).toEqual([1, 'peer-died']);
    const killed = rank(1, [], 'JETSAM_REASON_MEMORY_PERPROCESSLIMIT');
    expect(first(rank(0, ['errno 60'], '1'), killed)).toEqual([1, undefined]);
  });

  it('is the lowest of equal ranks, with exited ranks before running ones', () => {
    expect(first(rank(0, ['errno 60']), rank(1, ['errno 22'], '1'), rank(2, ['errno 22'], '1'))).toEqual([1, 'no-gid']);
  });

  it('is undefined if no rank exited with an error or reported a failure', () => {
    expect(first(rank(0, ['attempt 3 waiting']), rank(1, []))).toBeUndefined();
    expect(first(rank(0, [], '0'), rank(1, []))).toBeUndefined();
  });

  it('is described with its node and exit status', () => {
    const exits = ['1', '78: EX_CONFIG', 'OS_REASON_DYLD', 'OS_REASON_TCC'];
    expect([...exits.map((exit) => rankWords(rank(1, [], exit))), rankWords(rank(0, []))]).toEqual([
      'rank 1 on studio-2 exited (1)',
      'rank 1 on studio-2 exited (78: EX_CONFIG: launchd probably could not start the program)',
      'rank 1 on studio-2 was ended by macOS (OS_REASON_DYLD: a library that the program needs is missing or incompatible)',
      'rank 1 on studio-2 was ended by macOS (OS_REASON_TCC)',
      'rank 0 on studio-1',
    ]);
  });
});

describe('the most telling lines of a log', () => {
  it('are the last three that look like errors, without tracebacks and requests', () => {
    const log = [
      'Error: an old one',
      '2026-11-28 12:56:43,685 - INFO - Starting httpd at 127.0.0.1 on port 31790...',
      '2026-11-28 12:56:43,693 - ERROR - server died: an incomplete download',
      'Traceback (most recent call last):',
      '  File "/venv/mlx_lm/error.py", line 544, in raise_error',
      'RuntimeError: an incomplete download',
      "ERROR - JSONDecodeError: Expecting value - body: {'prompt': 'a secret'}",
      'libc++abi: terminating due to uncaught exception of type std::runtime_error',
      '127.0.0.1 - - [28/Nov/2026 12:56:57] "POST /error HTTP/1.1" 404 -',
    ];
    expect(tellingLines(log)).toEqual([log[2], log[5], log[7]]);
    expect(tellingLines(['one', '', 'two', 'three', 'four'])).toEqual(['two', 'three', 'four']);
    expect(tellingLines([])).toEqual([]);
  });
});

onOnePage('classify-log');
