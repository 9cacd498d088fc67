import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { docsAnchor, renderDiagnostics } from '../../../src/diagnostics/render.ts';
import { nodeSubject, nodesSubject } from '../../../src/model/subject.ts';

const file = 'cluster.yaml';

/** Renders a diagnostic about a text. */
function draw(text: string, one: Diagnostic, columns = 80, color = false): readonly string[] {
  return renderDiagnostics([one], { sources: new Map([[file, text]]), columns, color, isSimulated: false }).split('\n');
}

const at = (line: number, column: number, endColumn: number) => ({ file, line, column, endLine: line, endColumn });

describe("a diagnostic's text", () => {
  it('shows place, line, underline, label, reason and hint', () => {
    const text = `${'\n'.repeat(29)}    - studio-1:3 <-> studio-3:2\n    - studio-1:3 <-> studio-4:2\n`;
    const one = diagnose('topology/receptacle-used-twice', {
      detail: 'One receptacle holds one cable.',
      hint: 'studio-1 has receptacles 4, 5 and 6 free; did you mean studio-1:4?',
      label: 'receptacle 3 of studio-1 already carries line 30',
      where: at(31, 7, 17),
      related: [diagnose('topology/receptacle-used-twice', { detail: 'The first.', where: at(30, 7, 17) })],
    });
    expect(draw(text, one)).toEqual([
      'cluster.yaml:31:7  error  topology/receptacle-used-twice',
      '  Two links use the same receptacle.',
      '  30 |     - studio-1:3 <-> studio-3:2',
      '  31 |     - studio-1:3 <-> studio-4:2',
      '     |       ^^^^^^^^^^ receptacle 3 of studio-1 already carries line 30',
      '  One receptacle holds one cable.',
      '  hint: studio-1 has receptacles 4, 5 and 6 free; did you mean studio-1:4?',
      '',
    ]);
  });

  it('begins with the mistake if the diagnostic is about the command line', () => {
    const one = diagnose('cli/usage', { detail: 'Unknown command "up".', hint: 'Did you mean apply?' });
    expect(draw('', one)).toEqual(['error  cli/usage', '  Unknown command "up".', '  hint: Did you mean apply?', '']);
  });

  it('shows the lines of at most three related places, in order, without the lines between them', () => {
    const again = (line: number, related: readonly Diagnostic[] = []) =>
      diagnose('yaml/duplicate-key', { detail: 'Again.', where: at(line, 1, 2), related });
    const others = [12, 7, 4, 1].map((line) => again(line));
    const one = again(9, others);
    const drawn = draw('a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n', one);
    const gap = '   ...';
    expect(drawn.slice(2, 10)).toEqual(['   4 | d', gap, '   7 | g', gap, '   9 | i', '     | ^', gap, '  12 | l']);
  });

  it('aligns the underline with wide characters and tabs', () => {
    const one = diagnose('schema/bad-form', { detail: 'No.', where: at(1, 6, 10) });
    const text = '\t数 e\u0301: 机x\u001by';
    const shown = '   1 |     数 e\u0301: 机x\\u{1b}y';
    expect(draw(text, one).slice(2, 4)).toEqual([shown, '     |         ^^^^^']);
    const far = diagnose('schema/bad-form', { detail: 'No.', where: at(1, 8, 10) });
    expect(draw(text, far).slice(2, 4)).toEqual([shown, '     |           ^^^']);
  });

  it('fits the page and keeps the underline below its text', () => {
    const text = `${'x'.repeat(500)}NEEDLE${'y'.repeat(500)}`;
    const one = diagnose('schema/bad-form', {
      detail: 'word '.repeat(60).trim(),
      label: 'some words that do not fit behind the underline on a page as narrow as this one is',
      where: at(1, 501, 507),
    });
    const drawn = draw(text, one);
    expect(drawn.filter((line) => line.length > 80)).toEqual([]);
    const [source = '', underline = ''] = drawn.slice(2, 4);
    expect(source.slice(underline.indexOf('^'), underline.lastIndexOf('^') + 1)).toBe('NEEDLE');
  });

  it('escapes all text from a file or a node', () => {
    const evil = '\u001b[2J\u202e';
    const texts = { detail: `a${evil}`, hint: `b${evil}`, label: `c${evil}` };
    const one = diagnose('schema/bad-form', { ...texts, where: at(1, 1, 2) });
    const text = draw(`x${evil}`, one).join('\n');
    expect(text).not.toMatch(/[\u001b\u202e]/);
    expect(text.match(/\\u\{1b\}/g)).toHaveLength(4);
  });

  it('names several Macs as a range', () => {
    const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
    const one = diagnose('ssh/no-key', { detail: 'No key.', subject: nodesSubject(names) });
    expect(draw('', one)[0]).toBe('nodes studio-1..4  error  ssh/no-key');
  });

  it('names the subject if no file is involved', () => {
    const one = diagnose('ssh/unreachable', { detail: 'Nobody answered.', subject: nodeSubject('studio-2') });
    expect(draw('', one)[0]).toBe('node studio-2  error  ssh/unreachable');
  });

  it('marks a place in an empty file or at a line end', () => {
    const one = diagnose('yaml/empty', { detail: 'Nothing.', where: at(1, 1, 1) });
    expect(draw('', one).slice(2, 4)).toEqual(['   1 |', '     | ^']);
    const end = diagnose('yaml/syntax', { detail: 'Nothing.', where: at(1, 4, 4) });
    expect(draw('abc\r\n', end).slice(2, 4)).toEqual(['   1 | abc', '     |    ^']);
  });

  it('has color only on request, with the same words', () => {
    const one = diagnose('schema/bad-form', { detail: 'No.', where: at(1, 1, 4) });
    const colored = draw('abc', one, 80, true).join('\n');
    expect(colored).toContain('\u001b[31merror\u001b[0m');
    expect(colored.replaceAll(/\u001b\[\d+m/g, '')).toBe(draw('abc', one).join('\n'));
  });

  it('is empty if there are no diagnostics', () => {
    expect(renderDiagnostics([], { sources: new Map(), columns: 80, color: false, isSimulated: false })).toBe('');
  });

  it('links to an explanation in docs/errors.md', () => {
    expect(docsAnchor('schema/bad-form')).toBe('docs/errors.md#schema-bad-form');
  });
});
