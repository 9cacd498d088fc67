import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codesOf, json, widest } from './meshwright.ts';
import { bareFile, fileIn, pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { endedBy, listenTo } from './talking.ts';
import { onTerminal } from './terminal.ts';

const { place, run } = pairPlace(bareFile());

const fault = (...words: string[]) => run('sim', 'fault', ...words);

/** The progress lines of a run, without time of day and duration. */
const lineOf = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => /^\d\d:\d\d:\d\d (.*?)(?: [0-9.]+ m?s)?$/.exec(line)?.[1] ?? []);

interface Report {
  readonly exit: number;
  readonly steps: readonly { readonly outcome: string }[];
  readonly counts: { readonly changed: number };
  readonly lock: { readonly path: string };
}

describe('apply without a terminal', () => {
  it('changes nothing and sends no script without --yes', async () => {
    await fault('power-wrong', 'studio-1');
    const [text, asJson] = await Promise.all([
      run('apply', '--sim', '--record', 'unsaid.jsonl'),
      run('apply', '--sim', '--json'),
    ]);
    expect([text.code, asJson.code]).toEqual([5, 5]);
    expect(text.stderr).toContain('cli/needs-yes');
    expect([codesOf(json(asJson)), asJson.stderr]).toEqual([['cli/needs-yes'], '']);
    expect(fileIn(place, 'unsaid.jsonl')).not.toContain('"script"');
    expect((await run('history', '--sim')).stdout).toContain('No run is recorded, here or on the nodes.');
  });

  it('prints each change and the totals, and has nothing to do the second time', async () => {
    await fault('power-wrong', 'studio-1');
    const ran = await run('apply', '--sim', '--yes');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(widest(ran.stdout)).toBeLessThanOrEqual(80);
    expect(lineOf(ran.stdout)).toContain('studio-1 power/sleep changed (never sleeps)');
    expect(ran.stdout).toMatch(/^Done: 8 changed, \d+ already right\. Checked again: nothing left to do\.$/m);
    const again = await run('apply', '--sim');
    expect([again.code, again.stdout.split('\n').at(-2)]).toEqual([0, 'Nothing to change: 2 nodes match the file.']);
    expect((await run('plan', '--sim', '--out', 'empty.json')).stdout).toMatch(
      /match the file\.\n\nSaved in empty\.json\.\n$/,
    );
    expect(fileIn(place, 'cluster.lock')).toBeUndefined();
  });

  it('exits with 3 if manual steps remain, or waits for them with --wait-for-hands', async () => {
    await fault('rdma-disabled', 'studio-4');
    await fault('power-wrong', 'studio-4');
    const ran = await run('apply', '--sim', '--yes');
    expect(ran.code).toBe(3);
    expect(ran.stdout.match(/^Manual steps at the rack \(1\)/gm)).toHaveLength(2);
    expect(ran.stdout).toContain('Manual steps needed: 2 changed, ');
    const waiting = listenTo(place, ['apply', '--sim', '--yes', '--wait-for-hands']);
    await waiting.until('waiting for the manual steps at the rack');
    await run('sim', 'hands');
    expect((await waiting.end).code).toBe(0);
  });

  it('prints one JSON document that matches its schema', async () => {
    await fault('power-wrong', 'studio-1');
    const ran = await run('apply', '--sim', '--yes', '--json');
    const document = json(ran) as Report;
    expect(schemaCheck('report')(document)).toEqual([]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(document).toMatchObject({ exit: 0, counts: { changed: 2 }, remaining: { changes: [] } });
    expect(document.steps.map(({ outcome }) => outcome)).toContain('changed');
    expect(document.lock.path.startsWith(join(place.state, 'sim'))).toBe(true);
    expect(readFileSync(document.lock.path, 'utf8')).toContain('studio-1:4 <-> studio-4:2');
  });

  it('prints events while it runs, and ends with the document of --json', async () => {
    await fault('power-wrong', 'studio-1');
    const ran = await run('apply', '--sim', '--yes', '--events');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    const values = ran.stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(values.slice(0, -1).flatMap(schemaCheck('event'))).toEqual([]);
    const kinds = values.slice(0, -1).map((value) => (value as { readonly event: string }).event);
    expect(kinds).toEqual(expect.arrayContaining(['plan', 'run-started', 'step-started', 'step-ended', 'run-ended']));
    expect(schemaCheck('report')(values.at(-1))).toEqual([]);
    const both = await run('apply', '--sim', '--json', '--events');
    expect([both.code, codesOf(JSON.parse(both.stdout))]).toEqual([64, ['cli/usage']]);
    expect((await run('status', '--sim', '--events')).code).toBe(64);
  });

  it('changes only the named nodes', async () => {
    await fault('power-wrong', 'studio-1');
    await fault('power-wrong', 'studio-4');
    const ran = await run('apply', '--sim', '--yes', 'studio-4');
    expect([ran.code, lineOf(ran.stdout).some((line) => line.startsWith('studio-1'))]).toEqual([0, false]);
  });

  it('continues without an unreachable node, and exits with 4', async () => {
    await fault('wrong-host-key', 'studio-4');
    const ran = await run('apply', '--sim', '--yes');
    await fault('--clear', 'wrong-host-key');
    expect(ran.code).toBe(4);
    expect(ran.stdout).toContain('studio-1 power/sleep changed');
    expect(ran.stdout).toMatch(/^Partly done: 2 changed, .*Not\s+reached:\s+studio-4\.$/ms);
  });
});

describe('an interrupted apply', () => {
  it('stops cleanly, releases its leases, and continues the next time', async () => {
    await fault('bridge-active', 'studio-1');
    const words = ['apply', '--sim', '--yes', '--record', 'interrupted.jsonl'];
    const isAtWork = (): boolean => fileIn(place, 'interrupted.jsonl')?.includes('"script"') === true;
    const ran = await endedBy('SIGINT', place, words, isAtWork);
    expect(ran.code).toBe(130);
    expect(ran.stdout.replaceAll('\n', ' ')).toMatch(/ Interrupted\b.* Run the same command again to continue\. $/);
    expect((await run('lease', 'status', '--sim')).stdout).toContain('no leases');
    expect((await run(...words)).code).toBe(0);
  });
});

describe('a saved plan', () => {
  it('is applied without --yes exactly as saved, and is refused if anything differs', async () => {
    await fault('power-wrong', 'studio-1');
    await run('plan', '--sim', '--out', 'stale.json');
    await fault('power-wrong', 'studio-4');
    const stale = await run('apply', 'stale.json', '--sim', '--json');
    expect([stale.code, codesOf(json(stale))]).toEqual([5, ['plan/stale']]);
    const saved = await run('plan', '--sim', '--out', 'plan.json');
    expect(saved.stdout).toContain('(4 on 2 nodes)');
    const { scripts } = json(await run('plan', '--sim', '--scripts', '--json')) as {
      readonly scripts: readonly { readonly step: string; readonly text: string }[];
    };
    const ran = await run('apply', 'plan.json', '--sim', '--record', 'sent.jsonl');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('Done: 4 changed');
    const twice = await run('apply', 'plan.json', '--sim', '--json');
    expect([twice.code, codesOf(json(twice))]).toEqual([5, ['plan/stale']]);
    const sent = (fileIn(place, 'sent.jsonl') ?? '').split('\n').filter((line) => line.includes('"script"'));
    const bodies = sent.map((line) => (JSON.parse(line) as { readonly script: string }).script);
    // `plan --scripts` shows the scripts that are sent, byte for byte.
    expect(scripts.map(({ step }) => step)).toEqual(['studio-1/power/set', 'studio-4/power/set']);
    for (const { text } of scripts)
      expect(bodies.filter((body) => body.includes(`body() {\n${text}\n}`))).toHaveLength(2);
  });

  it('is distinguished from other files and misspelled nodes', async () => {
    place.write('note.json', '{ "steps": 1 }');
    const rans = await Promise.all([
      run('apply', 'note.json', '--sim', '--json'),
      run('apply', 'absent.json', '--sim', '--json'),
      run('apply', 'note.json', 'studio-1', '--sim', '--json'),
      run('apply', 'stduio-1', '--sim', '--json'),
    ]);
    expect(rans.map((ran) => [ran.code, ...codesOf(json(ran))])).toEqual([
      [65, 'plan/unreadable'],
      [65, 'cli/cannot-read'],
      [64, 'cli/usage'],
      [64, 'select/unknown-node'],
    ]);
  });
});

describe("the cluster file's lock", () => {
  it('is not extended by --yes without a terminal', async () => {
    const ran = await run('apply', '--yes', '--json');
    expect([ran.code, codesOf(json(ran))]).toEqual([65, ['lock/unresolved']]);
    expect(fileIn(place, 'cluster.lock')).toBeUndefined();
  });
});

describe('apply on a terminal', () => {
  it('asks once, and changes nothing if the answer is no', async () => {
    await fault('power-wrong', 'studio-1');
    const no = await onTerminal(place, ['apply', '--sim'], { typing: { after: '[y/N]', keys: 'n\r' } });
    expect([no.code, no.stdout.includes('Nothing changed')]).toEqual([5, true]);
    const typing = { after: 'Apply these 2 changes? [y/N]', keys: 'y\r' };
    const yes = await onTerminal(place, ['apply', '--sim'], { typing });
    expect([yes.code, yes.stdout.includes('Done: 2 changed')]).toEqual([0, true]);
  });

  it('reports an interruption below the node lines, without overwriting a line', async () => {
    await fault('power-wrong', 'studio-1');
    const typing = { after: 'studio-1  ', keys: '\u0003' };
    const { code, stdout } = await onTerminal(place, ['apply', '--sim', '--yes'], { typing });
    expect(code).toBe(130);
    expect(stdout.slice(stdout.lastIndexOf(' studio-1 '))).toMatch(
      /^ studio-1 .*\n(?:.* studio-4 .*\n)?\n. interrupted: stopping cleanly; press Ctrl-C again to stop immediately\n/,
    );
    expect(stdout).not.toContain('^C\ninterrupted');
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
  });
});
