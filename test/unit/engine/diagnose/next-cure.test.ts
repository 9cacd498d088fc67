import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../../src/diagnostics/diagnostic.ts';
import { type Cure, nextCure } from '../../../../src/engine/diagnose/next-cure.ts';
import { codes } from '../../../../src/engine/diagnose/rules.ts';
import type { Trouble } from '../../../../src/engine/diagnose/troubles.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodeSubject, nodesSubject, placementSubject } from '../../../../src/model/subject.ts';
import { meshwright } from '../../../../src/model/text/command.ts';
import { prose } from '../../../../src/model/text/prose.ts';
import type { PlacementSurvey } from '../../../../src/rack/placement/check/placement-survey.ts';

const nodes = ['studio-1', 'studio-2'].map(nodeName);
const hung: PlacementSurvey = {
  ...{ name: 'chat', nodes, transport: 'rdma', wanted: 'serving' },
  ...{ state: 'hung', evidence: 'no token', standing: 'differs' },
};
const trouble = (finding: Diagnostic, more: Partial<Trouble> = {}): Trouble => ({
  ...{ finding, stage: 'nodes', evidence: [], hanging: [] },
  ...more,
});
const suspected = diagnose('mesh/not-serving', {
  subject: placementSubject('chat'),
  detail: 'It is hung.',
  hint: prose`Restart it: ${meshwright('restart', 'chat')} or ${meshwright('reboot', 'studio-2')}`,
});
const away = diagnose('ssh/timed-out', { subject: nodeSubject('studio-2'), detail: 'It is away.' });

const next = (
  troubles: readonly Trouble[],
  {
    survey = hung,
    failures = {},
    tried = [],
  }: {
    readonly survey?: PlacementSurvey;
    readonly failures?: Readonly<Record<string, readonly Diagnostic[]>>;
    readonly tried?: readonly Cure[];
  } = {},
) => nextCure({ troubles, placements: [survey], observation: { nodes: {}, failures } }, ['chat'], tried);

describe('the next cure', () => {
  it('is none if the placement returned a token, even with other settings than in the file', () => {
    expect(next([trouble(suspected)], { survey: { ...hung, state: 'changed' } })).toEqual({ kind: 'serving' });
    expect(next([trouble(suspected)], { survey: { ...hung, wanted: 'stopped' } })).toEqual({ kind: 'serving' });
  });

  it('is the first command of the hint, then the second one, then a person', () => {
    const first = next([trouble(suspected)]);
    expect(first).toMatchObject({ kind: 'cure', cure: { rung: 'restart', names: ['chat'] } });
    const tried = first.kind === 'cure' ? [first.cure] : [];
    const second = next([trouble(suspected)], { tried });
    expect(second).toMatchObject({ kind: 'cure', cure: { rung: 'reboot', names: ['studio-2'] } });
    const all = [...tried, ...(second.kind === 'cure' ? [second.cure] : [])];
    expect(next([trouble(suspected)], { tried: all })).toEqual({ kind: 'person', findings: [suspected] });
  });

  it('resumes a suspended rank before it restarts anything', () => {
    const suspended = [{ node: nodeName('studio-2'), rank: 1, pids: [7] }];
    const first = next([trouble(suspected)], { survey: { ...hung, suspended } });
    expect(first).toMatchObject({ kind: 'cure', cure: { rung: 'continue', names: ['chat'] } });
    const tried = first.kind === 'cure' ? [first.cure] : [];
    expect(next([trouble(suspected)], { survey: { ...hung, suspended }, tried })).toMatchObject({
      cure: { rung: 'restart' },
    });
  });

  it('leaves out a command that a plan would refuse', () => {
    const refused = [meshwright('restart', 'chat')];
    expect(next([trouble(suspected, { refused })])).toMatchObject({ cure: { rung: 'reboot' } });
  });

  it('waits for a Mac that is away, and restarts nothing meanwhile', () => {
    const failures = { 'studio-2': [away] };
    const wait = next([trouble(suspected)], { failures });
    expect(wait).toMatchObject({ kind: 'cure', cure: { rung: 'wait', names: ['studio-2'] } });
    const tried = wait.kind === 'cure' ? [wait.cure] : [];
    expect(next([trouble(away), trouble(suspected)], { failures, tried })).toEqual({
      kind: 'person',
      findings: [away, suspected],
    });
  });

  it('waits for no Mac that a person has to unlock', () => {
    const locked = diagnose('ssh/locked-at-filevault', { subject: nodeSubject('studio-2'), detail: 'It is locked.' });
    expect(next([trouble(locked)], { failures: { 'studio-2': [locked] } })).toEqual({
      kind: 'person',
      findings: [locked],
    });
  });

  it('ignores problems of Macs without a rank of the placement', () => {
    const other = diagnose(codes['bridge/active'], { subject: nodesSubject(['studio-3']), detail: 'It is active.' });
    expect(next([trouble(other)])).toMatchObject({ kind: 'person', findings: [{ code: 'recover/no-cure' }] });
  });

  it('puts the network right, and applies nothing else in the file', () => {
    const bridge = diagnose(codes['address/by-dhcp'], { subject: nodesSubject(['studio-1']), detail: 'By DHCP.' });
    const found = next([trouble(bridge, { hanging: ['placement chat'] })]);
    expect(found).toMatchObject({ kind: 'cure', cure: { rung: 'network', names: nodes } });
  });
});
