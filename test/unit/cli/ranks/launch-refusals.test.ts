import { describe, expect, it } from 'vitest';
import { launchRefusals } from '../../../../src/cli/ranks/launch.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { subjectText } from '../../../../src/model/subject.ts';
import { observedFleet, type RackChanges } from '../../../rack/rack.ts';

const nodes = ['studio-4', 'studio-3'].map(nodeName);
const mark = { placement: 'kimi', why: 'kernel' } as const;
const session = '6F1C9F0A-8B0E-4B55-9D0A-0C1D2E3F4A5B';
const spent = {
  'boot-session': { uuid: session, bootedAtEpochSeconds: 1 },
  'rdma-starts': { startedIn: session, starts: 99, last: [] },
} satisfies NonNullable<RackChanges['values']>[string];

const refusals = (changes: RackChanges, isOverRdma = true) =>
  launchRefusals({ nodes, isOverRdma }, observedFleet(changes)).map(({ code, subject, detail }) => [
    code,
    subjectText(subject),
    plainText(detail).replace(' Nothing was started or stopped.', ''),
  ]);

describe('the Macs that launch refuses', () => {
  it('exclude Macs on which a placement can start', () => {
    expect(refusals({})).toEqual([]);
    expect(refusals({ values: { 'studio-1': { 'reboot-mark': [mark], ...spent } } })).toEqual([]);
  });

  it('include a Mac that a stop has marked for a restart', () => {
    const left = 'a stopped rank of kimi left something behind that only a restart of the Mac clears.';
    const refused = [['launch/reboot-first', 'node studio-4', `studio-4: ${left}`]];
    expect(refusals({ values: { 'studio-4': { 'reboot-mark': [mark] } } }, false)).toEqual(refused);
  });

  it('include a Mac whose launch budget is spent, but only for ranks that use RDMA', () => {
    const changes = { values: { 'studio-3': spent } };
    const spentText = expect.stringMatching(/^studio-3: 99 of \d+ starts over RDMA since its last boot are used up/);
    expect(refusals(changes)).toEqual([['launch/reboot-first', 'node studio-3', spentText]]);
    expect(refusals(changes, false)).toEqual([]);
    const asked = { nodes, isOverRdma: true, mayPassBudget: true };
    expect(launchRefusals(asked, observedFleet(changes))).toEqual([]);
  });

  it('include a Mac whose mark and budget are unknown, but not an unreachable Mac', () => {
    const changes: RackChanges = { unknown: { 'studio-3': { 'reboot-mark': 'garbled', 'rdma-starts': 'garbled' } } };
    expect(refusals(changes)).toEqual([
      ['launch/reboot-unseen', 'node studio-3', 'studio-3: unknown whether a restart is needed first (a test).'],
      ['launch/reboot-unseen', 'node studio-3', 'studio-3: unknown whether its launch budget is spent (a test).'],
    ]);
    for (const { hint } of launchRefusals({ nodes, isOverRdma: true }, observedFleet(changes))) {
      expect(plainText(hint)).toMatch(/meshwright doctor.*--nodes/);
      expect(plainText(hint)).not.toContain('meshwright reboot');
    }
    expect(refusals({ unreachable: ['studio-3', 'studio-4'] })).toEqual([]);
  });
});
