/** Composes the output of an observation script by hand, so that tests can damage it. */

import type { Answer, Probe } from '../../../src/model/probe.ts';
import { nodePath } from '../../../src/node/paths/node-paths.ts';

/** The token of every stream in these tests. */
export const boundary = '0123456789abcdef0123456789abcdef';

/** The result of one probe. */
export interface Ran {
  readonly code?: string;
  readonly isLate?: boolean;
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
}

/** One probe for each result. */
export const probesFor = (all: readonly Ran[]): readonly Probe[] =>
  all.map((_, at) => ({ name: `probe-${at + 1}`, ask: [nodePath('/bin/date')], deadlineMs: 1_000, maxBytes: 1_000 }));

const bytes = (text: string | Uint8Array | undefined): Buffer => Buffer.from(text ?? '');

/** The line of each probe, and the sizes, padded like those of macOS's `wc`. */
export function head(all: readonly Ran[]): string {
  const lines = all.map(({ code, isLate }, at) => `${boundary} ${at + 1} ${code ?? '0'} ${isLate === true ? 1 : 0}\n`);
  const sizes = all.flatMap(({ stdout, stderr }, at) => [
    `${String(bytes(stdout).length).padStart(8)} ${at + 1}.o\n`,
    `${String(bytes(stderr).length).padStart(8)} ${at + 1}.e\n`,
  ]);
  return `\n${boundary} begin 1 ${all.length}\n${lines.join('')}${boundary} sizes\n${sizes.join('')}      99 total\n`;
}

/** The files, each after its separator. */
export function bodies(all: readonly Ran[]): Buffer {
  const parts = all.flatMap(({ stdout, stderr }, at) => [
    Buffer.from(`\n${boundary} ${at + 1} out\n`),
    bytes(stdout),
    Buffer.from(`\n${boundary} ${at + 1} err\n`),
    bytes(stderr),
  ]);
  return Buffer.concat([...parts, Buffer.from(`\n${boundary} end\n`)]);
}

/** The whole stream. */
export const stream = (all: readonly Ran[]): Buffer => Buffer.concat([Buffer.from(head(all)), bodies(all)]);

/** The expected answer for a result that arrived completely. */
export const rightAnswer = (ran: Ran, at: number): Partial<Answer> => ({
  probe: `probe-${at + 1}`,
  exit: { kind: 'exited', code: Number(ran.code ?? '0') },
  stdout: bytes(ran.stdout).toString('utf8'),
  stderr: bytes(ran.stderr).toString('utf8'),
  isTruncated: false,
  isLate: ran.isLate ?? false,
  isUtf8: true,
});
