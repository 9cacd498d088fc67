import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { type LogEvent, type LogLevel, printedEvents } from '../../../../src/cli/files/event-lines.ts';
import { openRunLog, type RunLog } from '../../../../src/cli/files/run-log.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { readSecrets } from '../../../../src/diagnostics/hide-secrets.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';

const folder = mkdtempSync(join(tmpdir(), 'mw-log-'));
afterEach(() => void vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);
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

function problemOf(act: () => void): string {
  try {
    act();
    return 'none';
  } catch (error) {
    return error instanceof FleetError
      ? `${error.diagnostics[0].code}: ${plainText(error.diagnostics[0].detail)}`
      : String(error);
  }
}

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

  it('has commands that are sent every few seconds only at the level debug', () => {
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
    writeFileSync(at('mine'), 'mine', { mode: 0o600 });
    symlinkSync('mine', at('link'));
    execFileSync('mkfifo', ['-m', '600', at('pipe')]);
    writeFileSync(at('open'), 'open');
    chmodSync(at('open'), 0o640);
    const found = ['link', 'pipe', '.', 'open', 'missing/log'].map((name) => problemOf(() => open(name)));
    expect(found).toEqual(found.map(() => expect.stringMatching(/^cli\/cannot-write: /)));
    expect(found[3]).toContain('chmod 600');
    expect([readFileSync(at('mine'), 'utf8'), readFileSync(at('open'), 'utf8')]).toEqual(['mine', 'open']);
  });

  it('is rejected if its first line does not fit', () => {
    vi.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw new Error('ENOSPC: no space left on device, write');
    });
    expect(problemOf(() => open('full'))).toMatch(/^cli\/cannot-write: .*no space left/);
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
