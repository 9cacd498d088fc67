import { describe, expect, it } from 'vitest';
import { skeleton } from '../cli/skeleton/skeleton.ts';

const diagnostic = {
  code: 'ssh/refused',
  severity: 'error',
  summary: 'The node refused the connection.',
  detail: 'Nothing listens at 127.0.0.1 port 34431.',
  hint: 'Turn on Remote Login.',
  subject: 'node studio-1',
};
const step = {
  id: 'studio-4/hold',
  node: 'studio-4',
  resource: 'hold',
  act: 'script',
  effect: 'none',
  outcome: 'changed',
  ms: 33,
  diagnostics: [],
};
const report = {
  verb: 'hold',
  run: '20261124T060240-765f03',
  counts: { changed: 1, failed: 0, unchanged: 32 },
  steps: [step],
  waiting: [{ node: 'studio-1', for: ['the cable is unknown'], unknown: true }],
  lock: { path: '/tmp/mw-cli-wREhe5/state/sim/cluster-yaml-0d51d62a/cluster.lock', written: false },
  commands: ['meshwright apply --sim'],
  diagnostics: [diagnostic],
};
const usual = skeleton({ exit: 0, document: report });

/** The skeleton of the report with some additional fields. */
const changed = (fields: object) => skeleton({ exit: 0, document: { ...report, ...fields } });

describe('skeleton', () => {
  it('keeps data and nothing else', () => {
    expect(usual).toEqual({
      exit: 0,
      document: {
        verb: 'hold',
        counts: { changed: 1, failed: 0, unchanged: 32 },
        steps: [
          {
            id: 'studio-4/hold',
            node: 'studio-4',
            resource: 'hold',
            act: 'script',
            effect: 'none',
            outcome: 'changed',
            diagnostics: [],
          },
        ],
        waiting: [{ node: 'studio-1', for: 1, unknown: true }],
        lock: { path: '/PLACE/state/sim/cluster-yaml-DIGEST/cluster.lock', written: false },
        commands: ['meshwright apply'],
        diagnostics: [{ code: 'ssh/refused', severity: 'error', subject: 'node studio-1' }],
      },
    });
  });

  it.each<readonly [string, object]>([
    ['sentence', { diagnostics: [{ ...diagnostic, summary: 'Refused.', detail: 'No port.', hint: 'Ask Ana.' }] }],
    ['sentence of a list', { waiting: [{ node: 'studio-1', for: ['studio-2 is off'], unknown: true }] }],
    ['time', { steps: [{ ...step, ms: 34 }] }],
    ['name of a run', { run: '20261124T060241-765f04' }],
    [
      'path of the place',
      { lock: { path: '/dev/shm/mw-cli-1/state/sim/cluster-yaml-0d51d62b/cluster.lock', written: false } },
    ],
    ['--sim in a command', { commands: ['meshwright apply'] }],
    ['order of fields', { verb: undefined, ...Object.fromEntries(Object.entries(report).toReversed()) }],
  ])('does not change with a %s', (_, fields) => {
    expect(JSON.stringify(changed(fields))).toBe(JSON.stringify(usual));
  });

  it.each<readonly [string, object]>([
    ['code', { diagnostics: [{ ...diagnostic, code: 'ssh/timed-out' }] }],
    ['severity', { diagnostics: [{ ...diagnostic, severity: 'warning' }] }],
    ['subject', { diagnostics: [{ ...diagnostic, subject: 'node studio-2' }] }],
    ['further diagnostic', { diagnostics: [diagnostic, diagnostic] }],
    ['step', { steps: [{ ...step, id: 'studio-4/release' }] }],
    ['missing step', { steps: [] }],
    ['effect', { steps: [{ ...step, effect: 'reboot' }] }],
    ['count', { counts: { changed: 1, failed: 0, unchanged: 33 } }],
    ['number of sentences', { waiting: [{ node: 'studio-1', for: ['one', 'other'], unknown: true }] }],
    ['boolean', { waiting: [{ node: 'studio-1', for: ['one'], unknown: false }] }],
    ['command', { commands: ['meshwright stop --sim'] }],
    ['text in a field that no table has', { remark: 'A new sentence.' }],
  ])('is different: %s', (_, fields) => {
    expect(changed(fields)).not.toEqual(usual);
  });

  it('is different if the order of steps is different', () => {
    const other = { ...step, id: 'studio-4/release' };
    expect(changed({ steps: [step, other] })).not.toEqual(changed({ steps: [other, step] }));
  });

  it('is different if the exit code is different', () => {
    expect(skeleton({ exit: 4, document: report })).not.toEqual(usual);
    expect(skeleton({ exit: 0 })).toEqual({ exit: 0 });
  });

  it('keeps values that are named in the tables and are not sentences', () => {
    const runs = [{ from: ['journal'], steps: [{ node: 'studio-4' }, { node: 'studio-1' }] }];
    expect(skeleton({ exit: 0, document: { text: { at: { code: 'x' } }, runs } })).toEqual({
      exit: 0,
      document: {
        text: { at: { code: 'x' } },
        runs: [{ from: ['journal'], steps: [{ node: 'studio-1' }, { node: 'studio-4' }] }],
      },
    });
  });
});
