import { appendFileSync, chmodSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rankLog } from '../../../../src/node/paths/own-paths.ts';
import {
  type LogMark,
  mostPartBytes,
  parseLogParts,
  rankLogPartsCommand,
} from '../../../../src/rack/placement/observed/rank-log-script.ts';
import { run } from './exec-line.ts';
import { type MacRoot, makeMacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
const logPath = (root: MacRoot, placement = 'kimi'): string => join(root.folder, rankLog(placement).path);

interface Seen {
  readonly from: number;
  readonly text: string;
  readonly mark: LogMark;
}

async function readKimi(root: MacRoot, mark?: LogMark): Promise<Seen> {
  const wish = { placement: 'kimi', ...(mark === undefined ? {} : { mark }) };
  const [part] = parseLogParts(await run(rankLogPartsCommand([wish], root.folder))) ?? [];
  if (part?.kind !== 'part') throw new Error(`the answer has no part: ${part?.kind}`);
  return { from: part.from, text: Buffer.from(part.bytes).toString(), mark: part.mark };
}

describe.each(scriptShells)('a followed log in $name', (shell) => {
  it('is read to its end, and the next read continues from there', async () => {
    const root = newRoot(shell);
    root.file(rankLog('kimi').path, 'one\n@log kimi 1 0\nhal');
    const first = await readKimi(root);
    expect(first).toMatchObject({ from: 0, text: 'one\n@log kimi 1 0\nhal', mark: { bytes: 21 } });
    expect(await readKimi(root, first.mark)).toEqual({ from: 21, text: '', mark: first.mark });
    appendFileSync(logPath(root), 'f\u00e4\n\u0000\u001b[2J');
    const second = await readKimi(root, first.mark);
    expect(second).toMatchObject({ from: 21, text: 'f\u00e4\n\u0000\u001b[2J' });
    expect(second.mark).toEqual({ file: first.mark.file, bytes: 30 });
  });

  it('is read from the start after truncation or rotation', async () => {
    const root = newRoot(shell);
    root.file(rankLog('kimi').path, 'a long first line\n');
    const { mark } = await readKimi(root);
    writeFileSync(logPath(root), 'short\n');
    const cut = await readKimi(root, mark);
    expect(cut).toMatchObject({ from: 0, text: 'short\n' });
    renameSync(logPath(root), `${logPath(root)}.0`);
    writeFileSync(logPath(root), 'rotated, and longer than before\n');
    const rotated = await readKimi(root, cut.mark);
    expect(rotated).toMatchObject({ from: 0, text: 'rotated, and longer than before\n' });
    expect(rotated.mark.file).not.toBe(cut.mark.file);
  });

  it('is read in parts of limited size', async () => {
    const root = newRoot(shell);
    const text = 'x'.repeat(mostPartBytes + 100);
    root.file(rankLog('kimi').path, text);
    const last = await readKimi(root);
    expect([last.from, last.text.length]).toEqual([100, mostPartBytes]);
    const { mark } = last;
    const whole = await readKimi(root, { file: mark.file, bytes: 0 });
    expect([whole.from, whole.text.length]).toEqual([0, mostPartBytes]);
    expect((await readKimi(root, whole.mark)).text).toHaveLength(100);
  });

  it('is reported separately if missing or unreadable', async () => {
    const root = newRoot(shell);
    root.file(rankLog('kimi').path, 'kimi\n');
    root.file(rankLog('closed').path, 'secret\n');
    // Root can read everything, even in a test.
    root.tool('usr/bin/stat', 'case $3 in (*closed.log) exit 1 ;; esac\nprintf "7 5\\n"');
    chmodSync(logPath(root, 'closed'), 0o000);
    const wishes = ['kimi', 'qwen', 'closed'].map((placement) => ({ placement }));
    const parts = parseLogParts(await run(rankLogPartsCommand(wishes, root.folder))) ?? [];
    expect(parts.map(({ kind, placement }) => [placement, kind])).toEqual([
      ['kimi', 'part'],
      ['qwen', 'none'],
      ['closed', 'unreadable'],
    ]);
  });
});

describe('a log answer', () => {
  it('is rejected if anything in it is not a well-formed part', () => {
    expect(parseLogParts('')).toEqual([]);
    for (const strange of ['hello\n', '@log kimi 1\n', '@log kimi 1 0\n<not base64>\n', 'x\n@log kimi none\n']) {
      expect(parseLogParts(strange), strange).toBeUndefined();
    }
  });
});
