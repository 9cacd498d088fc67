import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../../src/diagnostics/diagnostic.ts';
import { type Cure, nextCure, type SeenTroubles } from '../../../../src/engine/diagnose/next-cure.ts';
import { codes } from '../../../../src/engine/diagnose/rules.ts';
import { type Trouble, troublesOf } from '../../../../src/engine/diagnose/troubles.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import { given } from '../../../../src/model/given.ts';
import { known } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodeSubject, nodesSubject, placementSubject } from '../../../../src/model/subject.ts';
import { meshwright } from '../../../../src/model/text/command.ts';
import { prose } from '../../../../src/model/text/prose.ts';
import { placementFindings } from '../../../../src/rack/placement/check/placement-findings.ts';
import {
  type ClientCounts,
  type PlacementSurvey,
  surveyPlacements,
} from '../../../../src/rack/placement/check/placement-survey.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';

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

const clientsOf = (traffic: { readonly running: number; readonly quietMs?: number }): ClientCounts => ({
  placement: 'chat',
  status: known({
    ...{ placement: 'chat', waiting: 0, ...traffic },
    counts: {
      ...{ requests: 0, failed: 0, refused: 0, tokens: 0 },
      ...{ firstToken: { count: 0, totalMs: 0, lastMs: 0 }, generating: { tokens: 0, totalMs: 0, lastPerSecond: 0 } },
    },
  }),
});

const next = (
  troubles: readonly Trouble[],
  {
    survey = hung,
    failures = {},
    tried = [],
    clients = [],
    changed = [],
    cabled,
    outlets = [],
  }: {
    readonly survey?: PlacementSurvey;
    readonly failures?: Readonly<Record<string, readonly Diagnostic[]>>;
    readonly tried?: readonly Cure[];
    readonly clients?: readonly ClientCounts[];
    readonly changed?: SeenTroubles['changed'];
    readonly cabled?: readonly string[];
    readonly outlets?: readonly string[];
  } = {},
) =>
  nextCure(
    { troubles, placements: [survey], clients, changed, cabled, outlets, observation: { nodes: {}, failures } },
    ['chat'],
    tried,
  );

