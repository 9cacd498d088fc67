/**
 * Parses the output of the observation script, regardless of other text before, between and after its lines:
 *
 * <boundary> begin 1 <probes> <boundary> <probe> <exit code or "stuck"> <1 when late>      one line per probe, counted
 * from 1 <boundary> sizes 27 1.o                                               as `wc -c` prints them <boundary>
 * <probe> out                                       then that many bytes, for each file <boundary> end
 *
 * An answer counts only if its line, both sizes, and the separators on both sides of both files agree; otherwise the
 * answer is missing. Separators contain the boundary, so that one broken answer does not affect later answers.
 */
import { isUtf8 } from 'node:buffer';
import type { Answer, Exit, Probe } from '../model/probe.ts';

export interface FramesRequest {
  readonly probes: readonly Probe[];
  readonly boundary: string;
}

/** Returns one answer per probe, in probe order. Never throws: an untrustworthy answer is `missing`. */
export function parseFrames(output: Uint8Array, request: FramesRequest): readonly Answer[] {
  const bytes = Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  // Latin-1 has one character per byte, so text offsets are byte offsets.
  const text = bytes.toString('latin1');
  const { probes, boundary } = request;
  const start = `\n${boundary} begin 1 ${probes.length}\n`;
  const at = text.indexOf(start);
  if (at < 0) {
    const reason = reasonWithoutBegin(text, boundary);
    return probes.map((probe) => missing(probe, reason));
  }
  const frames = readFrames(text, at + start.length, boundary);
  return probes.map((probe, index) => answerOf(probe, index + 1, frames, bytes));
}

type Missing = NonNullable<Answer['missing']>;

const missing = (probe: Probe, reason: Missing): Answer => ({
  probe: probe.name,
  exit: { kind: 'unknown', reason: 'no answer arrived' },
  stdout: '',
  stderr: '',
  isTruncated: false,
  isLate: false,
  isUtf8: true,
  missing: reason,
});

function reasonWithoutBegin(text: string, boundary: string): Missing {
  if (text.includes(`\n${boundary} nowhere\n`)) return 'not-asked';
  return text.includes(`\n${boundary} begin `) && text.includes(`\n${boundary} sizes\n`) ? 'garbled' : 'truncated';
}

/** One probe's line: the exit code from the shell, and whether the watchdog stopped the probe. */
interface Line {
  readonly code: string;
  readonly isLate: boolean;
}

/** The text between a separator and the next one, which is named `next`; incomplete without a next one. */
interface Body {
  readonly start: number;
  readonly end: number;
  readonly next: string;
}

/** All readable parts of the output. Anything printed twice is `undefined`, because neither copy is trustworthy. */
interface Frames {
  readonly lines: ReadonlyMap<string, Line | undefined>;
  readonly sizes: ReadonlyMap<string, number | undefined>;
  /** The texts by the name of the preceding separator: `3 out`, `3 err` or `end`. */
  readonly bodies: ReadonlyMap<string, Body | undefined>;
  /** Whether the end line arrived. If not, missing parts were cut off. */
  readonly isWhole: boolean;
}

function readFrames(text: string, from: number, boundary: string): Frames {
  const separator = new RegExp(`\\n${boundary} (\\d{1,6} (?:out|err)|end)\\n`, 'g');
  separator.lastIndex = from;
  const all = [...text.matchAll(separator)];
  const bodies = new Map<string, Body | undefined>();
  for (const [at, { 0: whole, 1: name = '', index }] of all.entries()) {
    const next = all[at + 1];
    const body = { start: index + whole.length, end: next?.index ?? 0, next: next?.[1] ?? '' };
    bodies.set(name, bodies.has(name) ? undefined : body);
  }
  const head = text.slice(from, all[0]?.index).split('\n');
  const lines = new Map<string, Line | undefined>();
  const sizes = new Map<string, number | undefined>();
  const sizesAt = head.indexOf(`${boundary} sizes`);
  const line = new RegExp(`^${boundary} (\\d{1,6}) (\\d{1,3}|stuck) ([01])$`);
  for (const one of sizesAt < 0 ? head : head.slice(0, sizesAt)) {
    const [, id = '', code = '', late] = line.exec(one) ?? [];
    if (id !== '') lines.set(id, lines.has(id) ? undefined : { code, isLate: late === '1' });
  }
  for (const one of sizesAt < 0 ? [] : head.slice(sizesAt + 1)) {
    const [, size, name = ''] = /^ *(\d{1,15}) +(\d{1,6}\.[oe])$/.exec(one) ?? [];
    if (name !== '') sizes.set(name, sizes.has(name) ? undefined : Number(size));
  }
  return { lines, sizes, bodies, isWhole: bodies.has('end') };
}

