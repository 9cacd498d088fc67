import { describe, expect, it } from 'vitest';
import { escapeLines, escapeText, jsonText } from '../../../src/diagnostics/escape.ts';

describe('escaped text', () => {
  it.each([
    ['an ANSI sequence', 'a\u001b[31mred', 'a\\u{1b}[31mred'],
    ['an OSC sequence with its bell', '\u001b]0;title\u0007', '\\u{1b}]0;title\\u{7}'],
    ['the one-character form of an ANSI sequence', '\u009b2J', '\\u{9b}2J'],
    ['a carriage return and a line feed', 'a\r\nb', 'a\\u{d}\\u{a}b'],
    ['DEL and NUL', '\u007f\u0000', '\\u{7f}\\u{0}'],
    ['a turn of the reading direction', 'a\u202eb\u2066c', 'a\\u{202e}b\\u{2066}c'],
    ['a line separator', 'a\u2028b\u2029', 'a\\u{2028}b\\u{2029}'],
    ['half a character', 'a\ud83d', 'a\\u{d83d}'],
    ['a zero-width space and a byte order mark', '\u200ba\ufeff', '\\u{200b}a\\u{feff}'],
    ['a tag character beyond the first plane', '\u{e0041}', '\\u{e0041}'],
    ['a filler that shows nothing', '\u3164', '\\u{3164}'],
    ['a command of the GitHub runner', '::error::x', '\\u{3a}:error::x'],
    ['such a command after spaces', 'a  ::set-output name=a::b', 'a  \\u{3a}:set-output name=a::b'],
    ['the older form of such a command', 'a ##[error]x', 'a \\u{23}#[error]x'],
  ])('shows %s (cases 14, 17)', (_name, text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });

  it.each(['studio-1.lan', 'fe80::1%en0', '::1', 'a::b', 'größer 数 🖥 e\u0301', 'C:\\temp', '⚠️'])(
    'leaves %s as it is',
    (text) => {
      expect(escapeText(text)).toBe(text);
    },
  );

  it('does not change when it is escaped again', () => {
    const once = escapeText('\u001b[0m ::warning::a ##[x] \u202e');
    expect(escapeText(once)).toBe(once);
  });

  it('keeps line feeds and tabs where several lines are shown', () => {
    expect(escapeLines('a\tb\nc\r\n\u001b')).toBe('a\tb\nc\\u{d}\n\\u{1b}');
  });
});

describe('printed JSON', () => {
  it('holds no raw control or format character and loses nothing (case 17)', () => {
    const value = { text: 'a\u009b\u202e\u2028\ud800\u{e0041}\u007f\n\t"' };
    const text = jsonText(value);
    expect(text).toBe('{\n  "text": "a\\u009b\\u202e\\u2028\\ud800\\udb40\\udc41\\u007f\\n\\t\\""\n}');
    expect(JSON.parse(text)).toEqual(value);
  });

  it('holds nothing that a GitHub runner obeys, at the start of a line or inside one, and loses nothing (case 14)', () => {
    const value = { 'key ##[group]': ['::error::a', '##[error]b', '\\##[command]c', '###[d'] };
    const text = jsonText(value);
    expect(text).not.toMatch(/##\[|^\s*::/m);
    expect(JSON.parse(text)).toEqual(value);
  });
});
