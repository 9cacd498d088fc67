import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countsFrom, readCounts, withAnswer, writeCounts } from '../../../src/gateway/counts.ts';
import { makeOwnRequests } from '../../../src/gateway/own-count.ts';
import { watchedFile } from '../../../src/gateway/watched-file.ts';
import { endpointCounts } from '../../rack/placements.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const folder = temporaryFolder();
const file = folder.at('counts');

describe("a gateway's request counts", () => {
  it('grow with each answer, and with the duration of streams with several tokens', () => {
    const none = countsFrom(77);
    expect(none).toEqual(endpointCounts({ sinceEpochSeconds: 77 }));
    const whole = withAnswer(none, { tokens: 5 });
    expect(whole).toEqual({ ...none, requests: 1, tokens: 5 });
    const streamed = withAnswer(whole, { tokens: 5, firstTokenMs: 30, generatingMs: 500 });
    const once = {
      ...none,
      requests: 2,
      tokens: 10,
      firstToken: { count: 1, totalMs: 30, lastMs: 30 },
      generating: { tokens: 4, totalMs: 500, lastPerSecond: 8 },
    };
    expect(streamed).toEqual(once);
    expect(withAnswer(streamed, { tokens: 3, firstTokenMs: 10, generatingMs: 1_000 })).toEqual({
      ...once,
      requests: 3,
      tokens: 13,
      firstToken: { count: 2, totalMs: 40, lastMs: 10 },
      generating: { tokens: 6, totalMs: 1_500, lastPerSecond: 2 },
    });
    for (const untimed of [
      { tokens: 1, generatingMs: 10 },
      { tokens: 5, generatingMs: 99 },
      { tokens: 0, generatingMs: 10 },
    ]) {
      expect(withAnswer(streamed, untimed)).toEqual({ ...once, requests: 3, tokens: 10 + untimed.tokens });
    }
    expect(withAnswer(none, { tokens: 2, generatingMs: 100 }).generating.tokens).toBe(1);
  });

  it('survive a restart, and start at zero if their file is missing or damaged', async () => {
    const kept = new Map([
      ['chat', { ...endpointCounts({ requests: 1, failed: 2, refused: 3, tokens: 4 }), sinceEpochSeconds: 5 }],
      [
        'code',
        endpointCounts({
          firstToken: { count: 1, totalMs: 2, lastMs: 3 },
          generating: { tokens: 4, totalMs: 5, lastPerSecond: 0.5 },
        }),
      ],
    ]);
    expect(readCounts(file)).toEqual(new Map());
    await writeCounts(file, kept);
    expect([readCounts(file), existsSync(`${file}.new`)]).toEqual([kept, false]);
    expect(readFileSync(file, 'utf8')).toMatch(/\}\n$/);
    const read = (document: unknown) => {
      writeFileSync(file, JSON.stringify(document));
      return readCounts(file);
    };
    for (const none of ['{', null, 7, 'x']) expect(read(none)).toEqual(new Map());
    const odd = { requests: '7', failed: -1, refused: null, tokens: 3, firstToken: null, generating: 'x' };
    for (const value of [null, 7, 'x', [], {}])
      expect(read({ chat: value })).toEqual(new Map([['chat', endpointCounts()]]));
    expect(read({ chat: odd })).toEqual(new Map([['chat', endpointCounts({ tokens: 3 })]]));
    writeFileSync(file, '{"chat":{"requests":1e999,"sinceEpochSeconds":0,"toString":1}}');
    expect(readCounts(file)).toEqual(new Map([['chat', endpointCounts()]]));
  });
});

it("makeOwnRequests counts the node's requests and the age of the oldest", () => {
  let at = 100;
  const own = makeOwnRequests(() => at);
  expect([own.count(), own.oldestMs()]).toEqual([0, undefined]);
  const end = own.begin();
  at = 130.4;
  const endSecond = own.begin();
  at = 150;
  expect([own.count(), own.oldestMs()]).toEqual([2, 50]);
  end();
  end();
  expect([own.count(), own.oldestMs()]).toEqual([1, 20]);
  endSecond();
  expect([own.count(), own.oldestMs()]).toEqual([0, undefined]);
});

it('watchedFile reads a file again only after a change', async () => {
  const path = folder.at('watched');
  const seen: unknown[] = [];
  const check = watchedFile(path, (sight) => seen.push(sight));
  expect([await check(), await check()]).toEqual([1, 1]);
  writeFileSync(path, 'one');
  expect([await check(), await check()]).toEqual([2, 2]);
  writeFileSync(path, 'three');
  expect(await check()).toBe(3);
  rmSync(path);
  expect(await check()).toBe(4);
  expect(seen).toEqual([
    { kind: 'absent' },
    { kind: 'text', text: 'one' },
    { kind: 'text', text: 'three' },
    { kind: 'absent' },
  ]);
  writeFileSync(path, 'x');
  const sightOf = (at: string) => watchedFile(at, (sight) => sight)();
  expect(await sightOf(`${path}/below-a-file`)).toEqual({ kind: 'absent' });
  expect(await sightOf(folder.path)).toEqual({ kind: 'unreadable' });
  expect(await sightOf(`${path}\0`)).toEqual({ kind: 'unreadable' });
});
