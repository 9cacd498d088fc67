import { describe, expect, it } from 'vitest';
import { isBeyondMemory, memoryLabelBytes, sizeBytes, wantedWiredMegabytes } from '../../../src/desired/amounts.ts';
import { macModel, macModelIds } from '../../../src/model/macs.ts';

describe('a size', () => {
  it("is decimal GB or binary GiB, and Apple's label means GiB", () => {
    expect(sizeBytes('480GB')).toBe(480_000_000_000);
    expect(sizeBytes('480GiB')).toBe(515_396_075_520);
    expect(memoryLabelBytes('512GB')).toBe(2 ** 39);
    expect(memoryLabelBytes('512GiB')).toBe(2 ** 39);
  });

  it.each(['512', '512 GB', '0GB', '-1GB', '1.5GB', '512gb', '512TB', '1e3GB', ''])('cannot be %j', (text) => {
    expect(sizeBytes(text)).toBeUndefined();
    expect(memoryLabelBytes(text)).toBeUndefined();
  });
});

describe('a wired limit', () => {
  it('leaves at least 8 GiB to macOS', () => {
    const isBeyond = (bytes: number) => isBeyondMemory({ kind: 'bytes', bytes }, 2 ** 36);
    expect([0, 1].map((more) => isBeyond(2 ** 36 - 2 ** 33 + more))).toEqual([false, true]);
  });

  it('leaves the larger of 8 GiB and a sixteenth to macOS if it is automatic', () => {
    const gibibytes = [96, 128, 512];
    const left = gibibytes.map((one) => one - (wantedWiredMegabytes({ kind: 'auto' }, one * 2 ** 30) ?? 0) / 1_024);
    expect(left).toEqual([8, 8, 32]);
  });
});

describe('a Mac model', () => {
  it('is found only by its exact identifier', () => {
    expect(macModel('Mac15,14')).toMatchObject({ receptacles: 6, thunderbolt: 5, avoid: [1] });
    expect(macModel('Mac16,9')).toMatchObject({ receptacles: 4, avoid: [1] });
    expect(macModel('Mac17,15')).toMatchObject({ receptacles: 6, thunderbolt: 5, firstMacos: '27.0' });
    for (const id of ['Mac16,10', 'Mac18,5', 'Mac14,14', 'Mac13,1']) expect(macModel(id)?.thunderbolt).toBe(4);
    expect(macModel('Mac15,15')).toBeUndefined();
    expect(macModel('constructor')).toBeUndefined();
    expect(macModelIds).toHaveLength(31);
  });
});
