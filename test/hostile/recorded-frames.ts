import { type NodeTarget, withRemote } from '../../src/apply/reach/session.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { allProbes } from '../../src/engine/observe/facts.ts';
import type { Answer, Asked } from '../../src/model/probe.ts';
import { observeCommand } from '../../src/node/observe-script.ts';

/** A real observation as received. */
export interface Recording {
  readonly boundary: string;
  readonly bytes: Buffer;
  readonly asked: Asked;
}

/** Runs the product's observation script on a node and records the answer. */
export async function recordFrames(way: NodeTarget, boundary: string): Promise<Recording> {
  const probes = allProbes();
  const limits = { name: 'observe', deadlineMs: 60_000, maxBytes: 16_000_000 };
  const reached = await withRemote(way, limits, (remote) =>
    remote.exec(observeCommand({ probes, boundary, rootPrefix: remote.rootPrefix }), limits),
  );
  if (reached.kind === 'unreached') throw new Error(`no recording: ${plainText(reached.diagnostics[0].detail)}`);
  const { stdout, sentAtEpochMs, receivedAtEpochMs } = reached.value;
  return { boundary, bytes: Buffer.from(stdout), asked: { sentAtEpochMs, receivedAtEpochMs } };
}

/** The token in a command sent by the product. */
export const tokenIn = (command: string): string => /T=([0-9a-f]{32})\n/.exec(command)?.[1] ?? '';

/** The output of a tool on a hostile node. */
export interface Said {
  readonly out: string | Buffer;
  readonly err?: string | Buffer;
  readonly code?: number | 'stuck';
  readonly isLate?: boolean;
}

const bytesOf = (text: string | Buffer): Buffer => (typeof text === 'string' ? Buffer.from(text) : text);

/**
 * The frames of a whole observation with these answers. They follow the description of the protocol and do not use the
 * product's script, so that they cannot share its mistakes.
 */
export function printFrames(token: string, said: readonly Said[]): Buffer {
  const lines = said.map(({ code = 0, isLate = false }, at) => `${token} ${at + 1} ${code} ${isLate ? 1 : 0}\n`);
  const sizes = said.flatMap(({ out, err = '' }, at) => [
    `${String(bytesOf(out).length).padStart(8)} ${at + 1}.o\n`,
    `${String(bytesOf(err).length).padStart(8)} ${at + 1}.e\n`,
  ]);
  const bodies = said.flatMap(({ out, err = '' }, at) => [
    Buffer.from(`\n${token} ${at + 1} out\n`),
    bytesOf(out),
    Buffer.from(`\n${token} ${at + 1} err\n`),
    bytesOf(err),
  ]);
  const head = `\n${token} begin 1 ${said.length}\n${lines.join('')}${token} sizes\n${sizes.join('')}       0 total\n`;
  return Buffer.concat([Buffer.from(head), ...bodies, Buffer.from(`\n${token} end\n`)]);
}

/** The tool outputs of an honest node, as the base of a manipulated answer. */
export function saidBy(answers: readonly Answer[]): readonly Said[] {
  return answers.map(({ stdout, stderr, exit, isLate }) => ({
    out: stdout,
    err: stderr,
    code: exit.kind === 'exited' ? exit.code : 'stuck',
    isLate,
  }));
}
