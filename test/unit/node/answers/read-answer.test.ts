import { describe, expect, it } from 'vitest';
import { readJson, readLines, readText } from '../../../../src/node/answers/read-answer.ts';
import { answer } from '../../engine/observe/fact-cases.ts';

const reason = (known: ReturnType<typeof readText>) => (known.kind === 'unknown' ? known.reason : known.kind);

describe('readText', () => {
  it('returns the text of a successful answer', () => {
    expect(readText(answer('sw-vers', { stdout: 'a\n' }))).toEqual({ kind: 'known', value: 'a\n' });
  });

  it('reports exit code 127 as a missing tool, whatever was printed', () => {
    expect(reason(readText(answer('rdma-ctl', { stdout: 'enabled\n', code: 127 })))).toBe('tool-missing');
  });

  it('fails if the output has ### Error with exit code 0, as from systemsetup on macOS 26.6.1', () => {
    const said = '### Error:-99 File:…/Admin/InternetServices.m Line:395\n';
    expect(reason(readText(answer('x', { stdout: `${said}setcomputersleep: 17\n` })))).toBe('failed');
    expect(reason(readText(answer('x', { stdout: 'value\n', stderr: said })))).toBe('failed');
  });

  it('recognizes a refusal by its message', () => {
    const stdout = 'setremotelogin: Turning Remote Login on or off requires Full Disk Access privileges.\n';
    expect(reason(readText(answer('x', { stdout, code: 1 })))).toBe('no-privilege');
    expect(reason(readText(answer('x', { stderr: 'ls: /x: Permission denied\n', code: 1 })))).toBe('no-privilege');
    expect(reason(readText(answer('x', { stderr: 'something else\n', code: 1 })))).toBe('failed');
  });

  it('distinguishes empty, truncated, garbled and missing answers', () => {
    expect(reason(readText(answer('x', {})))).toBe('empty');
    expect(reason(readText(answer('x', { stdout: 'enab' })))).toBe('truncated');
    expect(reason(readText(answer('x', { stdout: 'a\u001b[2J\n' })))).toBe('garbled');
    expect(reason(readText(undefined))).toBe('not-asked');
  });

  it("quotes at most 200 characters of the tool's error", () => {
    const failed = readText(answer('x', { stderr: `\n  ${'y'.repeat(900)}\n`, code: 3 }));
    expect(failed.kind === 'unknown' && failed.detail).toBe(`x exited with 3 and printed: ${'y'.repeat(200)}`);
  });
});

describe('readLines', () => {
  it('returns lines without line breaks', () => {
    expect(readLines(answer('x', { stdout: 'a\n\nb\n' }))).toEqual({ kind: 'known', value: ['a', '', 'b'] });
  });
});

describe('readJson', () => {
  it('does not need a line break after the last brace', () => {
    expect(readJson(answer('x', { stdout: '{"a":1}' }))).toEqual({ kind: 'known', value: { a: 1 } });
  });

  it('reports a megabyte of opening brackets as garbled', () => {
    expect(readJson(answer('x', { stdout: '['.repeat(1 << 20) }))).toMatchObject({ reason: 'garbled' });
  });
});
