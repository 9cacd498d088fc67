import { type NodeWay, withRemote } from '../../src/apply/reach/session.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { allProbes } from '../../src/engine/observe/facts.ts';
import type { Answer, Asked } from '../../src/model/probe.ts';
import { observeCommand } from '../../src/node/observe-script.ts';

/** One real observation as it came over the wire. */
export interface Recording {
  readonly token: string;
  readonly bytes: Buffer;
  readonly asked: Asked;
}

/** Runs the product's own observation script on a node and keeps what came back. */
export async function recordFrames(way: NodeWay, token: string): Promise<Recording> {
  const probes = allProbes();
  const limits = { name: 'observe', deadlineMs: 60_000, maxBytes: 16_000_000 };
  const reached = await withRemote(way, limits, (remote) =>
    remote.exec(observeCommand({ probes, token, rootPrefix: remote.rootPrefix }), limits),
  );
  if (reached.kind === 'unreached') throw new Error(`no recording: ${plainText(reached.diagnostics[0].detail)}`);
  const { stdout, sentAtEpochMs, receivedAtEpochMs } = reached.value;
  return { token, bytes: Buffer.from(stdout), asked: { sentAtEpochMs, receivedAtEpochMs } };
}

/** The token in a command that the product has sent. */
export const tokenIn = (command: string): string => /T=([0-9a-f]{32})\n/.exec(command)?.[1] ?? '';

/** What a hostile node makes its tools say. */
export interface Said {
  readonly out: string | Buffer;
  readonly err?: string | Buffer;
  readonly code?: number | 'stuck';
  readonly isLate?: boolean;
}

const bytesOf = (text: string | Buffer): Buffer => (typeof text === 'string' ? Buffer.from(text) : text);

/**
 * The frames of a whole observation with these answers, written down here from the description of the protocol and not
 * by the product's own script, so that a mistake of the script cannot hide in them.
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

/** What the tools of an honest node said, as the start of a lie. */
export function saidBy(answers: readonly Answer[]): readonly Said[] {
  return answers.map(({ stdout, stderr, exit, isLate }) => ({
    out: stdout,
    err: stderr,
    code: exit.kind === 'exited' ? exit.code : 'stuck',
    isLate,
  }));
}
