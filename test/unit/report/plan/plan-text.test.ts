import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import type { Page } from '../../../../src/report/page.ts';
import { neededFor } from '../../../../src/report/plan/pending.ts';
import { denialText, effectTexts, type PlanTextInput, planText } from '../../../../src/report/plan/plan-text.ts';
import { plainPage } from '../../../rack/page.ts';
import { meshFleet } from '../../../rack/placements.ts';
import { anyDigest, blocker, change, emptyPlan, placedPlan as planOfMesh, stepOn, waits } from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';

const show = (plan: Plan, own: Partial<PlanTextInput & Page> = {}): string => {
  const lock = { shown: 'cluster.lock', additions: [] };
  const next = ['Save it: --out plan.json   Do it: meshwright apply --sim'];
  return planText({ plan, lock, next, ...own }, plainPage({ isSimulated: true, ...own }));
};

const names = (...words: string[]) => words.map(nodeName);
const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

const changes = [
  change('studio-1', 'thunderbolt-bridge', 'bridge0 with en2 en3 en4', 'removed', 'remove'),
  change('studio-1', 'link-address/2', '169.254.31.7 (self-assigned)', '10.77.0.1/30'),
  change('studio-1', 'power/sleep', 'sleeps after 10 min', 'never sleeps'),
  change('studio-2', 'power/restart-after-power-loss', 'stays off after a power cut', 'starts by itself'),
  change('studio-3', 'model/kimi-k2', 'absent', '12 files, 735 GB', 'add'),
];

/** A plan with every kind of entry. */
const full = emptyPlan({
  changes,
  steps: [
    stepOn('studio-1', 'power/set', { changes: changes.slice(0, 3).map(({ id }) => id) }),
    stepOn('studio-3', 'model/send', {
      act: {
        kind: 'send',
        source: '/models/kimi-k2/a',
        to: { kind: 'node-path', path: '/opt' },
        sha256: anyDigest,
        sizeBytes: 735e9,
      },
    }),
  ],
  blockers: [
    blocker('studio-3'),
    blocker('studio-1', { code: 'macos/outside-accept', isHands: false, action: 'Type: meshwright reboot studio-1' }),
    blocker('studio-4', { code: 'cabling/elsewhere', action: 'Move the cable end in receptacle 3 to receptacle 4.' }),
  ],
  waiting: [
    waits('placement/kimi', 'studio-1', [blocker('studio-3')]),
    waits('link-address/3', 'studio-4', [blocker('studio-4', { code: 'cabling/elsewhere' })]),
    waits('link-address/3', 'studio-2', [blocker('studio-4', { code: 'cabling/elsewhere' })]),
    waits('power', 'studio-4', ['power is unknown: no answer in time'], true),
  ],
  effects: [
    { kind: 'network', nodes: names('studio-1'), placements: [] },
    { kind: 'interrupt', nodes: names('studio-1', 'studio-2'), placements: ['qwen'], seconds: 95 },
  ],
  diagnostics: [
    diagnose('ssh/unreachable', {
      subject: nodeSubject('studio-4'),
      detail: 'studio-4.lan:22 did not answer within 10 s.',
    }),
  ],
});

const linesOfChanges = (text: string): readonly string[] =>
  text
    .split('\n\n')
    .find((block) => block.startsWith('Changes'))
    ?.split('\n') ?? [];

