import { escapeText } from '../diagnostics/escape.ts';
import { type SourceText, sourceText } from './line-index.ts';
import type { Problem } from './problem.ts';

/** Files above this many bytes (of UTF-16 units, when given as text) are refused before anything looks at them. */
export const maxFileBytes = 524_288;

/** A text that is fit to be parsed, or the problems that forbid it. */
export interface ReadText {
  readonly source: SourceText;
  readonly problems: readonly Problem[];
}

/** Decodes and guards the text of a file: its size, its encoding, and characters that nobody can see. */
export function readText(input: string | Uint8Array, file: string): ReadText {
  if (input.length > maxFileBytes) return refused(file, 'yaml/too-large', tooLarge(input.length));
  const text = typeof input === 'string' ? input : decode(input);
  if (text === undefined) return notUtf8(file, input as Uint8Array);
  const source = sourceText(file, text);
  return { source, problems: invisibleCharacters(source.text) };
}

const tooLarge = (length: number): string =>
  `It has ${Math.ceil(length / 1024)} KiB; at most ${maxFileBytes / 1024} KiB are read.`;

function refused(file: string, code: Problem['code'], detail: string): ReadText {
  return { source: sourceText(file, ''), problems: [{ code, span: { start: 0, end: 0 }, detail }] };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function notUtf8(file: string, bytes: Uint8Array): ReadText {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16) return refused(file, 'yaml/not-utf8', 'It begins like a UTF-16 file.');
  const source = sourceText(file, new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  const at = firstForeignByte(source.text, bytes);
  const detail = 'Here stands a byte that no UTF-8 text has at this place.';
  return { source, problems: [{ code: 'yaml/not-utf8', span: { start: at, end: at + 1 }, detail }] };
}

/** The first replacement character of a loosely decoded text that does not stand in the bytes themselves. */
function firstForeignByte(text: string, bytes: Uint8Array): number {
  const encoder = new TextEncoder();
  const skipsMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  let byte = skipsMark ? 3 : 0;
  let from = 0;
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1)) {
    byte += encoder.encode(text.slice(from, at)).length;
    const isWritten = bytes[byte] === 0xef && bytes[byte + 1] === 0xbf && bytes[byte + 2] === 0xbd;
    if (!isWritten) return at;
    byte += 3;
    from = at + 1;
  }
  return 0;
}

const invisible =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]|\r(?!\n)|\p{Cs}/gu;
const reportedAtMost = 20;

function invisibleCharacters(text: string): readonly Problem[] {
  const problems: Problem[] = [];
  for (const found of text.matchAll(invisible)) {
    const span = { start: found.index, end: found.index + found[0].length };
    const detail = `Here stands ${escapeText(found[0])}${meaningOf(found[0])}.`;
    problems.push({ code: 'yaml/control-character', span, detail });
    if (problems.length === reportedAtMost) break;
  }
  return problems;
}

function meaningOf(character: string): string {
  if (character === '\u0000') return ', the NUL character';
  if (character === '\r') return ', a carriage return without a line feed';
  if (character === '\u001b') return ', the start of a terminal command';
  if (/\p{Cs}/u.test(character)) return ', half of a character';
  return /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(character) ? ', which turns the reading direction' : '';
}
