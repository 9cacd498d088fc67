import { expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import { nodeName } from '../../../src/model/node.ts';
import { linkSubject, placementSubject, type Subject } from '../../../src/model/subject.ts';
import type { PlacementSurvey } from '../../../src/rack/placement/check/placement-survey.ts';
import { plainPaint } from '../../../src/report/page.ts';
import { doneText, questionText, wrongLines } from '../../../src/report/recover-text.ts';

const page = { columns: 120, unicode: true, paint: plainPaint, isSimulated: false };
const chat: PlacementSurvey = {
  ...{ name: 'chat', nodes: [nodeName('studio-1')], transport: 'rdma', wanted: 'serving' },
  ...{ state: 'hung', evidence: 'no token', standing: 'differs' },
};
const shown = (one: PlacementSurvey) =>
  wrongLines({ silent: [one], clients: [], changed: [], past: [], next: { kind: 'person', findings: [] } }, page);

it('the screen of recover does not call a placement silent if a Mac is gone', () => {
  expect(shown(chat)).toEqual(['chat does not serve (hung): no token']);
  const gone = { ...chat, state: 'unknown', evidence: 'studio-1: it is away', standing: 'unknown' } as const;
  expect(shown(gone)).toEqual(['It is unknown whether chat serves: studio-1: it is away']);
});

it('the screen of recover names the cable or the Mac that a cause is about', () => {
  const ends = [
    { node: nodeName('studio-1'), receptacle: 4 },
    { node: nodeName('studio-4'), receptacle: 2 },
  ] as const;
  const cause = (subject: Subject, detail: string) => {
    const finding = diagnose('mesh/not-serving', { subject, detail });
    const next = { kind: 'cure', cure: { rung: 'restart', names: ['chat'], finding } } as const;
    return wrongLines({ silent: [], clients: [], changed: [], past: [], next }, page);
  };
  const cable = linkSubject([ends[0], ends[1]]);
  expect(cause(cable, 'This cable is dead.')).toEqual(['studio-1:4 <-> studio-4:2: This cable is dead.']);
  expect(cause(placementSubject('chat'), 'chat is hung.')).toEqual(['chat is hung.']);
});

it('RC6: the screen says before a kill that it may cost a reboot', () => {
  const restart = {
    rung: 'restart',
    names: ['chat'],
    finding: diagnose('mesh/not-serving', { detail: 'It is hung.' }),
  } as const;
  const next = { kind: 'cure', cure: restart } as const;
  const lines = (one: PlacementSurvey) => wrongLines({ silent: [one], clients: [], changed: [], past: [], next }, page);
  expect(lines(chat)).toContain('A rank that ignores SIGTERM for 3 min is killed, which may cost a reboot.');
  expect(lines({ ...chat, state: 'dead' })).not.toContain(
    'A rank that ignores SIGTERM for 3 min is killed, which may cost a reboot.',
  );
});

it('the question tells how long the cure took last time, and what a reboot would interrupt besides', () => {
  const finding = diagnose('mesh/not-serving', { detail: 'It is hung.' });
  const cure = { rung: 'restart', names: ['chat'], finding } as const;
  const past = { rung: 'restart', names: ['chat'], placements: ['chat'], isDone: true, ms: 31_000 };
  const incidents = [{ runId: 'a', startedAtMs: 0, cures: [past], isServing: true }];
  const other: PlacementSurvey = { ...chat, name: 'qwen', state: 'serving', standing: 'met' };
  const shown = { members: chat.nodes, placements: [chat, other], outlets: [], incidents };
  expect(questionText(cure, shown)).toBe(
    'Restart chat (last time: 31 s)? If that does not help, other cures follow, at most a reboot of studio-1, which would also interrupt qwen. A reboot cannot be undone.',
  );
  expect(questionText(cure, { ...shown, outlets: ['studio-1', 'studio-9'] })).toContain(
    'at most a power cycle of studio-1 and a reboot of studio-1, which',
  );
  expect(questionText({ ...cure, rung: 'gateway' }, { ...shown, members: [], incidents: [] })).toBe(
    'Open the gateway of chat?',
  );
});

it('a cure that had nothing left to do says so', () => {
  const cure = {
    rung: 'continue',
    names: ['chat'],
    finding: diagnose('mesh/not-serving', { detail: 'It is hung.' }),
  } as const;
  const done = { cure, isDone: true, ms: 5_000 };
  expect(doneText(1, { ...done, hasChanged: true })).toBe('1. Resume the suspended ranks of chat: done (5 s)');
  expect(doneText(2, { ...done, hasChanged: false })).toBe(
    '2. Resume the suspended ranks of chat: nothing was left to do (5 s)',
  );
});
