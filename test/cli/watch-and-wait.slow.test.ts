import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { codesOf, json, meshwright, type Ran, widest } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { listenTo } from './talking.ts';
import { onTerminal } from './terminal.ts';

const { place, run } = pairPlace(pairFile((value) => publish(value, { access: 'anybody', port: 8_080 })));

/** Longer than on an idle machine by far. */
const longestMs = 190_000;

beforeAll(async () => {
  await writePublishedSources(place.folder);
  expect((await run('apply', '--sim', '--yes')).code).toBe(0);
});

describe('status --watch', () => {
  it('redraws one table on a terminal, which fits a phone', async () => {
    const typing = { after: 'Ctrl-C to stop.', keys: '\u0003' };
    const ran = await onTerminal(place, ['status', '--watch', '--sim'], { columns: 40, typing });
    expect(ran.code).toBe(130);
    expect(ran.stdout).toContain('  chat   ');
    expect(ran.stdout).toMatch(/in flight 0/);
    const table = ran.stdout.slice(0, ran.stdout.indexOf('Ctrl-C'));
    expect(widest(table.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, ''))).toBeLessThanOrEqual(40);
  });

  it('refuses --json, because it has no end', async () => {
    const ran = await run('status', '--watch', '--json', '--sim');
    expect([ran.code, codesOf(json(ran))]).toEqual([64, ['cli/usage']]);
  });
});

describe('wait', () => {
  const wait = (...words: string[]): Promise<Ran> => meshwright(place, ['wait', ...words, '--sim']);

  it('exits with 0 as soon as the placement returns a token', async () => {
    const ran = await wait('chat', 'serving', '--deadline', '1m');
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      0,
      expect.stringMatching(/^chat is serving \(after .*\)\.\n$/),
      '',
    ]);
  });

  it('exits with 1 and the last state if the time is over', async () => {
    const ran = await wait('chat', 'stopped', '--deadline', '3s', '--json');
    const document = json(ran);
    expect([ran.code, schemaCheck('wait')(document)]).toEqual([1, []]);
    expect(document).toMatchObject({
      wanted: 'stopped',
      placements: { chat: { state: 'serving', evidence: 'its endpoint returned a token' } },
      diagnostics: [{ code: 'task/wait-over', subject: 'placement chat' }],
    });
  });

  it.each([
    [['chart', 'serving'], 'Did you mean `chat`?'],
    [['studio-1', 'serving'], 'studio-1 is a node'],
    [['chat', 'stoped'], 'Did you mean `stopped`?'],
    [['chat'], 'Missing required argument'],
  ])('refuses %j', async (words, text) => {
    const ran = await wait(...words);
    expect([ran.code, ran.stderr]).toEqual([64, expect.stringContaining(text)]);
  });
});

describe('status --watch without a terminal', () => {
  it(
    'prints a line per change, survives a Mac that goes away, and seldom asks for a token',
    async () => {
      const watching = listenTo(place, ['status', '--watch', '--sim', '--record', 'sent.ndjson'], longestMs);
      await watching.until(' chat serving, ');
      await run('sim', 'fault', 'rank-stopped', 'studio-4');
      await watching.until(' chat hung, in flight: 0; hung since ');
      await run('sim', 'fault', 'power-cut', 'studio-4');
      await watching.until('studio-4 does not answer: ');
      await watching.until(' chat unknown, ');
      const waited = await run('wait', 'chat', 'serving', '--sim', '--deadline', '3s');
      expect([waited.code, waited.stderr]).toEqual([1, expect.stringContaining('Its last state is unknown: studio-4')]);
      await run('sim', 'fault', '--clear');
      await run('sim', 'power-on', 'studio-4');
      await watching.until('studio-4 answers again\n');
      const ran = await watching.interrupt();
      expect([ran.code, ran.stderr]).toEqual([130, expect.stringContaining('interrupted: stopping cleanly')]);
      const sent = readFileSync(join(place.folder, 'sent.ndjson'), 'utf8').split('\n');
      const toLeader = sent.filter((line) => line.includes('"studio-1"'));
      const asking = sent.filter((line) => line.includes('data-binary'));
      expect(asking.length).toBeGreaterThan(1);
      expect(asking.length).toBeLessThan(toLeader.length / 2);
    },
    longestMs,
  );
});
