import { describe, expect, it } from 'vitest';
import { isHashedPlan, planDocument, readApplyWords, requireSame } from '../../../../src/cli/plan/plan-document.ts';
import type { Run } from '../../../../src/cli/verb.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { bootSessionFact } from '../../../../src/rack/boot/fact.ts';
import { read } from '../../../../src/rack/fact.ts';
import { planFor } from '../../../rack/plans.ts';
import { desiredFleet, observedFleet } from '../../../rack/rack.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { onOnePage, sayValue } from '../../one-page.ts';
import { problemsOf } from '../../problems-of.ts';

const { path: folder, write } = temporaryFolder();

const about = { isSimulated: false, additions: [] };
const power = { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true };
const document = planDocument(planFor({ rack: { values: { 'studio-2': { power } } } }), about);

const problemOf = (act: () => unknown) => problemsOf(act).map(sayValue)[0];

/** Reads this text as `apply plan.json` does. */
function readSaved(text: string) {
  write('plan.json', text);
  const run = { folder, words: ['plan.json'], options: { json: true }, env: {} } as unknown as Run;
  return readApplyWords(run, desiredFleet()).saved;
}

/** The problem that `apply plan.json` reports for this text. */
const problemWith = (text: string) => problemOf(() => readSaved(text));

describe('a saved plan', () => {
  it('is refused with a note on its format if a different version of meshwright saved it', () => {
    expect(problemWith(document)).toBeUndefined();
    const other = document.replace('"formatVersion": 1', '"formatVersion": 2');
    expect(problemWith(other)?.detail).toContain('has plan format 2, but');
    expect(problemWith('{ "steps": 1 }')?.detail).toBe('plan.json is not a saved plan.');
  });

  it('lists the selected nodes, or no nodes if the plan covers the whole file', () => {
    expect(readSaved(document)?.targets).toBeUndefined();
    const targets = ['studio-1'];
    expect(readSaved(planDocument(planFor({}), { ...about, targets }))?.targets).toEqual(targets);
  });

  it.each(['', '[]', 'null', '{}', '{"formatVersion":2,"steps":[]}', 'plan'])(
    'is refused if its text is %j',
    (text) => {
      expect(problemsOf(() => readSaved(text)).map(({ code }) => code)).toEqual(['plan/unreadable']);
    },
  );

  it('records that apply hashes models first, without changing the plan itself', () => {
    const hashes = [{ node: nodeName('studio-1'), model: 'tiny', files: 2, bytes: 120 }];
    const saved = {
      shown: 'plan.json',
      document: JSON.parse(
        planDocument(planFor({ rack: { values: { 'studio-2': { power } } } }), { ...about, hashes }),
      ),
    };
    expect([isHashedPlan(saved), isHashedPlan({ document: JSON.parse(document) })]).toEqual([true, false]);
    expect(problemOf(() => requireSame(saved, document))).toBeUndefined();
  });

  it('is refused, and the difference is shown, if it was made for a different cluster', () => {
    const saved = { shown: 'plan.json', document: JSON.parse(document) };
    expect(problemOf(() => requireSame(saved, document))).toBeUndefined();
    const other = document.replace('"cluster": "studio-rack"', '"cluster": "other"');
    expect(problemOf(() => requireSame(saved, other))?.code).toBe('plan/stale');
  });

  it('is refused if a Mac has restarted since', () => {
    const values = { 'studio-2': { power } };
    const session = read(observedFleet({ values }).nodes['studio-3']?.facts, bootSessionFact);
    if (session?.kind !== 'known') throw new Error('the boot session is unknown');
    const restarted = { ...session.value, uuid: 'F2B1C3D4-0000-4000-8000-00000000000F' };
    const now = planFor({ rack: { values: { ...values, 'studio-3': { 'boot-session': restarted } } } });
    const saved = { shown: 'plan.json', document: JSON.parse(document) };
    expect(problemOf(() => requireSame(saved, planDocument(now, about)))?.code).toBe('plan/stale');
  });
});

onOnePage('saved-plan');
