import { Composer } from 'yaml';
import { escapeText } from '../diagnostics/escape.ts';
import type { Problem } from './problem.ts';
import { type SourceMap, type SourceText, sourceText } from './source-map.ts';
import { readTokens, syntaxProblems } from './syntax-problems.ts';
import { readValues } from './yaml-values.ts';

/** Files above this many bytes (of UTF-16 units, when given as text) are refused before anything looks at them. */
const maxFileBytes = 524_288;

/** A text that is fit to be parsed, or the problems that forbid it. */
interface ReadText {
  readonly source: SourceText;
  readonly problems: readonly Problem[];
}

/** Decodes and guards the text of a file: its size, its encoding, and characters that nobody can see. */
function readText(input: string | Uint8Array, file: string): ReadText {
  if (input.length > maxFileBytes) return refused(file, 'yaml/too-large', tooLarge);
  if (typeof input !== 'string' && isUtf16(input)) return refused(file, 'yaml/not-utf8', 'It begins like UTF-16.');
  const text = typeof input === 'string' ? input : new TextDecoder('utf-8', { ignoreBOM: true }).decode(input);
  const source = sourceText(file, text);
  const at = source.text.indexOf('\ufffd');
  const problems = at === -1 ? invisibleCharacters(source.text) : [notUtf8(at)];
  return { source, problems };
}

const tooLarge = `It has more than the ${maxFileBytes / 1024} KiB that are read.`;

function refused(file: string, code: Problem['code'], detail: string): ReadText {
  return { source: sourceText(file, ''), problems: [{ code, span: { start: 0, end: 0 }, detail }] };
}

const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

/** A decoder puts U+FFFD where bytes are no UTF-8; nobody writes that character on purpose. */
const notUtf8 = (at: number): Problem => ({
  code: 'yaml/not-utf8',
  span: { start: at, end: at + 1 },
  detail: 'Here stand bytes that no UTF-8 text has.',
});

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

/** One YAML file as plain data. `value` is absent when the text is too broken to have one. */
export interface ReadDocument {
  readonly source: SourceText;
  readonly value?: unknown;
  readonly map: SourceMap;
  readonly problems: readonly Problem[];
}

const noPlaces: SourceMap = new Map();

/**
 * Reads one YAML 1.2 document into plain data without prototypes, with the place of every value. Never throws for
 * any input; time and memory are bounded by the size limit, the depth limit and the limit on unfolded aliases.
 */
export function readDocument(input: string | Uint8Array, file: string): ReadDocument {
  const { source, problems } = readText(input, file);
  if (problems.length > 0) return { source, map: noPlaces, problems };
  const { tokens, problems: refused } = readTokens(source.text);
  if (refused.length > 0) return { source, map: noPlaces, problems: refused };
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, keepSourceTokens: false, merge: false });
  const document = [...composer.compose(tokens, true, source.text.length)][0];
  if (document === undefined || document.contents === null) return empty(source);
  const broken = syntaxProblems(document.errors, source, tokens);
  if (broken.length > 0) return { source, map: noPlaces, problems: broken };
  const read = readValues(document.contents, source.text);
  if (read.value === null && read.problems.length === 0) return empty(source);
  return { source, ...read };
}

function empty(source: SourceText): ReadDocument {
  const detail = 'There is no value in it, only comments or nothing at all.';
  return { source, map: noPlaces, problems: [{ code: 'yaml/empty', span: { start: 0, end: 0 }, detail }] };
}
