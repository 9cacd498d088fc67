import { execFileSync } from 'node:child_process';
import fs, { closeSync, constants, existsSync, openSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type LogEvent, type LogLevel, printedEvents } from '../../../../src/cli/files/event-lines.ts';
import { openRunLog, type RunLog } from '../../../../src/cli/files/run-log.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { readSecrets } from '../../../../src/diagnostics/hide-secrets.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { problemsOf } from '../../problems-of.ts';

const { at, write } = temporaryFolder();
afterEach(() => void vi.restoreAllMocks());

const lost: string[] = [];
const secrets = readSecrets();
const open = (name: string, level: LogLevel = 'info'): RunLog =>
  openRunLog({
    path: at(name),
    level,
    verb: 'apply',
    version: '1.2.3',
    secrets,
    onLost: ({ message }) => lost.push(message),
  });

const linesOf = (name: string): readonly Record<string, unknown>[] =>
  readFileSync(at(name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const finding = (detail: string): LogEvent => ({
  kind: 'finding',
  diagnostic: diagnose('ssh/dropped', { detail, subject: nodeSubject('studio-1') }),
});

describe('a log', () => {
  it('has one JSON line for each event, in a file that only its owner can read', () => {
    const log = open('new.ndjson', 'debug');
    const events: readonly LogEvent[] = [finding('It broke off.'), { kind: 'verb-ended', exit: 4 }];
    for (const event of events) log.write(event);
    const run = log.nextRunId();
    const same = { time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), run, verb: 'apply' };
    const written = [{ kind: 'verb-started', version: '1.2.3' } as const, ...events].flatMap((one) =>
      printedEvents(one, ''),
    );
    expect(linesOf('new.ndjson')).toEqual(written.map((line) => ({ ...JSON.parse(line), ...same })));
    expect(linesOf('new.ndjson').flatMap(schemaCheck('log-line'))).toEqual([]);
    expect(statSync(at('new.ndjson')).mode & 0o777).toBe(0o600);
    expect(log.nextRunId()).not.toBe(run);
  });

  it('is appended to, but only with lines at or above its level', () => {
    open('twice.ndjson', 'error').write(finding('first'));
    open('twice.ndjson', 'error').write(finding('second'));
    expect(linesOf('twice.ndjson').map(({ msg }) => msg)).toEqual(['first', 'second']);
  });

  it('includes commands that are sent every few seconds only at the debug level', () => {
    const log = open('levels.ndjson');
    for (const name of ['keep-lease', 'poll-job', 'rank-progress', 'rank-log', 'set-power']) {
      log.write({ kind: 'answered', node: 'studio-1', name, exit: { kind: 'exited', code: 0 }, ms: 12 });
    }
    expect(linesOf('levels.ndjson').flatMap(({ name }) => name ?? [])).toEqual(['set-power']);
  });

  it('hides secrets in every encoding and at every depth, and stays JSON', () => {
    const log = open('hidden.ndjson');
    const secret = 'p"w\\ü1';
    const base64 = Buffer.from(`x:${secret}`).toString('base64');
    secrets.add(secret);
    log.write(finding(`told ${secret}, ${JSON.stringify(secret)}, ${encodeURIComponent(secret)} and ${base64}`));
    const holder = { run: secret, owner: 'ana', verb: 'apply', phase: 'starting', since: 'now' };
    log.write({ kind: 'lease', node: 'studio-1' as never, state: 'waiting', holder });
    const [, shown, waiting] = linesOf('hidden.ndjson');
    expect(shown?.['msg']).toMatch(/^told \*{8}, "\*{8}", \*{8} and \S\S?\S?\*{8}\S{0,3}$/);
    expect(waiting?.['holder']).toMatchObject({ run: '********' });
  });

  it('hides a field that is named like a secret', () => {
    const names = ['password', 'passphrase', 'secret', 'token', 'authorization', 'apiKey', 'api_key', 'cookie'];
    const fields = Object.fromEntries(names.map((name) => [name, `x-${name}`]));
    const holder = { run: '1', ...fields, nested: fields } as never;
    open('named.ndjson').write({ kind: 'lease', node: 'studio-1' as never, state: 'waiting', holder });
    expect(readFileSync(at('named.ndjson'), 'utf8')).not.toContain('x-');
  });

  it('escapes everything that a terminal or a CI system would obey', () => {
    open('obey.ndjson').write(finding('\u001b]0;x\u0007 \u009b2J ##[error]'));
    expect(readFileSync(at('obey.ndjson'), 'utf8')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|##\[/u);
    expect(linesOf('obey.ndjson')[1]?.['msg']).toBe('\u001b]0;x\u0007 \u009b2J ##[error]');
  });
});

describe('a log that cannot be written', () => {
  it('is rejected: a link, a pipe, a folder, a file open to others, a missing folder', () => {
    write('mine', 'mine');
    symlinkSync('mine', at('link'));
    execFileSync('mkfifo', ['-m', '600', at('pipe')]);
    write('open', 'open', 0o640);
    const found = ['link', 'pipe', '.', 'open', 'missing/log'].flatMap((name) => problemsOf(() => open(name)));
    expect(found.map(({ code }) => code)).toEqual(Array(5).fill('cli/cannot-write'));
    expect(found[3]?.detail).toContain('chmod 600');
    expect([readFileSync(at('mine'), 'utf8'), readFileSync(at('open'), 'utf8')]).toEqual(['mine', 'open']);
  });

  it('is rejected: a pipe with a reader, and a file of a different account', () => {
    execFileSync('mkfifo', ['-m', '600', at('read')]);
    const reader = openSync(at('read'), constants.O_RDONLY | constants.O_NONBLOCK);
    write('theirs', 'theirs');
    const own = process.getuid?.() ?? 0;
    const readPipe = problemsOf(() => open('read'));
    vi.spyOn(process as { getuid: () => number }, 'getuid').mockReturnValue(own + 1);
    const why = 'the file exists, but other users can access it (chmod 600) or it is not a regular file';
    expect([...readPipe, ...problemsOf(() => open('theirs'))].map(({ detail }) => detail)).toEqual(
      ['read', 'theirs'].map((name) => expect.stringContaining(`${name} cannot be written: ${why}`)),
    );
    expect(readFileSync(at('theirs'), 'utf8')).toBe('theirs');
    closeSync(reader);
  });

  it('is rejected if its first line does not fit', () => {
    vi.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw new Error('ENOSPC: no space left on device, write');
    });
    const problem = { code: 'cli/cannot-write', detail: expect.stringContaining('no space left') };
    expect(problemsOf(() => open('full'))).toMatchObject([problem]);
    expect(existsSync(at('full'))).toBe(true);
  });

  it('reports a full disk once, and has every line when there is space again', () => {
    const log = open('later.ndjson');
    const full = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw new Error('ENOSPC');
    });
    log.write(finding('one'));
    log.write(finding('two'));
    full.mockRestore();
    log.write(finding('three'));
    expect(lost).toEqual(['ENOSPC']);
    expect(linesOf('later.ndjson').map(({ msg }) => msg)).toEqual(['started', 'one', 'two', 'three']);
  });
});
