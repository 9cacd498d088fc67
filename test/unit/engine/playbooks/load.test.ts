import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Diagnostic } from '../../../../src/diagnostics/diagnostic.ts';
import { loadPlaybook } from '../../../../src/engine/playbooks/load.ts';
import { ownPlaybooks } from '../../../../src/engine/playbooks/own-playbooks.ts';
import { tasks } from '../../../../src/engine/playbooks/playbook.ts';
import { resources } from '../../../../src/engine/resources.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { meshFleet, rackOfThree } from '../../../rack/placements.ts';
import { onOnePage, sayValue } from '../../one-page.ts';

const load = (text: string) => loadPlaybook(text, { file: 'own.yaml', name: 'own', fleet: rackOfThree });
const converge = (...only: readonly string[]) =>
  load(`playbook: 1\nplays: [{ nodes: all, tasks: [converge: { only: [${only.join(', ')}] }] }]`);

/** The place and the code of a diagnostic: `3:12 code`. */
const placeOf = ({ where, code }: Diagnostic): string => `${where?.line}:${where?.column} ${code}`;

/** Every key and every allowed keyword of a schema. */
function wordsOf(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(wordsOf);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, enum: allowed } = schema as { readonly properties?: object; readonly enum?: readonly string[] };
  return [...Object.keys(properties ?? {}), ...(allowed ?? []), ...Object.values(schema).flatMap(wordsOf)];
}

const shipped = readdirSync('playbooks');

describe('a shipped playbook', () => {
  it('exists for each command that runs a playbook, and for each name that `run` takes', () => {
    const names = ['apply', 'drain', 'reboot', 'restart', 'shutdown', ...ownPlaybooks];
    expect([...shipped].sort()).toEqual(names.map((name) => `${name}.yaml`).sort());
  });

  it.each(shipped)('is valid and shorter than 25 lines: %s', (file) => {
    const text = readFileSync(`playbooks/${file}`, 'utf8');
    const { playbook, diagnostics } = loadPlaybook(text, { file, name: file.replace('.yaml', '') });
    expect(diagnostics).toEqual([]);
    expect(playbook?.plays.every(({ nodes }) => nodes.kind === 'targets')).toBe(true);
    expect(text.split('\n').length).toBeLessThan(25);
  });
});

