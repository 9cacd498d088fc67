import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import {
  cableTests as cableTestsItself,
  kernelCounts,
  leftObjects as leftObjectsItself,
  measureRefusals as measureRefusalsItself,
  nodesToMeasure,
} from '../../../../src/engine/cables/measure-plan.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { examine } from '../../../../src/rack/examination.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { diagnosticsAsText } from '../../as-text.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const [cableTests, leftObjects] = [onPage(cableTestsItself), onPage(leftObjectsItself)];
const measureRefusals = onPage(measureRefusalsItself);
const fleet = meshFleet();
const stopped = threeRanks(['stopped', 'stopped', 'stopped']);
const one = nodeName('studio-1');
const free: Partial<FactValues> = { 'rdma-objects': { domains: 0, queuePairs: 0 } };

/** Why nothing may be measured on studio-1, as `CODE: DETAIL`. */
function refusals(values: Partial<FactValues>, ranks = stopped): readonly string[] {
  const observation = observeMesh(fleet, { ranks, values: { 'studio-1': { ...free, ...values } } });
  return measureRefusals(examine(fleet, observation), observation, [one]).map(
    ({ code, detail }) => `${code}: ${plainText(detail)}`,
  );
}

describe('measureRefusals', () => {
  it('is empty on a Mac without placements whose devices are free', () => {
    expect(refusals({})).toEqual([]);
  });

  it('refuses while a placement runs', () => {
    expect(refusals({}, threeRanks(['joined', 'running', 'running']))).toEqual([
      'cables/in-use: kimi runs on studio-1. Nothing was measured.',
    ]);
  });

  it('suggests one stop command for all running placements, and does not mention their slots', () => {
    const ranks = {
      'studio-1': [
        { state: 'joined', rank: 0 },
        { placement: 'qwen', state: 'joined', rank: 0 },
      ],
    } as const;
    const unknown = { 'studio-1': { 'rdma-objects': 'timed-out' } } as const;
    const observation = observeMesh(fleet, { ranks, unknown });
    const found = diagnosticsAsText(measureRefusals(examine(fleet, observation), observation, [one]));
    expect(found.map(({ detail, hint }) => [detail, hint])).toEqual([
      [
        'kimi runs on studio-1; qwen runs on studio-1. Nothing was measured.',
        'Stop them first: meshwright stop kimi qwen',
      ],
    ]);
  });

  it("refuses a measurement if the kernel's RDMA objects are unknown", () => {
    const unknown = { 'studio-1': { 'rdma-objects': 'timed-out' } } as const;
    const observation = observeMesh(fleet, { ranks: stopped, unknown });
    const found = measureRefusals(examine(fleet, observation), observation, [one]);
    expect(found.map(({ code }) => code)).toEqual(['cables/kernel-unseen']);
  });

  it('refuses if two starts would not fit', () => {
    const device = 'rdma_en3';
    const port = { device, state: 'active', gids: [], maxQueuePairs: 11, maxProtectionDomains: 11 } as const;
    const domain = { kind: 'domain', isActive: false, busy: 0 } as const;
    const taken = (count: number) =>
      refusals({
        'rdma-objects': { domains: count, queuePairs: 0 },
        'rdma-ports': [port],
        'rdma-holders': { devices: [{ device, objects: Array(count).fill(domain) }], processes: [] },
      });
    expect(taken(8)).toEqual([]);
    expect(taken(9)).toEqual([
      'cables/no-reserve: studio-1: 9 of 10 slots of its RDMA devices are in use, so two starts would not fit. Nothing was measured.',
    ]);
  });
});

describe('cableTests', () => {
  it('skips a cable without a device or address, with the reason', () => {
    const observation = observeMesh(fleet, { ranks: stopped, values: { 'studio-1': { 'rdma-ports': [] } } });
    const tests = cableTests(examine(fleet, observation));
    expect(nodesToMeasure(tests)).toEqual(['studio-2', 'studio-3', 'studio-4']);
  });
});

describe('leftObjects', () => {
  const counts = (domains: number) =>
    kernelCounts(
      observeMesh(fleet, { ranks: stopped, values: { 'studio-1': { 'rdma-objects': { domains, queuePairs: 0 } } } }),
      [one],
    );

  it('compares the counts before and after', () => {
    expect(leftObjects(counts(1), counts(1))).toEqual([]);
    expect(leftObjects(counts(1), counts(2)).map(({ code }) => code)).toEqual(['cables/objects-left']);
    expect(leftObjects(counts(1), new Map()).map(({ code }) => code)).toEqual(['cables/objects-unseen']);
  });
});

onOnePage('measure-plan');
