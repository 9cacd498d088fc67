import { describe, expect, it } from 'vitest';
import { nodeName } from '../../../src/model/node.ts';
import { plainPaint } from '../../../src/report/page.ts';
import { runtimeOrderText, runtimeUpgradeLines } from '../../../src/report/upgrade-runtime-text.ts';

const page = { columns: 120, unicode: true, paint: plainPaint, isSimulated: false };
const unit = (node: string, placements: readonly string[], isPending = true, overTcp: readonly string[] = []) => ({
  nodes: [nodeName(node)],
  placements,
  isPending,
  overTcp,
});
const upgrade = { name: 'mlx', from: '0.31', to: '0.32' };
const [a, b] = [unit('studio-1', ['chat', 'code']), unit('studio-2', ['qwen'])];

describe('the preview of upgrade runtime', () => {
  it('says what happens to each unit', () => {
    const units = [a, { ...b, isPending: false }, unit('studio-3', []), unit('studio-4', [], false)];
    expect(runtimeUpgradeLines({ ...upgrade, units }, page)).toEqual([
      'mlx 0.31 -> 0.32, unit by unit:',
      '1. studio-1: restarts chat and code.',
      '2. studio-2: already has 0.32; qwen is checked again.',
      '3. studio-3: nothing serves here.',
      '4. studio-4: already has 0.32; nothing serves here.',
    ]);
  });

  it('says which placements start over TCP first', () => {
    const both = unit('studio-1', ['chat', 'code'], true, ['chat', 'code']);
    const units = [both, unit('studio-2', ['qwen', 'kimi'], true, ['kimi'])];
    expect(runtimeUpgradeLines({ ...upgrade, units }, page).slice(1)).toEqual([
      '1. studio-1: restarts chat and code twice, first over TCP.',
      '2. studio-2: restarts qwen and kimi, kimi twice, first over TCP.',
    ]);
    expect(runtimeOrderText({ ...upgrade, units: [both] })).toMatch(
      /chat and code first start over TCP, where a hang needs no reboot; after a token, a second restart brings them back to RDMA\.$/,
    );
  });

  it('names a unit that is left out, which is not the canary', () => {
    const units = [{ ...a, leftOut: 'studio-1 was not reached' }, b];
    expect(runtimeUpgradeLines({ ...upgrade, units }, page)).toContain(
      '1. studio-1: left out: studio-1 was not reached.',
    );
    expect(runtimeOrderText({ ...upgrade, units })).toMatch(/Only one unit takes part, so there is no canary\.$/);
  });

  it('names the canary, or says that everything stops', () => {
    expect(runtimeOrderText({ ...upgrade, units: [a, b] })).toContain('The first unit is the canary.');
    const alone = runtimeOrderText({ ...upgrade, from: undefined, units: [a, unit('studio-3', [])] });
    expect(alone).toContain('so there is no canary: everything stops at once.');
    expect(alone).toContain('otherwise the upgrade ends there, because no older version is known.');
    expect(alone).not.toContain('TCP');
    expect(runtimeOrderText({ ...upgrade, units: [unit('studio-3', [])] })).toBe(
      'All Macs first install the new version while they serve.',
    );
  });
});
