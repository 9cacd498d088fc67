import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { inTurn } from '../in-turn.ts';
import { filePart, fileText, pairFile } from '../scenarios/converge-file.ts';
import { misused } from './act-misused.ts';
import { codesOf, ended, expectGolden, json, meshwright, type Ran, start } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { onTerminal } from './terminal.ts';

let tooEarly: Ran;
let neverApplied: readonly Ran[];
const { place, run } = pairPlace(pairFile());
beforeAll(async () => {
  tooEarly = await meshwright(place, ['logs', 'chat', '--sim', '--json']);
  neverApplied = await Promise.all([run('start', 'chat', '--sim'), run('stop', 'chat')]);
  const ran = await meshwright(place, ['apply', '--sim', '--yes']);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
});

inTurn(0, 2)('start and stop before the first apply', () => {
  it('suggest apply, or --sim if a simulated fleet is running', () => {
    const [simulated, real] = neverApplied.map(({ code, stderr }) => [code, stderr]);
    expect(simulated).toEqual([64, expect.stringContaining('hint: Apply it first: meshwright apply --sim')]);
    expect(real).toEqual([64, expect.stringContaining('Did you mean --sim?')]);
  });
});

inTurn(0, 2)('ask', () => {
  it('works without a name if the file has only one placement, and rejects a misspelled name', async () => {
    const [answered, misspelled] = await Promise.all([
      run('ask', 'Hello?', '--sim'),
      run('ask', 'chta', 'Hello?', '--sim'),
    ]);
    expect([answered.code, answered.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)]);
    expect([misspelled.code, misspelled.stderr]).toEqual([64, expect.stringContaining('Did you mean `chat`?')]);
  });

  it('prints the answer as text and as one JSON document', async () => {
    const [text, asJson] = await Promise.all([
      run('ask', 'chat', 'Hello?', '--sim'),
      run('ask', 'chat', 'Hello?', '--sim', '--json'),
    ]);
    expect([text.code, asJson.code]).toEqual([0, 0]);
    expect(text.stdout).toMatch(/^[0-9a-f]{64}\n$/);
    const document = json(asJson);
    expect(schemaCheck('ask')(document)).toEqual([]);
    expect(document).toMatchObject({ placement: 'chat', node: 'studio-1', answer: text.stdout.trim() });
  });
});

inTurn(0, 2)('ask with a thinking model', () => {
  const asJson = async (...words: string[]) =>
    json(await run('ask', 'chat', 'Think, and say hello', '--sim', '--json', ...words));

  it('prints only the answer to a pipe, and separates thought and answer in JSON', async () => {
    const { code, stdout } = await run('ask', 'chat', 'Think, and say hello', '--sim');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)]);
    const document = await asJson();
    expect(schemaCheck('ask')(document)).toEqual([]);
    expect(document).toMatchObject({
      answer: stdout.trim(),
      thought: 'A question.\nIt is asked for.',
      diagnostics: [],
    });
  });

  it('dims the thought on a terminal', async () => {
    const { stdout } = await onTerminal(place, ['ask', 'chat', 'Think, and say hello', '--sim']);
    expect(stdout).toMatch(/\u001b\[2mA question\.\nIt is asked for\.\u001b\[22m\n\n[0-9a-f]{64}\n/);
  });

  it('reports that there is no answer if the thought uses up --max-tokens', async () => {
    const ran = await run('ask', 'chat', 'Think, and say hello', '--sim', '--max-tokens', '2');
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toContain('--max-tokens 8');
    const document = await asJson('--max-tokens', '2');
    expect([codesOf(document), Object.keys(Object(document))]).toEqual([
      ['ask/no-answer'],
      ['formatVersion', 'simulated', 'placement', 'node', 'thought', 'diagnostics'],
    ]);
  });
});

