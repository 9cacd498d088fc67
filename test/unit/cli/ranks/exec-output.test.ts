import { describe, expect, it } from 'vitest';
import type { CommandOutcome } from '../../../../src/apply/reach/session.ts';
import { maxBytesPerNode, showOutcomes, showOutcomesJson } from '../../../../src/cli/ranks/exec.ts';
import type { Console } from '../../../../src/cli/terminal/console.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { unknownExit } from '../../../../src/remote/remote.ts';
import { fakeRun } from '../console-of.ts';

const mebibyte = 1024 * 1024;
const maxBytes = 16 * mebibyte;

/** A console that counts its output and keeps the beginning. */
function makeConsole() {
  const seen = { out: '', err: '', outChars: 0, longest: 0, writes: 0 };
  const console: Console = {
    ...fakeRun().run.console,
    out: (text) => {
      seen.outChars += text.length;
      seen.longest = Math.max(seen.longest, text.length);
      seen.writes += 1;
      if (seen.out.length < 10_000) seen.out += text;
    },
    err: (text) => {
      seen.err += text;
    },
    hasUnicode: true,
  };
  return { console, seen };
}

const ended = (
  stdout: Uint8Array,
  more: Partial<Extract<CommandOutcome, { kind: 'ended' }>['result']> = {},
): CommandOutcome => ({
  kind: 'ended',
  node: nodeName('studio-1'),
  result: {
    exit: { kind: 'exited', code: 0 },
    stdout,
    stderr: new Uint8Array(),
    isTruncated: false,
    sentAtEpochMs: 0,
    receivedAtEpochMs: 0,
    ...more,
  },
});

describe('the output of a command on nodes', () => {
  it('is cut after 100,000 lines, with a note about the rest', async () => {
    const { console, seen } = makeConsole();
    await showOutcomes(console, [ended(Buffer.alloc(16 * mebibyte, 10))], maxBytes);
    expect(seen.outChars).toBe(100_000 * 'studio-1 | \n'.length);
    expect(seen.longest).toBeLessThan(70_000);
    expect(seen.err).toBe('studio-1 ! 16677216 more characters not shown after 100000 lines; use --json for all\n');
  });

  it('is complete in one JSON document, even if it is hostile', async () => {
    const { console, seen } = makeConsole();
    const texts: string[] = [];
    const outcomes = [ended(Buffer.alloc(4 * mebibyte, 27)), ended(Buffer.from('fine\n'))];
    await showOutcomesJson({ ...console, out: (text) => void texts.push(text) }, outcomes);
    expect(seen.err).toBe('');
    expect(JSON.parse(texts.join(''))).toMatchObject({ formatVersion: 1, nodes: { 'studio-1': { stdout: 'fine\n' } } });
    expect(texts.length).toBe(4);
  });

  it('is a JSON document even without nodes', async () => {
    const texts: string[] = [];
    await showOutcomesJson({ ...makeConsole().console, out: (text) => void texts.push(text) }, []);
    expect(texts.join('')).toBe('{\n  "formatVersion": 1,\n  "nodes": {}\n}\n');
  });

  it('includes the reason for an unknown exit code', async () => {
    const { console, seen } = makeConsole();
    await showOutcomes(console, [ended(new Uint8Array(), { exit: unknownExit.late(1_500) })], maxBytes);
    expect(seen.err).toContain('studio-1 ! exit unknown: the command did not finish within 1.5 s');
    expect(seen.err).toContain('ssh/timed-out');
  });

  it('is stored in full for a few nodes, and in part for many', () => {
    expect([1, 8, 32, 1_000].map((nodes) => maxBytesPerNode(nodes) / mebibyte)).toEqual([16, 16, 4, 1]);
  });
});
