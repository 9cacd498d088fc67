import { describe, expect, it } from 'vitest';
import { nodeSubject } from '../../../src/model/subject.ts';
import { diagnoseExit as diagnoseExitItself, type UnknownExit, unknownExit } from '../../../src/remote/remote.ts';
import { diagnosticsAsText } from '../as-text.ts';
import { onOnePage, onPage } from '../one-page.ts';

const diagnoseExit = onPage(diagnoseExitItself);

const code = (exit: UnknownExit) => diagnoseExit('studio-1', exit)?.code;

describe('an unknown exit', () => {
  it('has a code that depends on its reason', () => {
    expect(code(unknownExit.dropped('read ECONNRESET'))).toBe('ssh/dropped');
    expect(code(unknownExit.late(1_500))).toBe('ssh/timed-out');
    expect(code(unknownExit.tooLong(10))).toBe('ssh/exit-unknown');
    expect(code(unknownExit.noCode)).toBe('ssh/exit-unknown');
    expect(code(unknownExit.noChannel)).toBe('ssh/exit-unknown');
    expect(code({ kind: 'unknown', reason: 'the command did not finish within 3 s' })).toBe('ssh/exit-unknown');
  });

  it('names the node and the reason', () => {
    const late = [diagnoseExit('studio-1', unknownExit.late(1_500)) ?? []].flat();
    expect(diagnosticsAsText(late)).toMatchObject([
      { subject: nodeSubject('studio-1'), detail: 'studio-1: the command did not finish within 1.5 s.' },
    ]);
  });
});

describe('a known exit', () => {
  it('is not a connection problem', () => {
    expect(diagnoseExit('studio-1', { kind: 'exited', code: 255 })).toBeUndefined();
    expect(diagnoseExit('studio-1', { kind: 'signalled', signal: 'KILL' })).toBeUndefined();
  });
});

onOnePage('exit-reasons');
