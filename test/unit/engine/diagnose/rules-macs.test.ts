import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { subjectText } from '../../../../src/model/subject.ts';
import { meshFleet } from '../../../rack/placements.ts';
import { desiredFleet, desiredNode } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';
import { findingsOf, told } from './told.ts';

const undeclared = { nodes: desiredFleet().nodes.map(({ name }) => desiredNode(name, {})) };
const hardware = (model: string): Partial<FactValues> => ({
  hardware: { model, chip: 'Apple chip', memoryBytes: 2 ** 38 },
});

describe('a Mac model', () => {
  it("is reported with the table's date if neither file nor table has it", () => {
    const changes = { values: { 'studio-3': hardware('Mac99,1') } };
    const [finding] = findingsOf(changes, undeclared).filter(({ code }) => code === 'topology/unknown-model');
    expect(finding?.detail).toMatch(/^Mac99,1 \(Apple chip\) is not in the table of Macs from 20\d\d-\d\d-\d\d\.$/);
    expect(finding?.severity).toBe('notice');
    expect(told({}, undeclared)).toEqual([]);
  });
});

describe('placement/unequal-macs', () => {
  const nodes = ['studio-2', 'studio-3', 'studio-4'].map(nodeName);
  const placements = meshFleet({ placement: { nodes } }).placements;
  const unequal = (model: string) =>
    findingsOf({ values: { 'studio-3': hardware(model) } }, { ...undeclared, placements }).filter(
      ({ code }) => code === 'placement/unequal-macs',
    );

  it('names the slowest Mac, based on the observed models', () => {
    const [finding, ...others] = unequal('Mac17,16');
    expect(others).toEqual([]);
    expect(subjectText(finding?.subject)).toBe('placement kimi');
    expect(finding?.detail).toBe(
      'studio-3 sets the pace (Mac mini (M5 Pro), 307 GB/s of memory bandwidth). studio-2 could be faster (Mac Studio (M3 Ultra), 819 GB/s).',
    );
  });

  it('is not reported for equal Macs or a Mac outside the table', () => {
    expect(unequal('Mac15,14')).toEqual([]);
    expect(unequal('Mac99,1')).toEqual([]);
  });
});

onOnePage('rules-macs');
