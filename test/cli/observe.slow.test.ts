import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fleetPlace } from './fleet.ts';
import { codesOf, expectGolden, json, widest } from './meshwright.ts';
import { bareText } from './place.ts';
import { schemaCheck } from './schema-check.ts';

const { place, run } = fleetPlace();

interface FactsDocument {
  readonly simulated: unknown;
  readonly nodes: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

describe('facts', () => {
  it('shows every fact about a node in 80 columns', async () => {
    const ran = await run('facts', '--sim', 'studio-1');
    expect(widest(ran.stdout)).toBeLessThanOrEqual(80);
    await expectGolden('facts-one-node', place, [ran]);
  });

  it('shows only the chosen facts about the chosen nodes', async () => {
    await expectGolden('facts-some', place, [
      await run('facts', '--sim', '--fact', 'rdma-state,macos-version', '--nodes', 'studio-4,studio-2'),
    ]);
  });

  it('prints one JSON document that matches its schema, with every fact about every node', async () => {
    const ran = await run('facts', '--sim', '--json');
    const document = json(ran) as FactsDocument;
    expect(schemaCheck('facts')(document)).toEqual([]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(document.simulated).toBe(true);
    expect(Object.keys(document.nodes)).toEqual(['studio-1', 'studio-2', 'studio-3', 'studio-4']);
    const unknown = Object.values(document.nodes).flatMap((facts) =>
      Object.entries(facts).flatMap(([name, fact]) => ('unknown' in fact ? [name] : [])),
    );
    expect(unknown).toEqual([]);
    expect(ran.stdout).toMatch(/"rdma-state": \{\n\s+"value": "enabled"\n/);
  });

  it('prints only the chosen facts as JSON that matches the schema', async () => {
    const document = json(await run('facts', '--sim', '--json', 'studio-3', '--fact', 'disk-space')) as FactsDocument;
    expect(Object.entries(document.nodes).map(([node, facts]) => [node, Object.keys(facts)])).toEqual([
      ['studio-3', ['disk-space']],
    ]);
    expect(schemaCheck('facts')(document)).toEqual([]);
  });

  it('chooses nodes by label', async () => {
    const document = json(
      await run('facts', '--sim', '--json', '-l', 'role=worker', '--fact', 'sudo'),
    ) as FactsDocument;
    expect(Object.keys(document.nodes)).toEqual(['studio-4']);
  });

  it('records exactly one command per node, and reports each with -v', async () => {
    const ran = await run('facts', '--sim', '--fact', 'sudo', '--record', 'sent.jsonl', '-v');
    const lines = readFileSync(join(place.folder, 'sent.jsonl'), 'utf8').trim().split('\n');
    const nodes = lines.map((line) => (JSON.parse(line) as { readonly node: string }).node);
    expect(nodes.sort()).toEqual(['studio-1', 'studio-2', 'studio-3', 'studio-4']);
    expect(ran.stderr.match(/: sending a command of \d+ bytes/g)).toHaveLength(4);
  });
});

describe('an unknown node or label', () => {
  it('is rejected with a suggestion', async () => {
    const rans = await Promise.all([
      run('facts', '--sim', 'sutdio-1'),
      run('status', '--sim', 'rack-9', 'studio-1'),
      run('facts', '--sim', '-l', 'role=wroker'),
      run('facts', '--sim', '-l', 'role'),
      run('status', '--sim', 'studio-1', '-l', 'role=worker'),
      run('exec', '--sim', '--nodes', 'studio-5', '--', 'true'),
    ]);
    expect(rans.map((ran) => ran.code)).toEqual(rans.map(() => 64));
    await expectGolden('unknown-nodes', place, rans);
  });

  it('is reported as one JSON document with --json', async () => {
    const ran = await run('facts', '--sim', '--json', 'sutdio-1');
    expect([ran.code, codesOf(json(ran)), ran.stderr]).toEqual([64, ['select/unknown-node'], '']);
  });
});

describe('status', () => {
  it('shows a healthy rack in 80 columns and exits with 0', async () => {
    const ran = await run('status', '--sim');
    expect(widest(ran.stdout)).toBeLessThanOrEqual(80);
    await expectGolden('status-healthy', place, [ran]);
  });

  it('lists the nodes that it did not observe', async () => {
    await expectGolden('status-some', place, [await run('status', '--sim', 'studio-2', 'studio-3')]);
  });

  it('prints one JSON document that matches its schema', async () => {
    const ran = await run('status', '--sim', '--json');
    expect(schemaCheck('status')(json(ran))).toEqual([]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a cluster file that has changed since sim up', () => {
  it('causes a different error than a fleet that is not running', async () => {
    place.write('other.yaml', bareText);
    const none = await run('status', '--sim', '-f', 'other.yaml');
    place.write('cluster.yaml', bareText.replace(/studio-4/g, 'studio-5'));
    const other = await run('status', '--sim').finally(() => place.write('cluster.yaml', bareText));
    expect([none.code, other.code]).toEqual([1, 1]);
    await expectGolden('sim-not-this-file', place, [none, other]);
  });
});
