import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { diagnoseFleet } from '../../src/engine/diagnose/diagnose-fleet.ts';
import type { FactName } from '../../src/engine/observe/facts.ts';
import type { NodeObservation } from '../../src/model/facts/fact-values.ts';
import type { UnknownReason } from '../../src/model/known.ts';
import { subjectText } from '../../src/model/subject.ts';
import { desiredFleet, healthyFacts, meshOfFour, observedFleet } from '../rack/rack.ts';
import { runs } from '../runs.ts';

const nodeNames = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
/** Facts whose absence causes no finding on this rack with macOS 26. */
const optional = ['software-updates', 'receptacle-places', 'dhcp-leases', 'rdma-switch', 'model-copies'];
const factNames = Object.keys(healthyFacts('studio-1', [])).filter((name): name is FactName => name !== '');
const reason = fc.constantFrom<UnknownReason>(
  'tool-missing',
  'no-privilege',
  'timed-out',
  'failed',
  'empty',
  'garbled',
);
const unknowns = fc.dictionary(fc.constantFrom(...nodeNames), fc.dictionary(fc.constantFrom(...factNames), reason));

/** Random faults of cables, settings and RDMA. */
const troubles = fc.record({
  cables: fc.subarray([...meshOfFour, 'studio-1:5 <-> studio-2:6'], { minLength: 0 }),
  values: fc.dictionary(
    fc.constantFrom(...nodeNames),
    fc.constantFrom(
      { sudo: 'denied' as const },
      { 'rdma-state': 'disabled' as const, 'rdma-devices': [] },
      { 'macos-version': { version: '26.1', build: '25B78' } },
      { power: { sleepMinutes: 1, diskSleepMinutes: 0, restartAfterPowerLoss: false } },
    ),
  ),
});

describe('the diagnosis of a rack', () => {
  it('reports nothing but the unknown facts of an otherwise healthy rack', () => {
    fc.assert(
      fc.property(unknowns, (unknown) => {
        const codes = diagnoseFleet(desiredFleet(), observedFleet({ unknown })).map((one) => one.code);
        expect(codes.filter((code) => code !== 'fact/unknown')).toEqual([]);
        const isReported = (facts: object): boolean => Object.keys(facts).some((name) => !optional.includes(name));
        expect(codes).toHaveLength(Object.values(unknown).filter(isReported).length);
      }),
      { numRuns: runs(100) },
    );
  });

  it('does not depend on the order of nodes', () => {
    fc.assert(
      fc.property(troubles, unknowns, (changes, unknown) => {
        const { nodes } = observedFleet({ ...changes, unknown });
        const turned: Readonly<Record<string, NodeObservation>> = Object.fromEntries(
          Object.entries(nodes).toReversed(),
        );
        const found = diagnoseFleet(desiredFleet(), { nodes, failures: {} });
        expect(diagnoseFleet(desiredFleet(), { nodes: turned, failures: {} })).toEqual(found);
      }),
      { numRuns: runs(100) },
    );
  });

  it('gives every finding a subject and a hint, without duplicates', () => {
    fc.assert(
      fc.property(troubles, unknowns, (changes, unknown) => {
        const found = diagnoseFleet(desiredFleet(), observedFleet({ ...changes, unknown }));
        expect(
          found.filter((one) => plainText(one.hint) === '' || one.subject === undefined || one.where !== undefined),
        ).toEqual([]);
        const keys = found.map((one) => `${one.code} ${subjectText(one.subject)} ${plainText(one.detail)}`);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: runs(100) },
    );
  });
});