describe("a plan's text", () => {
  it('lists manual steps, then changes, waiting resources and the next command', async () => {
    const text = show(full, { lock: { shown: 'cluster.lock', additions: ['model kimi-k2: 12 files, 735 GB'] } });
    expect(widest(text)).toBeLessThanOrEqual(80);
    await expect(text).toMatchFileSnapshot('golden/plan-full.txt');
  });

  it('lists blockers that apply removes between manual steps and other blockers', () => {
    const isHands = false;
    const missing = blocker('studio-2', { code: 'plan/not-converged', isHands, action: 'Type: meshwright apply' });
    const [manual, macos] = [blocker('studio-3'), blocker('studio-1', { code: 'macos/outside-accept', isHands })];
    const titles = show(emptyPlan({ blockers: [macos, missing, manual] }))
      .split('\n')
      .filter((line) => /^\S.*\(\d\)/.test(line));
    expect(titles.map((line) => line.replace(/ {3}.*/, ''))).toEqual([
      'Manual steps at the rack (1)',
      'Run apply first (1)',
      'Do this first (1)',
    ]);
    expect([[], [macos, missing, manual], [macos, missing], [missing], [macos]].map(neededFor)).toEqual([
      undefined,
      'hands needed',
      'blocked',
      'apply needed',
      'blocked',
    ]);
  });

  it('groups nodes with equal changes', () => {
    const same = (node: string) => change(node, 'power/sleep', 'sleeps after 10 min', 'never sleeps');
    const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-5'];
    const other = change('studio-4', 'power/sleep', 'sleeps after 5 min', 'never sleeps');
    const text = show(emptyPlan({ changes: [...nodes.map(same), other], steps: [stepOn('studio-1', 'power/set')] }));
    expect(linesOfChanges(text)).toEqual([
      'Changes (5 on 5 nodes)',
      '  studio-1,2,3,5   ~ power/sleep   sleeps after 10 min -> never sleeps',
      '  studio-4         ~ power/sleep   sleeps after 5 min  -> never sleeps',
    ]);
  });

  it.each([
    [80, '  studio-1  !~ placement/chat   running with old settings -> serving'],
    [40, ' !~ placement/chat'],
  ])('marks disruptive changes at %i columns', (columns, line) => {
    const changes = [
      change('studio-1', 'placement/chat', 'running with old settings', 'serving'),
      change('studio-1', 'power/sleep', 'sleeps after 10 min', 'never sleeps'),
    ];
    const effect = { kind: 'interrupt', placement: 'chat', seconds: 5 } as const;
    const stop = stepOn('studio-1', 'stop', { effect, changes: ['studio-1 placement/chat'] });
    const lines = linesOfChanges(show(emptyPlan({ changes, steps: [stop] }), { columns }));
    expect(lines).toContain(line);
    expect(lines.filter((one) => one.includes('!'))).toEqual([line, '! disruptive, see Effects below']);
  });

  const ofEachKind = [
    change('studio-1', 'model/kimi-k2', 'missing', 'version 1', 'add'),
    change('studio-1', 'power/sleep', 'sleeps after 10 min', 'never sleeps'),
    change('studio-1', 'thunderbolt-bridge/service', 'Thunderbolt Bridge', 'removed', 'remove'),
    change('studio-2', 'model/kimi-k2', 'missing', 'version 1', 'add'),
  ];

  it('counts the changes of each kind in its first line', () => {
    const heads = [ofEachKind, ofEachKind.slice(0, 2), []].map(
      (changes) => show(emptyPlan({ changes })).split('\n')[0],
    );
    expect(heads.map((line) => line?.replace(/ +simulated$/, ''))).toEqual([
      'studio-rack   4 nodes: 2 to add, 1 to change, 1 to remove',
      'studio-rack   4 nodes: 1 to add, 1 to change',
      'studio-rack   4 nodes',
    ]);
  });

  it('paints additions green, changes yellow, removals red, and disruptive changes as a whole line', () => {
    const paint: Page['paint'] = (tone, text) => `<${tone} ${text}>`;
    const effect = { kind: 'interrupt', placement: 'chat', seconds: 5 } as const;
    const stop = stepOn('studio-1', 'stop', { effect, changes: ['studio-1 thunderbolt-bridge/service'] });
    const text = show(emptyPlan({ changes: ofEachKind.slice(0, 3), steps: [stop] }), { paint, columns: 40 });
    expect(text.split('\n').filter((line) => line.includes('/'))).toEqual([
      '  <good +> model/kimi-k2',
      '  <warn ~> power/sleep',
      ' <bad !-><warn  thunderbolt-bridge/service>',
    ]);
  });

  it('counts new lock lines in a plan for some nodes, and names the command that lists them', () => {
    const lock = { shown: 'cluster.lock', additions: ['link a', 'link b'], isCounted: true } as const;
    expect(show(emptyPlan(), { lock })).toContain('New in cluster.lock (2)\n  List them: meshwright plan --sim\n\n');
  });

  it('fits a page of 40 columns', async () => {
    const text = show(full, { columns: 40, next: [] });
    await expect(text).toMatchFileSnapshot('golden/plan-narrow.txt');
    expect(widest(text)).toBeLessThanOrEqual(40);
  });

  it('reports an empty plan in one line without a command', () => {
    expect(show(emptyPlan(), { isSimulated: false })).toBe(
      'studio-rack   4 nodes\n\nNothing to change: 4 nodes match the file.\n',
    );
  });

  it.each([
    ['nothing to change', {}],
    ['nothing that apply can change', { waiting: [waits('power', 'studio-1', ['power is unknown'], true)] }],
  ])('names the saved file in a plan with %s', (_what, own) => {
    const saved = 'Saved in plan.json.';
    expect(show(emptyPlan(own), { saved }).trimEnd().split('\n').slice(-2)).toEqual(['', saved]);
    expect(show(full, { saved })).not.toContain(saved);
  });

  it('counts observed nodes and names unreached ones', () => {
    const { 'studio-4': _lost, ...observed } = emptyPlan().observed;
    const reason = { code: 'ssh/refused', reason: 'The node refused the connection.' } as const;
    expect(show(emptyPlan({ observed, unreached: { 'studio-4': reason } }), { isSimulated: false })).toBe(
      'studio-rack   3 of 4 nodes observed\n\nNothing to change: 3 nodes match the file. Not reached: studio-4.\n',
    );
  });

  it('does not claim that an unobserved rack matches the file', () => {
    expect(show(emptyPlan({ observed: {} }))).toContain('No node was observed.');
    const waiting = [waits('power', 'studio-1', ['power is unknown'], true)];
    const text = show(emptyPlan({ waiting }));
    expect(text).toContain('apply cannot change anything now.');
    expect(text).not.toContain('Nothing to change');
  });

  it('escapes text from a node', () => {
    const odd = emptyPlan({
      changes: [change('studio-1', 'runtime/x', 'a\u001b[2Jb', 'c\nd')],
      steps: [stepOn('studio-1', 'x')],
    });
    expect(show(odd)).toContain('a\\u{1b}[2Jb -> c\\u{a}d');
  });

  it.each(['placement/kimi', 'placement/kimi/rank'])('reports stopping the hung %s', (address) => {
    const effects = [{ kind: 'start', nodes: [], placements: ['kimi', 'qwen'] }] as const;
    const changes = [change('studio-1', address, 'hung', 'stopped')];
    expect(effectTexts({ effects, changes, steps: [] })).toEqual([
      'starts qwen',
      'stops the remaining processes of kimi',
    ]);
    expect(effectTexts({ effects, changes: [], steps: [] })).toEqual(['starts kimi, qwen']);
  });

  it('reports stopping orphaned ranks that return no token', () => {
    const { steps } = planOfMesh({
      of: { ...meshFleet(), placements: [] },
      ranks: { 'studio-1': [{ state: 'joined', rank: 0, token: { kind: 'silent', reason: 'status 503' } }] },
    });
    const effects = [{ kind: 'start', nodes: [], placements: ['kimi'] }] as const;
    const changes = [change('studio-1', 'placement', 'orphaned ranks of kimi', 'no orphaned ranks')];
    expect(effectTexts({ effects, changes, steps })).toEqual(['stops the remaining processes of kimi']);
  });

  it('reports stopping a hung placement before its start', () => {
    const effects = [{ kind: 'start', nodes: [], placements: ['kimi'] }] as const;
    const { steps } = planOfMesh({
      of: meshFleet(),
      ranks: {
        'studio-1': [{ state: 'joined', rank: 0, token: { kind: 'silent', reason: 'status 503' } }],
        'studio-2': [{ state: 'joined', rank: 1 }],
        'studio-3': [{ state: 'joined', rank: 2 }],
      },
    });
    expect(effectTexts({ effects, changes: [change('studio-1', 'placement/kimi', 'hung', 'serving')], steps })).toEqual(
      ['stops kimi, which produces no tokens, and starts it again'],
    );
  });

  it('rules out only the effects that the plan does not have', () => {
    expect(denialText([])).toBe('Nothing is interrupted, rebooted, switched off or deleted.');
    expect(denialText([{ kind: 'interrupt', nodes: [], placements: ['kimi'] }])).toBe(
      'Nothing is rebooted, switched off or deleted.',
    );
    expect(denialText([{ kind: 'locked-reboot', nodes: [], placements: [] }])).not.toContain('rebooted');
    const all = ['interrupt', 'reboot', 'shutdown', 'delete'] as const;
    expect(denialText(all.map((kind) => ({ kind, nodes: [], placements: [] })))).toBe('');
  });
});

onOnePage('plan-text');