function answerOf(probe: Probe, id: number, frames: Frames, bytes: Buffer): Answer {
  const line = frames.lines.get(String(id));
  const exit = line === undefined ? undefined : exitOf(line.code);
  const stdout = bodyOf(id, 'out', frames);
  const stderr = bodyOf(id, 'err', frames);
  if (line === undefined || exit === undefined || typeof stdout === 'string' || typeof stderr === 'string') {
    const isCut = stdout === 'truncated' || stderr === 'truncated';
    return missing(probe, isCut && !frames.isWhole ? 'truncated' : 'garbled');
  }
  const out = decode(bytes.subarray(stdout.start, stdout.end), probe.maxBytes);
  const err = decode(bytes.subarray(stderr.start, stderr.end), probe.maxBytes);
  return {
    probe: probe.name,
    exit,
    stdout: out.text,
    stderr: err.text,
    isTruncated: out.isCut || err.isCut,
    isLate: line.isLate || exit.kind === 'unknown',
    isUtf8: out.isUtf8 && err.isUtf8,
  };
}

/** The position of a file's content, if its separator, the next separator and its size all agree. */
function bodyOf(
  id: number,
  stream: 'out' | 'err',
  { bodies, sizes }: Frames,
): { readonly start: number; readonly end: number } | 'truncated' | 'garbled' {
  const name = `${id} ${stream}`;
  const own = bodies.get(name);
  if (own === undefined && bodies.has(name)) return 'garbled';
  if (own === undefined || own.next === '') return 'truncated';
  const nexts = stream === 'out' ? [`${id} err`] : [`${id + 1} out`, 'end'];
  const size = sizes.get(`${id}.${stream === 'out' ? 'o' : 'e'}`);
  return nexts.includes(own.next) && size === own.end - own.start ? own : 'garbled';
}

/** Signals with equal numbers on macOS and Linux; others keep their number. */
const signalNames: Readonly<Record<number, string>> = {
  1: 'HUP',
  2: 'INT',
  3: 'QUIT',
  4: 'ILL',
  5: 'TRAP',
  6: 'ABRT',
  8: 'FPE',
  9: 'KILL',
  11: 'SEGV',
  13: 'PIPE',
  14: 'ALRM',
  15: 'TERM',
  24: 'XCPU',
  25: 'XFSZ',
};

/** Interprets a shell's exit code: 128 plus a signal's number. No tool of ours exits with such a code by itself. */
function exitOf(code: string): Exit | undefined {
  if (code === 'stuck') return { kind: 'unknown', reason: 'it was still running after KILL' };
  const number = Number(code);
  if (number > 255) return undefined;
  const signal = number - 128;
  if (signal < 1 || signal > 31) return { kind: 'exited', code: number };
  return { kind: 'signalled', signal: signalNames[signal] ?? String(signal) };
}

/** Truncates bytes beyond `maxBytes`, because the node limits its files only roughly. */
function decode(bytes: Buffer, maxBytes: number) {
  const isCut = bytes.length > maxBytes;
  const used = isCut ? bytes.subarray(0, maxBytes) : bytes;
  return { text: used.toString('utf8'), isCut, isUtf8: isUtf8(bytes) };
}