inTurn(0, 2)('logs', () => {
  it('shows the rank output of a placement or a node', async () => {
    const [all, one, asJson] = await Promise.all([
      run('logs', 'chat', '--sim'),
      run('logs', 'studio-4', '--sim', '--lines', '1'),
      run('logs', 'chat', '--sim', '--json'),
    ]);
    expect(all.stdout).toMatch(/^simulated studio-1 \| .*\n(?:.*\n)*simulated studio-4 \| rank 1 of 2 listens/m);
    expect(one.stdout.split('\n')).toHaveLength(2);
    expect(schemaCheck('logs')(json(asJson))).toEqual([]);
    expect([all.code, one.code, asJson.code]).toEqual([0, 0, 0]);
  });

  it('reports that no log exists before the first start', () => {
    expect([tooEarly.code, codesOf(json(tooEarly))]).toEqual([1, ['logs/none', 'logs/none']]);
  });
});

inTurn(0, 2)('a command for a placement or a node', () => {
  it('rejects missing names and invalid options with a suggestion', async () => {
    const rans = await Promise.all(misused.map((words) => run(...words)));
    expect(rans.map((ran) => [ran.code, ran.stdout])).toEqual(rans.map(() => [64, '']));
    await expectGolden('act-usage', place, rans);
  });

  it('needs --yes if it is disruptive and has no terminal', async () => {
    const ran = await run('stop', 'chat', '--sim', '--json');
    expect([ran.code, codesOf(json(ran))]).toEqual([5, ['cli/needs-yes']]);
    expect((await run('drift', '--sim')).code).toBe(0);
  });
});

inTurn(0, 2)('stop, start and restart', () => {
  it('stop and start a placement, and change nothing if it already serves', async () => {
    const stopped = await run('stop', 'chat', '--sim', '--yes');
    expect([stopped.code, stopped.stdout]).toEqual([0, expect.stringContaining('placement/chat changed (stopped)')]);
    const silent = await run('ask', 'chat', 'Hello?', '--sim', '--json');
    expect([silent.code, codesOf(json(silent))]).toEqual([1, ['ask/no-answer']]);
    const started = await run('start', '--all', '--sim', '--yes');
    expect([started.code, started.stdout]).toEqual([0, expect.stringContaining('placement/chat changed (serving)')]);
    expect((await run('start', 'chat', '--sim')).code).toBe(0);
  });

  it('do not reboot any Mac, even if the local archive has changed', async () => {
    await copyFile(join(place.folder, 'dist/newer.tar.gz'), join(place.folder, 'dist/reference.tar.gz'));
    const ran = await run('restart', 'chat', '--sim', '--yes', '--json');
    const document = json(ran) as { readonly steps: readonly { readonly act: string }[] };
    expect(schemaCheck('report')(document)).toEqual([]);
    expect(document.steps.some(({ act }) => act === 'reboot')).toBe(false);
    expect([ran.code, (await run('ask', 'chat', 'Hello?', '--sim')).code]).toEqual([0, 0]);
  });
});

inTurn(0, 2)('power commands', () => {
  it('restart a Mac, restore the settings lost at boot, and start its placement', async () => {
    const ran = await run('reboot', 'studio-4', '--sim', '--yes');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toMatch(/studio-4 restarted/);
    const limit = await run('exec', '--sim', 'studio-4', '--', 'sysctl', '-n', 'iogpu.wired_limit_mb');
    expect(limit.stdout).toContain('245760');
    expect((await run('ask', 'chat', 'Hello?', '--sim')).code).toBe(0);
  });

  it('turn a Mac off, and show how to turn it on', async () => {
    const ran = await run('shutdown', 'studio-4', '--sim', '--yes');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('meshwright sim power-on studio-4');
    const left = await run('start', 'chat', '--sim', '--yes');
    expect(left.code).toBe(1);
    const words = /studio-4: .* \S+\s+shut\s+this\s+Mac\s+down\s+\(meshwright\s+shutdown\s+--sim\)\s+at\s+\d{4}-/;
    const { stdout } = await run('status', '--sim');
    expect(stdout).toMatch(words);
    expect(stdout).toContain('Turn it on: meshwright sim power-on studio-4\n');
    expect((await run('sim', 'power-on', 'studio-4')).code).toBe(0);
  });
});

