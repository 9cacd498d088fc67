import { describe, expect, it } from 'vitest';
import { escapeLines, escapeText, jsonText } from '../../../src/diagnostics/escape.ts';

describe('escaped text', () => {
  it.each([
    ['an ANSI sequence', 'a\u001b[31mred', 'a\\u{1b}[31mred'],
    ['an OSC sequence with its bell', '\u001b]0;title\u0007', '\\u{1b}]0;title\\u{7}'],
    ['a one-character ANSI sequence', '\u009b2J', '\\u{9b}2J'],
    ['a carriage return and a line feed', 'a\r\nb', 'a\\u{d}\\u{a}b'],
    ['DEL and NUL', '\u007f\u0000', '\\u{7f}\\u{0}'],
    ['a change in text direction', 'a\u202eb\u2066c', 'a\\u{202e}b\\u{2066}c'],
    ['a line separator', 'a\u2028b\u2029', 'a\\u{2028}b\\u{2029}'],
    ['a lone surrogate', 'a\ud83d', 'a\\u{d83d}'],
    ['a zero-width space and a byte order mark', '\u200ba\ufeff', '\\u{200b}a\\u{feff}'],
    ['a tag character beyond the first plane', '\u{e0041}', '\\u{e0041}'],
    ['an invisible filler', '\u3164', '\\u{3164}'],
    ['a GitHub runner command', '::error::x', '\\u{3a}:error::x'],
    ['a GitHub runner command after spaces', 'a  ::set-output name=a::b', 'a  \\u{3a}:set-output name=a::b'],
    ['the older form of a GitHub runner command', 'a ##[error]x', 'a \\u{23}#[error]x'],
  ])('makes %s visible', (_name, text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });

  it.each(['studio-1.lan', 'fe80::1%en0', '::1', 'a::b', 'größer 数 🖥 e\u0301', 'C:\\temp', '⚠️'])(
    'keeps %s unchanged',
    (text) => {
      expect(escapeText(text)).toBe(text);
    },
  );

  it('is not changed by being escaped again', () => {
    const once = escapeText('\u001b[0m ::warning::a ##[x] \u202e');
    expect(escapeText(once)).toBe(once);
  });

  it('keeps line feeds and tabs in multi-line text', () => {
    expect(escapeLines('a\tb\nc\r\n\u001b')).toBe('a\tb\nc\\u{d}\n\\u{1b}');
  });
});

describe('printed JSON', () => {
  it('contains no raw control or format character and loses nothing', () => {
    const value = { text: 'a\u009b\u202e\u2028\ud800\u{e0041}\u007f\n\t"' };
    const text = jsonText(value);
    expect(text).toBe('{\n  "text": "a\\u009b\\u202e\\u2028\\ud800\\udb40\\udc41\\u007f\\n\\t\\""\n}');
    expect(JSON.parse(text)).toEqual(value);
  });

  it('contains no command for a GitHub runner and loses nothing', () => {
    const value = { 'key ##[group]': ['::error::a', '##[error]b', '\\##[command]c', '###[d'] };
    const text = jsonText(value);
    expect(text).not.toMatch(/##\[|^\s*::/m);
    expect(JSON.parse(text)).toEqual(value);
  });
});
