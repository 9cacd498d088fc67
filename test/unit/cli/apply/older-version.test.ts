import { describe, expect, it } from 'vitest';
import { olderVersion } from '../../../../src/cli/apply/rollback.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { DesiredRuntime } from '../../../../src/model/desired.ts';
import { digestOf, shortDigest } from '../../../../src/model/digest.ts';
import type { ObservedTree } from '../../../../src/model/facts/fact-values.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { FleetObservation } from '../../../../src/rack/examination.ts';
import { meshFleet } from '../../../rack/placements.ts';
import { observedFleet } from '../../../rack/rack.ts';
import { onOnePage, sayValue } from '../../one-page.ts';

const [now, before, long] = ['now', 'before', 'long ago'].map((text) => digestOf(text));
if (now === undefined || before === undefined || long === undefined)
  throw new Error('the list does not have three versions');
const [base] = meshFleet().runtimes;
if (base === undefined) throw new Error('the fleet has no runtime');
const runtime: DesiredRuntime = { ...base, digest: now };
const nodes = ['studio-1', 'studio-2'].map(nodeName);

const tree = (whole: typeof now, more: Partial<ObservedTree> = {}): ObservedTree => ({
  kind: 'runtime',
  name: runtime.name,
  digest: shortDigest(whole),
  whole,
  isCurrent: whole === now,
  state: 'intact',
  ...more,
});

/** The version found, or the reported problem. */
const found = (one: readonly ObservedTree[], two: readonly ObservedTree[], to?: string, wanted = runtime): string =>
  foundOn(observedFleet({ values: { 'studio-1': { trees: one }, 'studio-2': { trees: two } } }), to, wanted);

function foundOn(observation: FleetObservation, to?: string, wanted = runtime): string {
  try {
    return olderVersion({ runtime: wanted, nodes, to }, observation);
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    const [{ code, detail, hint }] = error.diagnostics;
    return sayValue(`${code}: ${plainText(detail)} ${plainText(hint)}`);
  }
}

describe('the version to roll back to', () => {
  it('is the intact version, other than the current one, that every node has', () => {
    const both = [tree(now), tree(before)];
    expect(found(both, both)).toBe(before);
    expect(found([...both, tree(long)], both)).toBe(before);
  });

  it('is unavailable if a node has no older version with unchanged files', () => {
    const both = [tree(now), tree(before)];
    const { whole: _, ...changed } = tree(before, { state: 'changed' });
    expect(found(both, [tree(now)])).toContain('rollback/no-version: On studio-1: ');
    expect(found(both, [tree(now), changed])).toContain(`${shortDigest(before)} (changed)`);
    expect(found(both, [])).toContain('On studio-2: no known version.');
  });

  it('is unknown, not missing, if a node was not observed', () => {
    const values = { 'studio-1': { trees: [tree(now), tree(before)] } };
    const off = foundOn(observedFleet({ values, unreachable: ['studio-2'] }));
    const never = foundOn(observedFleet({ values, names: ['studio-1'] }));
    for (const text of [off, never]) {
      expect(text).toContain('On studio-2: unknown (');
      expect(text).toContain('The versions on studio-2 are unknown. Find out why, then run the same command again: ');
      expect(text).not.toContain('Restore the older archive');
    }
  });

  it('stays the same if a rollback was interrupted, and is never the version being replaced', () => {
    const back: DesiredRuntime = { ...runtime, digest: before, rolledBackFrom: now };
    const begun = [tree(now), tree(before)];
    const done = [tree(now, { isCurrent: false }), tree(before, { isCurrent: true })];
    expect(found(done, begun, undefined, back)).toBe(before);
    expect(found(done, done, undefined, back)).toBe(before);
    expect(found(done, done, before.slice(0, 8), back)).toBe(before);
    expect(found(done, done, now.slice(0, 8), back)).toContain('rollback/no-version');
    const further = [...done, tree(long)];
    expect(found(further, [...begun, tree(long)], undefined, back)).toBe(before);
    expect(found(further, further, undefined, back)).toBe(long);
  });

  it('must be named if there are several candidates', () => {
    const all = [tree(now), tree(before), tree(long)];
    expect(found(all, all)).toContain('Choose a version, for example: --to ');
    expect(found(all, all, long.slice(0, 8))).toBe(long);
    expect(found(all, all, 'ffffffff')).toContain('that begins with ffffffff');
  });
});

onOnePage('older-version');