inTurn(0, 2)('a change that interrupts a placement', () => {
  it('needs --allow interrupt in addition to --yes', async () => {
    const stopped = pairFile((file) => {
      filePart(file, 'placements', 'chat')['state'] = 'stopped';
    });
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    place.write('cluster.yaml', fileText(stopped));
    const refused = await run('apply', '--sim', '--yes', '--json');
    expect([refused.code, codesOf(json(refused))]).toEqual([5, ['plan/not-allowed']]);
    expect((await run('ask', 'chat', 'Hello?', '--sim')).code).toBe(0);
    expect((await run('apply', '--sim', '--yes', '--allow', 'interrupt')).code).toBe(0);
    expect((await run('ask', 'chat', 'Hello?', '--sim')).code).toBe(1);
  });
});

inTurn(0, 2)('history', () => {
  it('lists runs from the journals, or from the nodes if the journals are gone', async () => {
    const document = json(await run('history', '--sim', '--json')) as {
      readonly runs: readonly { readonly run: string; readonly verb: string; readonly from: readonly string[] }[];
    };
    expect(schemaCheck('history')(document)).toEqual([]);
    const verbs = document.runs.map(({ verb }) => verb);
    expect(verbs).toEqual(expect.arrayContaining(['apply', 'stop', 'start', 'restart', 'reboot', 'shutdown']));
    const first = document.runs.at(-1);
    const whole = await run('history', first?.run ?? '', '--sim');
    expect([whole.code, whole.stdout]).toEqual([0, expect.stringMatching(/placement\/chat: .* -> serving \(changed/)]);
    expect((await run('history', '20200101T000000-abcdef', '--sim')).code).toBe(64);
    await rm(join(place.state, 'journal'), { recursive: true });
    const fromNodes = json(await run('history', '--sim', '--json')) as typeof document;
    expect(fromNodes.runs.map(({ verb }) => verb)).toEqual(expect.arrayContaining(['apply', 'restart']));
    expect(fromNodes.runs.every(({ from }) => from.join() === 'node')).toBe(true);
  });
});

inTurn(0, 2)('a lease', () => {
  it('is listed while its run is active, and can be released after the run is killed', async () => {
    place.write('cluster.yaml', fileText(pairFile()));
    const words = ['apply', '--sim', '--yes', '--allow', 'interrupt'];
    const child = start(place, words);
    const end = ended(child, words);
    let held: unknown;
    while (held === undefined && child.exitCode === null) {
      // Pauses the run during the check, however slow the check is.
      child.kill('SIGSTOP');
      const { nodes } = json(await run('lease', 'status', '--sim', '--json')) as {
        readonly nodes: Readonly<Record<string, { readonly held?: boolean }>>;
      };
      held = Object.values(nodes).find((one) => one.held);
      if (held !== undefined) break;
      child.kill('SIGCONT');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    child.kill('SIGKILL');
    await end;
    expect(held).toMatchObject({ verb: 'apply' });
    const other = await run('lease', 'release', '--all', '--run', 'another', '--sim', '--yes', '--json');
    expect([other.code === 0, codesOf(json(other))]).toEqual([false, expect.arrayContaining(['lease/other-run'])]);
    const released = await run('lease', 'release', '--all', '--sim', '--yes', '--json');
    expect([released.code, schemaCheck('lease')(json(released))]).toEqual([0, []]);
    const status = await run('lease', 'status', '--sim');
    expect([status.code, status.stdout.includes('no leases')]).toEqual([0, true]);
    expect((await run(...words)).code).toBe(0);
  });
});

inTurn(1, 2)('a fallback', () => {
  const fallback = pairFile((file) => {
    filePart(file, 'placements', 'chat')['fallback'] = { nodes: ['studio-4'], context: '4k' };
  });
  const statusOf = async () =>
    json(await run('status', '--sim', '--json')) as {
      readonly placements: { readonly chat: { readonly state: string; readonly standing: string } };
      readonly nodes: Readonly<Record<string, { readonly reached: boolean }>>;
      readonly findings: readonly { readonly code: string }[];
    };
  const startThere = ['start', 'chat', '--fallback', '--sim', '--yes'];

  it('is rejected if the file declares no fallback, and adding one changes nothing', async () => {
    const none = await run(...startThere, '--json');
    expect([none.code, codesOf(json(none))]).toEqual([64, ['cli/usage']]);
    place.write('cluster.yaml', fileText(fallback));
    const ran = await run('apply', '--sim', '--yes', '--json');
    expect([ran.code, (json(ran) as { readonly steps: readonly unknown[] }).steps]).toEqual([0, []]);
    const { endpoints } = json(await run('endpoints', '--json')) as {
      readonly endpoints: readonly { readonly node: string; readonly fallback?: true }[];
    };
    expect(endpoints.map((one) => [one.node, one.fallback])).toEqual([
      ['studio-1', undefined],
      ['studio-4', true],
    ]);
  });

  it('resumes a killed start while a Mac is gone, and has nothing to do the second time', async () => {
    expect((await run('sim', 'fault', 'power-cut', 'studio-1')).code).toBe(0);
    const gone = await statusOf();
    expect([gone.placements.chat.state, gone.findings.map(({ code }) => code)]).toEqual([
      'unknown',
      expect.arrayContaining(['mesh/fallback-there']),
    ]);
    const child = start(place, startThere);
    const end = ended(child, startThere);
    child.stdout?.once('data', () => setImmediate(() => child.kill('SIGKILL')));
    await end;
    await run('lease', 'release', '--all', '--sim', '--yes');
    expect((await run(...startThere)).code).toBe(0);
    const again = await run(...startThere, '--json');
    expect([again.code, (json(again) as { readonly steps: readonly unknown[] }).steps]).toEqual([0, []]);
    expect((await run('ask', 'chat', 'Hello?', '--sim')).code).toBe(0);
    expect((await run('logs', 'chat', '--sim')).stdout).toMatch(/^simulated studio-4 \|/);
  });

  it('appears in status, survives apply, and can be restarted while the Mac is away', async () => {
    const document = await statusOf();
    expect(schemaCheck('status')(document)).toEqual([]);
    expect(document.placements.chat).toMatchObject({
      state: 'serving',
      standing: 'differs',
      nodes: ['studio-4'],
      onFallback: { contextTokens: 4_096, away: ['studio-1'] },
    });
    const text = await run('status', '--sim');
    expect(text.stdout).toContain('    runs on its fallback: studio-4, context 4k\n');
    const ran = await run('apply', '--sim', '--yes', '--allow', 'interrupt');
    expect([ran.code, /placement\/chat +on studio-1: placement\/chat on studio-1 is unknown/.test(ran.stdout)]).toEqual(
      [4, true],
    );
    expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(0);
    expect((await run('ask', 'chat', 'Hello?', '--sim')).code).toBe(0);
  });

  it('ends only with --allow interrupt after the Mac is back', async () => {
    await run('sim', 'fault', '--clear');
    while ((await statusOf()).nodes['studio-1']?.reached !== true);
    const plan = await run('plan', '--sim');
    expect(plan.stdout).toMatch(/on its fallback: studio-4, context 4k\s+-> serving on its own nodes: studio-1,/);
    const left = json(await run('logs', 'studio-1', '--sim', '--json')) as { readonly ranks: readonly unknown[] };
    expect([codesOf(left), left.ranks]).toMatchObject([['logs/elsewhere'], [{ placement: 'chat', node: 'studio-1' }]]);
    const refused = await run('apply', '--sim', '--yes', '--json');
    expect([refused.code, codesOf(json(refused))]).toEqual([5, ['plan/not-allowed']]);
    expect((await run('ask', 'chat', 'Hello?', '--sim')).code).toBe(0);
    expect((await run('apply', '--sim', '--yes', '--allow', 'interrupt')).code).toBe(0);
    const { placements, findings } = await statusOf();
    expect([placements.chat.standing, findings]).toEqual(['met', []]);
    const last = await run('apply', '--sim', '--yes', '--json');
    expect([last.code, (json(last) as { readonly steps: readonly unknown[] }).steps]).toEqual([0, []]);
  });
});