/** The parts of a measurement that say nothing. */
const unmeasured = { clients: [], changed: [], cabled: [], outlets: [], observation: { nodes: {}, failures: {} } };

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

  it('measures a suspected cable before it leaves it to a person, and starts if it is good', () => {
    const cable = diagnose('rdma/suspected-idle-dead', {
      subject: placementSubject('chat'),
      detail: 'Starts failed before and after Macs were restarted.',
      hint: 'Replace this cable.',
    });
    const survey: PlacementSurvey = { ...hung, state: 'stopped' };
    const look = (tried: readonly Cure[], cabled?: readonly string[]) =>
      next([trouble(cable)], { survey, tried, ...given({ cabled }) });
    const measure: Cure = { rung: 'measure', names: nodes, finding: cable };
    expect(look([], [])).toEqual({ kind: 'cure', cure: measure });
    const start: Cure = { rung: 'start', names: ['chat'], finding: cable };
    expect(look([measure], ['chat'])).toEqual({ kind: 'cure', cure: start });
    expect(look([measure], [])).toEqual({ kind: 'person', findings: [cable] });
    // A measurement from before the last start says nothing about it.
    expect(look([measure, start], ['chat'])).toEqual({ kind: 'cure', cure: measure });
    expect(look([measure, start, measure], ['chat'])).toEqual({ kind: 'person', findings: [cable] });
    // This computer cannot measure.
    expect(look([])).toEqual({ kind: 'person', findings: [cable] });
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

  it('creates a dropped instance again before it restarts anything', () => {
    const missing = diagnose('mesh/instance-missing', {
      subject: placementSubject('chat'),
      detail: 'It is hung.',
      hint: prose`${meshwright('restart', 'chat')}`,
    });
    const survey: PlacementSurvey = { ...hung, instance: 'missing' };
    const first = next([trouble(missing)], { survey });
    expect(first).toMatchObject({ kind: 'cure', cure: { rung: 'instance', names: ['chat'] } });
    const tried = first.kind === 'cure' ? [first.cure] : [];
    expect(next([trouble(missing)], { survey, tried })).toMatchObject({ cure: { rung: 'restart' } });
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

  it('RC3: is none while the state of a placement is unknown although its Macs answer', () => {
    const unread = {
      ...hung,
      state: 'unknown',
      evidence: 'studio-2: ps printed nothing',
      standing: 'unknown',
    } as const;
    const bridge = diagnose(codes['address/by-dhcp'], { subject: nodesSubject(['studio-1']), detail: 'By DHCP.' });
    const found = next([trouble(suspected), trouble(bridge)], { survey: unread });
    expect(found).toEqual({ kind: 'person', findings: [suspected, bridge] });
  });

  it('RC3: changes no Mac of a placement whose state is unknown, even if another placement there does not serve', () => {
    const bridge = diagnose(codes['address/by-dhcp'], { subject: nodesSubject(['studio-1']), detail: 'By DHCP.' });
    const rebooted = diagnose('mesh/not-serving', { ...suspected, hint: prose`${meshwright('reboot', 'studio-2')}` });
    const unread: PlacementSurvey = { ...hung, name: 'other', state: 'unknown', standing: 'unknown' };
    const troubles = [trouble(bridge, { hanging: ['placement chat'] }), trouble(rebooted)];
    const nextWith = (other: PlacementSurvey) =>
      nextCure({ ...unmeasured, troubles, placements: [hung, other] }, ['chat', 'other']);
    expect(nextWith(unread)).toEqual({ kind: 'person', findings: [bridge, rebooted] });
    expect(nextWith({ ...unread, nodes: [nodeName('studio-3')] })).toMatchObject({ cure: { rung: 'network' } });
    expect(nextWith({ ...unread, state: 'serving' })).toMatchObject({ cure: { rung: 'network' } });
  });

  it('RC3: is no wait for requests in flight while the processes of the ranks are unknown', () => {
    const unknown = { ...hung, state: 'unknown', standing: 'unknown' } as const;
    const clients = [clientsOf({ running: 1, quietMs: 60_000 })];
    expect(next([trouble(suspected)], { survey: unknown, clients })).toMatchObject({ kind: 'person' });
    const unasked: PlacementSurvey = { ...unknown, unasked: true };
    expect(next([trouble(suspected)], { survey: unasked, clients })).toMatchObject({ cure: { rung: 'wait' } });
  });

  it('is to wait for requests in flight, because a long prompt is not a hang', () => {
    const quiet = (quietMs: number) => [clientsOf({ running: 1, quietMs })];
    const wait = next([trouble(suspected)], { clients: quiet(60_000) });
    expect(wait).toMatchObject({ kind: 'cure', cure: { rung: 'wait', names: ['chat'] } });
    const tried = wait.kind === 'cure' ? [wait.cure] : [];
    const restart = { kind: 'cure', cure: { rung: 'restart', names: ['chat'] } };
    expect(next([trouble(suspected)], { clients: quiet(60_000), tried })).toMatchObject(restart);
    expect(next([trouble(suspected)], { clients: quiet(600_000) })).toMatchObject(restart);
    expect(next([trouble(suspected)], { clients: [clientsOf({ running: 0 })] })).toMatchObject(restart);
  });

  it('opens the gateway of a placement that serves, and then nothing', () => {
    const closed = diagnose('endpoint/closed', { subject: placementSubject('chat'), detail: 'Clients get 503.' });
    const survey = { ...hung, state: 'serving', standing: 'met' } as const;
    const first = next([trouble(closed)], { survey });
    expect(first).toMatchObject({ kind: 'cure', cure: { rung: 'gateway', names: ['chat'] } });
    const tried = first.kind === 'cure' ? [first.cure] : [];
    expect(next([trouble(closed)], { survey, tried })).toEqual({ kind: 'person', findings: [closed] });
  });

  it('RC2: is no second reboot or power cycle, whatever became of the first one', () => {
    const reboot = prose`${meshwright('reboot', 'studio-2')}`;
    const finding = diagnose('mesh/not-serving', { ...suspected, hint: reboot });
    const tried: readonly Cure[] = [{ rung: 'reboot', names: ['studio-2'], finding }];
    expect(next([trouble(finding)], { tried })).toEqual({ kind: 'person', findings: [finding] });
    const failures = { 'studio-2': [away] };
    const cycled = (['wait', 'power-cycle'] as const).map((rung) => ({ rung, names: ['studio-2'], finding: away }));
    const outlets = ['studio-2'];
    expect(next([trouble(away)], { failures, outlets, tried: cycled.slice(0, 1) })).toMatchObject({ cure: cycled[1] });
    expect(next([trouble(away)], { failures, outlets, tried: cycled })).toEqual({ kind: 'person', findings: [away] });
  });

  it('RC7: is no start that a fact excludes', () => {
    const refused = [meshwright('restart', 'chat'), meshwright('start', 'chat'), meshwright('reboot', 'studio-2')];
    expect(next([trouble(suspected, { refused })])).toEqual({ kind: 'person', findings: [suspected] });
  });

  it('RC8: restarts a group whose hang no fact explains, before cables are measured or a Mac reboots', () => {
    const desired = meshFleet({ placement: { transport: 'rdma' } });
    const token = { kind: 'silent', reason: 'none came before the deadline of 4 s' } as const;
    const observation = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'joined'], { token }) });
    const view = viewOf({ desired, observation, targets: desired.nodes.map(({ name }) => name) });
    const placements = surveyPlacements(view);
    const findings = placementFindings(view, placements);
    const troubles = troublesOf({ desired, observation, findings, placements });
    expect(nextCure({ ...unmeasured, troubles, placements, observation }, ['kimi'])).toMatchObject({
      cure: { rung: 'restart', names: ['kimi'] },
    });
  });

  it('RC9: restarts all ranks of a placement together, and no placement that serves on the same Macs', () => {
    const whole: PlacementSurvey = { ...hung, name: 'other', state: 'serving', standing: 'met' };
    const troubles = [trouble(suspected, { restarts: ['chat', 'other'] })];
    const found = nextCure({ ...unmeasured, troubles, placements: [hung, whole] }, ['chat', 'other']);
    expect(found).toMatchObject({ cure: { rung: 'restart', names: ['chat'] } });
  });

  it('RC10: stops ranks that still run before a person moves a cable', () => {
    const cable = diagnose(codes['cabling/missing'], { subject: nodesSubject(nodes), detail: 'It is not plugged in.' });
    const pulled = trouble(cable, { stage: 'cables', hanging: ['placement chat'], restarts: ['chat'] });
    const stop = next([pulled]);
    expect(stop).toMatchObject({ kind: 'cure', cure: { rung: 'stop', names: ['chat'] } });
    const tried = stop.kind === 'cure' ? [stop.cure] : [];
    expect(next([pulled], { tried })).toEqual({ kind: 'person', findings: [cable] });
    expect(next([trouble(cable, { stage: 'cables', hanging: ['placement chat'] })])).toMatchObject({ kind: 'person' });
  });

  it('starts nothing with newer settings if the older ones are not known exactly', () => {
    const changed = [{ name: 'chat', words: 'context 8k (file: 16k)', isKnown: false }];
    expect(next([trouble(suspected)], { changed })).toMatchObject({
      kind: 'person',
      findings: [{ code: 'recover/settings-changed' }, suspected],
    });
    const reboot = trouble(
      diagnose('mesh/not-serving', { ...suspected, hint: prose`${meshwright('reboot', 'studio-2')}` }),
    );
    expect(next([reboot], { changed })).toMatchObject({ kind: 'person' });
    expect(next([reboot])).toMatchObject({ cure: { rung: 'reboot' } });
    const known = changed.map((one) => ({ ...one, isKnown: true }));
    expect(next([trouble(suspected)], { changed: known })).toMatchObject({ cure: { rung: 'restart' } });
  });

  it('exists for a placement that runs with other settings and returned no token', () => {
    const survey = { ...hung, state: 'changed', silent: true } as const;
    expect(next([trouble(suspected)], { survey })).toMatchObject({ cure: { rung: 'restart' } });
  });
});
