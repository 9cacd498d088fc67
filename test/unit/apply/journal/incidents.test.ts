import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { incidentFolder, readIncidents } from '../../../../src/apply/journal/incidents.ts';
import { type JournalEntry, openJournal } from '../../../../src/apply/journal/journal.ts';
import { readSecrets } from '../../../../src/diagnostics/hide-secrets.ts';
import { lastDuration, recoveriesIn } from '../../../../src/engine/diagnose/past-cures.ts';

let journals = '';
beforeEach(() => {
  journals = mkdtempSync(join(tmpdir(), 'mw-incidents-'));
});
afterEach(() => rmSync(journals, { recursive: true }));

const cure = (rung: string, names: readonly string[]): JournalEntry => ({
  ...{ phase: 'cure', rung, names },
  ...{ placements: ['chat'], code: 'mesh/not-serving' },
});
const cured = (isDone: boolean, ms: number): JournalEntry => ({ phase: 'cured', isDone, ms });
const idle: JournalEntry = { phase: 'cured', isDone: true, hasChanged: false, ms: 5_000 };
const end = (isServing: boolean): JournalEntry => ({ phase: 'end', isInterrupted: false, isServing });

function write(runId: string, ...entries: readonly JournalEntry[]): void {
  const journal = openJournal(incidentFolder(journals), runId, readSecrets());
  for (const entry of entries) journal.write(entry);
  journal.close();
}

describe('incidents', () => {
  it('RC1: count a cure that was booked, also if the run was killed during it', () => {
    write('20261130T020000-aaaaaa', cure('restart', ['chat']));
    const [incident] = readIncidents(journals);
    expect(incident?.cures).toEqual([{ rung: 'restart', names: ['chat'], placements: ['chat'] }]);
    expect(incident?.isServing).toBeUndefined();
  });

  it('RC4: keep their own end, so that an older success says nothing about a newer incident', () => {
    write('20261130T010000-aaaaaa', cure('restart', ['chat']), cured(true, 9_000), end(true));
    write('20261130T020000-bbbbbb', cure('reboot', ['studio-2']), cured(false, 60_000), end(false));
    expect(readIncidents(journals).map(({ runId, isServing }) => [runId, isServing])).toEqual([
      ['20261130T020000-bbbbbb', false],
      ['20261130T010000-aaaaaa', true],
    ]);
  });

  it('without a cure are none', () => {
    write('20261130T020000-aaaaaa', end(true));
    expect(readIncidents(journals)).toEqual([]);
    expect(readIncidents(join(journals, 'missing'))).toEqual([]);
  });

  it('count a recovery only for the run that acted, if two ran at the same time', () => {
    write('20261130T010000-aaaaaa', cure('continue', ['chat']), cured(true, 9_000), end(true));
    write('20261130T010001-bbbbbb', cure('wait', ['studio-2']), idle, cure('continue', ['chat']), idle, end(true));
    const incidents = readIncidents(journals);
    expect(incidents).toHaveLength(2);
    expect(recoveriesIn(incidents, 'chat', Date.now())).toMatchObject({ times: 1, last: { cure: { ms: 9_000 } } });
  });

  it('tell how often a placement was brought back in seven days, by which cure, and how long that took', () => {
    write('20261130T010000-aaaaaa', cure('restart', ['chat']), cured(true, 9_000), end(true));
    write(
      '20261130T020000-bbbbbb',
      cure('restart', ['chat']),
      cured(false, 8_000),
      cure('reboot', ['studio-2']),
      cured(true, 60_000),
      end(true),
    );
    write('20261130T030000-cccccc', cure('restart', ['chat']), cured(true, 7_000), end(false));
    const incidents = readIncidents(journals);
    const nowMs = Date.now();
    expect(recoveriesIn(incidents, 'chat', nowMs)).toMatchObject({
      times: 2,
      last: { cure: { rung: 'reboot', names: ['studio-2'], ms: 60_000 } },
    });
    expect(recoveriesIn(incidents, 'other', nowMs)).toBeUndefined();
    expect(recoveriesIn(incidents, 'chat', nowMs + 8 * 24 * 3_600_000)).toBeUndefined();
    expect(lastDuration(incidents, { rung: 'restart', names: ['chat'] })).toBe(7_000);
    expect(lastDuration(incidents, { rung: 'reboot', names: ['studio-1'] })).toBeUndefined();
  });
});
