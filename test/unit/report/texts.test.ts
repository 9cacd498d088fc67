import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clip, firmSpace } from '../../../src/diagnostics/cells.ts';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import { plainText, proseText } from '../../../src/diagnostics/prose-text.ts';
import { renderDiagnostics } from '../../../src/diagnostics/render.ts';
import { codes } from '../../../src/engine/diagnose/rules.ts';
import { nodeName } from '../../../src/model/node.ts';
import { linkSubject, nodeSubject, subjectText } from '../../../src/model/subject.ts';
import { meshwright } from '../../../src/model/text/command.ts';
import { named, prose } from '../../../src/model/text/prose.ts';
import { digitsText, diskText, durationText, memoryText, speedText, utcText } from '../../../src/model/text/units.ts';
import { hangLines, mergeFindings } from '../../../src/report/findings.ts';
import { fitLines, hang, plainPaint, sideBySide, titleLines } from '../../../src/report/page.ts';

describe('a wrapped text', () => {
  it('keeps each command on one line, even if the line is then too long', () => {
    const text = prose`First stop it (${meshwright('stop', 'chat')}); then type \`rdma_ctl enable\`, and ${meshwright('reboot', 'studio-1', 'studio-2')}.`;
    expect(hang('  1  ', proseText(text, { isSimulated: true }, firmSpace), 40)).toEqual([
      '  1  First stop it',
      '     (meshwright stop chat --sim); then',
      '     type `rdma_ctl enable`, and',
      '     meshwright reboot studio-1 studio-2 --sim.',
    ]);
  });

  it('has only plain spaces in commands on their own line', () => {
    const hint = prose`Unlock it:\n  ${meshwright('unlock', 'studio-1')}\nThen go on.`;
    const page = { columns: 40, unicode: true, paint: plainPaint, isSimulated: true };
    expect(hangLines('-> ', hint, page)).toEqual([
      '-> Unlock it:',
      '   meshwright unlock studio-1 --sim',
      '   Then go on.',
    ]);
    const one = diagnose('cli/usage', { detail: hint, hint });
    const text = renderDiagnostics([one], { ...page, color: false, sources: new Map() });
    expect(text).not.toContain(firmSpace);
    expect(text).toContain('  meshwright unlock studio-1 --sim');
  });

  it('breaks words in backticks that do not fit on a line', () => {
    expect(fitLines('See `one two three four` `five', 12)).toEqual(['See `one two', 'three four`', '`five']);
  });
});

describe('a title', () => {
  it('has a remark on the same line if three columns are left between them', () => {
    const lines = (columns: number) =>
      titleLines(['rack', '4 nodes'], 'simulated', { columns, unicode: true, paint: plainPaint, isSimulated: false });
    expect(lines(26)).toEqual(['rack   4 nodes   simulated']);
    expect(lines(25)).toEqual(['rack', '4 nodes', 'simulated']);
  });
});

describe('units', () => {
  it('label memory like Apple', () => {
    expect([2 ** 39, 2 ** 36, 96 * 2 ** 30].map(memoryText)).toEqual(['512 GB', '64 GB', '96 GB']);
    expect(memoryText(500e9)).toBe('465.7 GiB');
  });

  it('show disk sizes in decimal units', () => {
    const sizes = [0, 1, 999, 1e3, 12e6, 494e9, 7.9e12, 2e15, 3e18].map(diskText);
    expect(sizes.join(', ')).toBe('0 B, 1 B, 999 B, 1 kB, 12 MB, 494 GB, 7.9 TB, 2 PB, 3000 PB');
  });

  it('show speeds and durations without unnecessary digits', () => {
    expect([80e9, 10e9, 2.5e9].map(speedText)).toEqual(['80 Gb/s', '10 Gb/s', '2.5 Gb/s']);
    const durations = [12, 1_000, -4_200, 119_000, 120_000, 7_200_000, 172_800_000].map(durationText);
    expect(durations.join(', ')).toBe('12 ms, 1 s, 4.2 s, 119 s, 2 min, 2 h, 2 days');
    expect([99.95, 99.94, 9.995, 9.994].map(digitsText)).toEqual(['100', '99.9', '10.0', '9.99']);
  });
});