describe('a playbook', () => {
  it('is read as plays with tasks', () => {
    const { playbook, diagnostics } = load(`
playbook: 1
about: Everything once.
plays:
  - name: First
    nodes: [studio-2, studio-1]
    serial: [unit, 2, "50%"]
    maxFailures: 1
    respect: placements
    bake: 10m
    windows: [{ days: [sat], from: "22:00", to: "06:00", zone: Europe/Berlin }]
    blockers: [{ file: /no-reboot }, { command: [/usr/bin/true, "{node}"] }, { requests: 0 }]
    rescue: [start: {}]
    tasks:
      - confirm: "Is {nodes} free?"
      - converge: { only: [power] }
      - verify: {}
      - stop: { placements: [kimi, qwen] }
      - restart: { placements: [qwen] }
      - recover: {}
      - bench: { placements: [kimi] }
      - notify: { command: [./notify, "{nodes}"] }
      - drain: { placements: [qwen], deadline: 10m }
      - drain: {}
      - reboot: {}
      - pause: 2h
      - wait: { for: serving, deadline: 90s }
      - assert: { property: power/sleep, is: 0, says: "It sleeps." }
      - run: { command: [/usr/bin/true, "{node}"], unless: [/usr/bin/false], effect: none, deadline: 2h }
  - nodes: role=worker
    serial: 2
    tasks:
      - run: { command: [/usr/bin/true], effect: network }
      - start: {}
      - shutdown: {}
`);
    expect(diagnostics).toEqual([]);
    expect(playbook).toEqual({
      name: 'own',
      about: 'Everything once.',
      plays: [
        {
          name: 'First',
          nodes: { kind: 'names', names: ['studio-2', 'studio-1'] },
          serial: [{ kind: 'unit' }, { kind: 'count', count: 2 }, { kind: 'percent', percent: 50 }],
          maxFailures: 1,
          respect: 'placements',
          bakeMs: 600_000,
          windows: [{ days: ['sat'], from: '22:00', to: '06:00', zone: 'Europe/Berlin' }],
          blockers: [{ file: '/no-reboot' }, { command: ['/usr/bin/true', '{node}'] }, { requests: 0 }],
          rescue: [{ kind: 'start' }],
          sparesHung: true,
          tasks: [
            { kind: 'confirm', text: 'Is {nodes} free?' },
            { kind: 'converge', only: ['power'] },
            { kind: 'verify' },
            { kind: 'stop', placements: ['kimi', 'qwen'] },
            { kind: 'stop', placements: ['qwen'], isRestart: true },
            { kind: 'start', placements: ['qwen'] },
            { kind: 'recover' },
            { kind: 'bench', placements: ['kimi'] },
            { kind: 'notify', command: ['./notify', '{nodes}'] },
            { kind: 'drain', placements: ['qwen'], deadlineMs: 600_000 },
            { kind: 'drain', deadlineMs: 30_000 },
            { kind: 'reboot' },
            { kind: 'pause', text: '2h' },
            { kind: 'wait', for: 'serving', deadlineMs: 90_000 },
            { kind: 'assert', property: 'power/sleep', is: 0, says: 'It sleeps.' },
            {
              kind: 'run',
              command: ['/usr/bin/true', '{node}'],
              unless: ['/usr/bin/false'],
              effect: 'none',
              deadlineMs: 7_200_000,
            },
          ],
        },
        {
          nodes: { kind: 'labels', labels: ['role=worker'] },
          serial: [{ kind: 'count', count: 2 }],
          maxFailures: 0,
          sparesHung: true,
          tasks: [
            { kind: 'run', command: ['/usr/bin/true'], effect: 'network', deadlineMs: 60_000 },
            { kind: 'start' },
            { kind: 'shutdown' },
          ],
        },
      ],
    });
  });

  const schema = JSON.parse(readFileSync('schemas/playbook.schema.json', 'utf8'));
  const kinds = resources.map(({ kind }) => kind);

  it('may contain every task, and converge every kind of resource', () => {
    expect(Object.keys(schema.$defs.task.properties).sort()).toEqual(Object.keys(tasks).sort());
    const words = schema.$defs.task.properties.converge.properties.only.items.enum;
    expect([...words].sort()).toEqual([...kinds].sort());
  });

  it('is refused if it uses the old name of the `gateway` kind', () => {
    const renamed = { detail: '`doorman` is now called `gateway`.', hint: 'Write `gateway`.' };
    expect(converge('doorman').diagnostics).toMatchObject([{ code: 'schema/not-allowed', ...renamed }]);
  });

  it('may converge all kinds at once', () => {
    expect(converge(...new Set(kinds)).diagnostics).toEqual([]);
  });

  it('has only keywords that YAML 1.1 reads as text', () => {
    const words = wordsOf(schema);
    expect(words.length).toBeGreaterThan(30);
    expect(words.filter((word) => parse(word, { version: '1.1' }) !== word)).toEqual([]);
  });

  it('may upgrade macOS, all runtimes, or one in the file', () => {
    const fleet = { ...rackOfThree, runtimes: meshFleet().runtimes };
    const upgrade = (what: string) =>
      loadPlaybook(`playbook: 1\nplays: [{ nodes: all, tasks: [upgrade: ${what}] }]`, {
        ...{ file: 'own.yaml', name: 'own' },
        fleet,
      });
    const whats = ['macos', 'runtimes', '{ runtime: reference }'].map(
      (what) => upgrade(what).playbook?.plays[0]?.tasks[0],
    );
    expect(whats).toEqual([
      { kind: 'upgrade', what: 'macos' },
      { kind: 'upgrade', what: 'runtimes' },
      { kind: 'upgrade', what: { runtime: 'reference' } },
    ]);
    const unknown = upgrade('{ runtime: refrence }').diagnostics;
    expect(unknown.map(placeOf)).toEqual(['2:51 playbook/unknown-runtime']);
    expect(unknown[0]?.hint).toContain('`reference`');
    expect(upgrade('linux').diagnostics.map(placeOf)).toEqual(['2:40 schema/not-allowed']);
  });

  it('has times from 1s to 24h', () => {
    const places = (times: readonly string[]) =>
      load(`playbook: 1\nplays: [{ nodes: all, tasks: [${times.map((time) => `pause: ${time}`).join(', ')}] }]`);
    expect(places(['1s', '9999s', '86400s', '1440m', '999m', '24h', '19h']).diagnostics).toEqual([]);
    for (const time of ['0s', '86401s', '1441m', '25h', '99999h', '1.5h', '10'])
      expect([time, places([time]).diagnostics.map(({ code }) => code)]).toEqual([
        time,
        [time === '10' ? 'schema/wrong-type' : 'schema/bad-form'],
      ]);
  });

  it('may drain only published placements', () => {
    const { diagnostics } = load('playbook: 1\nplays: [{ nodes: all, tasks: [drain: { placements: [qwen, kimi] }] }]');
    expect(diagnostics.map(placeOf)).toEqual(['2:59 playbook/not-published']);
  });

  it('may reboot Macs only if it stops their placements before the reboot or starts them afterward', () => {
    const places = (tasks: string) =>
      load(`playbook: 1\nplays: [{ nodes: all, tasks: [${tasks}] }]`).diagnostics.map(placeOf);
    expect(places('reboot: {}')).toEqual(['2:39 playbook/leaves-stopped']);
    expect(places('start: {}, reboot: {}')).toEqual(['2:50 playbook/leaves-stopped']);
    expect(places('reboot: {}, converge: { only: [power] }')).toEqual(['2:39 playbook/leaves-stopped']);
    expect(places('reboot: {}, wait: { for: observed, deadline: 5m }, start: {}')).toEqual([]);
    expect(places('reboot: {}, converge: {}')).toEqual([]);
    expect(places('stop: {}, reboot: {}')).toEqual([]);
  });

  it('must not reboot Macs if it stops or starts only some of the placements on them', () => {
    const details = (...plays: readonly string[]) =>
      load(`playbook: 1\nplays: [${plays.join(', ')}]`).diagnostics.map(({ code, detail }) => `${code} ${detail}`);
    const left = (names: string) => [
      `playbook/leaves-stopped The reboot stops ${names}, and no later task starts ${names.includes(' ') ? 'them' : 'it'}.`,
    ];
    const reboot = '{ nodes: all, tasks: [reboot: {}] }';
    const stop = '{ nodes: all, tasks: [stop: { placements: [qwen] }] }';
    expect(details(stop, reboot)).toEqual(left('kimi'));
    expect(details(stop, reboot, '{ nodes: all, tasks: [start: { placements: [kimi] }] }')).toEqual([]);
    expect(details(reboot, '{ nodes: all, tasks: [start: { placements: [kimi] }] }')).toEqual(left('qwen'));
    expect(details('{ nodes: targets, tasks: [stop: {}] }', reboot)).toEqual(left('kimi and qwen'));
    expect(details('{ nodes: targets, tasks: [stop: {}, reboot: {}] }')).toEqual([]);
  });

  it('starts again in the same play what its batches stop', () => {
    const codes = (serial: string) =>
      load(`playbook: 1
plays:
  - { nodes: all, ${serial}tasks: [reboot: {}] }
  - { nodes: all, tasks: [start: {}] }
`).diagnostics.map(placeOf);
    expect(codes('')).toEqual([]);
    expect(codes('serial: unit, ')).toEqual(['3:49 playbook/leaves-stopped']);
  });

  it('must not divide a unit, on the Macs in the file or on the command line', () => {
    const text = (nodes: string) => `playbook: 1
plays:
  - nodes: ${nodes}
    serial: [2, "25%"]
    tasks: [stop: {}, start: {}]
`;
    const { diagnostics } = load(text('all'));
    expect(diagnostics.map(placeOf)).toEqual(['4:14 playbook/divides-unit']);
    expect(sayValue(diagnostics)[0]).toMatchObject({
      detail: 'kimi and qwen run on studio-1..4, so these 4 Macs stop together, but the batch has room for 2.',
      hint: 'Write `serial: unit`, or 4 or more.',
    });
    expect(load(text('targets')).diagnostics).toEqual([]);
    const targets = ['studio-1', 'studio-2', 'studio-4'].map(nodeName);
    const origin = { file: 'own.yaml', name: 'own', fleet: rackOfThree, targets };
    expect(loadPlaybook(text('targets'), origin).diagnostics.map(placeOf)).toEqual(['4:14 playbook/divides-unit']);
  });

  it('does not begin a batch with a hung placement, unless a recovery or a drain with a deadline comes first', () => {
    const spares = (tasks: string) =>
      load(`playbook: 1\nplays: [{ nodes: all, tasks: [${tasks}, start: {}] }]`).playbook?.plays[0]?.sparesHung;
    expect(['reboot: {}', 'drain: {}, reboot: {}', 'stop: {}, recover: {}', 'restart: {}'].map(spares)).toEqual(
      Array(4).fill(true),
    );
    expect(['recover: {}, reboot: {}', 'drain: { deadline: 5m }, stop: {}', 'verify: {}'].map(spares)).toEqual(
      Array(3).fill(false),
    );
  });

  it('suggests the nearest time zone', () => {
    const { diagnostics } = load(`playbook: 1
plays:
  - nodes: all
    windows: [{ from: "22:00", to: "25:00", zone: Europe/Berlni }]
    tasks: [verify: {}]
`);
    expect(diagnostics.map(placeOf)).toEqual(['4:36 schema/bad-form', '4:51 playbook/unknown-zone']);
    expect(diagnostics[1]?.hint).toContain('Europe/Berlin');
  });

  it('has all its mistakes reported together, with positions and suggestions', () => {
    const { playbook, diagnostics } = load(`playbook: 1
plays:
  - nodes: [studio-9, studoi-1]
    tasks:
      - stpo: {}
      - stop: { placements: [kimmi] }
      - wait: { for: ever }
      - converge: { only: [powr] }
  - nodes: role=wroker
    serial: 0
    tasks:
      - confirm: "Is {node} free?"
      - run: { command: ["{nodes}", "{{literal}", "{host}"], effect: interrupt }
      - assert: { property: power/sleep, is: 0, says: "{hosts}" }
      - { stop: {}, start: {} }
      - verify:
      - assert: { property: power/slep, is: 0 }
      - assert: { property: spotlight/indexing, is: false }
      - assert: { property: poer/sleep, is: 0 }
      - assert: { property: wired-limit, is: 1 }
`);
    expect(playbook).toBeUndefined();
    expect(sayValue(diagnostics).map(placeOf)).toEqual([
      '3:13 playbook/unknown-node',
      '3:23 playbook/unknown-node',
      '5:9 schema/unknown-key',
      '6:30 playbook/unknown-placement',
      '7:9 schema/missing-key',
      '7:22 schema/not-allowed',
      '8:28 schema/not-allowed',
      '9:12 playbook/no-node-chosen',
      '10:13 schema/not-allowed',
      '12:22 playbook/unknown-field',
      '13:27 playbook/unknown-field',
      '13:70 schema/not-allowed',
      '14:56 playbook/unknown-field',
      '15:9 schema/out-of-range',
      '16:9 schema/wrong-type',
      '17:29 playbook/unknown-property',
      '18:29 playbook/unknown-property',
      '19:29 playbook/unknown-property',
    ]);
  });

  it('gets a hint with valid names for a list of nodes', () => {
    const { diagnostics } = load('playbook: 1\nplays:\n  - nodes: [Studio]\n    tasks: [verify: {}]\n');
    const form = diagnostics.find(({ code }) => code === 'schema/bad-form' || code === 'playbook/unknown-node');
    expect(form?.hint).toContain('studio-1');
  });

  it.each([
    ['', 'yaml/empty'],
    ['plays: []', 'schema/missing-key'],
    ['playbook: 2\nplays: [{ nodes: all, tasks: [verify: {}] }]', 'schema/unsupported-version'],
    ['playbook: 1\nplays: {}', 'schema/wrong-type'],
    ['playbook: 1\nplays: [{ nodes: all, tasks: [[]] }]', 'schema/wrong-type'],
    ['playbook: 1\nplays: [1, null, { nodes: 7, tasks: 7 }]', 'schema/wrong-type'],
    ['[1, 2', 'yaml/syntax'],
  ])('is refused if it is %j', (text, code) => {
    const { playbook, diagnostics } = load(text);
    expect(playbook).toBeUndefined();
    expect(diagnostics.map((one) => one.code)).toContain(code);
  });
});

describe('docs/playbooks.md', () => {
  const blocks = [...readFileSync('docs/playbooks.md', 'utf8').matchAll(/^`(\w+)`:\n\n```yaml\n(.*?)^```$/gms)];
  const examples = blocks.map(([, key = '', text = '']) => ({ key, text }));

  it('has an example of each key for what happens between batches', () => {
    const { properties } = JSON.parse(readFileSync('schemas/playbook.schema.json', 'utf8')).$defs.play;
    const usual = ['name', 'nodes', 'serial', 'tasks'];
    const keys = Object.keys(properties).filter((key) => !usual.includes(key));
    expect(examples.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
  });

  it.each(examples)('has an example of $key that can be copied', ({ key, text }) => {
    const { playbook, diagnostics } = load(text);
    expect(diagnostics).toEqual([]);
    expect(playbook?.about).toBeDefined();
    const old: { readonly plays: readonly object[] } = parse(text, { version: '1.1', merge: true });
    expect(old).toEqual(parse(text));
    expect(old.plays.map((one) => key in one)).toEqual([true]);
  });
});

onOnePage('load-playbook');