describe('a UTC time', () => {
  it("equals the platform calendar's time", () => {
    const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
    fc.assert(
      fc.property(seconds, (epoch) => {
        const iso = new Date(epoch * 1000).toISOString();
        const [year = '', ...rest] = iso.replace('T', ' ').replace('.000Z', ' UTC').split('-');
        expect(utcText(epoch)).toBe([String(Number(year)), ...rest].join('-'));
      }),
    );
  });

  it('is unknown for an invalid number', () => {
    for (const number of [Number.NaN, 1.5, 1e13]) expect(utcText(number)).toBe('at an unknown time');
  });
});

describe('the text layout', () => {
  it('breaks a word wider than the page, but never before a colon', () => {
    expect([clip('abcdef', 6), clip('abcdef', 5)]).toEqual(['abcdef', 'ab...']);
    expect(fitLines('abcdefgh', 3)).toEqual(['abc', 'def', 'gh']);
    expect(fitLines('abcdefghij::x', 10)).toEqual(['abcdefghi', 'j::x']);
    expect(fitLines('abcdefghi::x', 10)).toEqual(['abcdefgh', 'i::x']);
  });

  it('never begins a line with a colon', () => {
    const text = fc.string({ unit: fc.constantFrom(':', ':', 'a', '/'), minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 12 }), (word, columns) => {
        const [, ...later] = fitLines(word, columns);
        expect(later.filter((line) => line.startsWith(':'))).toEqual([]);
      }),
    );
  });

  it('fills columns from top to bottom', () => {
    expect(sideBySide(['1', '2', '3', '4', '5'], 12)).toEqual(['1    3    5', '2    4']);
    expect(sideBySide([], 12)).toEqual([]);
  });
});

describe('merged findings', () => {
  const low = (name: string, detail = 'Only 1 GB of 1 TB is free.') =>
    diagnose(codes['disk/low'], {
      subject: nodeSubject(name),
      detail,
      hint: prose`Free up space on the data volume of ${named(name)}.`,
    });

  it('have the same code and hint, which lists all names', () => {
    const [only, ...others] = mergeFindings([low('studio-1'), low('studio-11')]);
    expect(others).toEqual([]);
    expect(only?.of.map(({ subject }) => subjectText(subject))).toEqual(['node studio-1', 'node studio-11']);
    expect(only?.details).toEqual(['Only 1 GB of 1 TB is free.']);
    expect(plainText(only?.hint ?? '')).toBe('Free up space on the data volume of studio-1,11.');
  });

  it('name the node before each different detail', () => {
    expect(mergeFindings([low('a', 'One.'), low('b', 'Two.')])[0]?.details).toEqual(['a: One.', 'b: Two.']);
  });

  it('name nodes with the same detail together', () => {
    const findings = [low('studio-1', 'One.'), low('studio-2', 'One.'), low('studio-3', 'Two.')];
    expect(mergeFindings(findings)[0]?.details).toEqual(['studio-1,2: One.', 'studio-3: Two.']);
  });

  it('list all names in a meshwright command', () => {
    const ask = (name: string) =>
      diagnose('fact/unknown', {
        subject: nodeSubject(name),
        detail: 'Unknown: power.',
        hint: prose`See why: ${meshwright('facts', name)}`,
      });
    expect(plainText(mergeFindings([ask('a'), ask('b')])[0]?.hint ?? '')).toBe('See why: meshwright facts a b');
  });

  it('keep the host names of nodes whose name equals their host name', () => {
    const noKey = (name: string, host: string) =>
      diagnose('ssh/no-key', { subject: nodeSubject(name), detail: `No SSH key available for chuck@${host}.` });
    expect(mergeFindings([noKey('mac1', 'mac1'), noKey('mac2', 'mac2.local')])[0]?.details).toEqual([
      'mac1: No SSH key available for chuck@mac1.',
      'mac2: No SSH key available for chuck@mac2.local.',
    ]);
  });

  it('list errors first and otherwise keep their order', () => {
    const error = diagnose(codes['cabling/missing'], {
      subject: linkSubject(['a', 'b'].map((name) => ({ node: nodeName(name), receptacle: 1 })) as never),
      detail: 'None.',
    });
    expect(mergeFindings([low('a'), error]).map((one) => one.severity)).toEqual(['error', 'warning']);
  });
});
