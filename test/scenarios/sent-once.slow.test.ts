import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leastExchangeBytes } from '../../src/model/model-bytes.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { type ConvergeRack, leftIn, patience, startConvergeRack } from './converge-rack.ts';

let rack: ConvergeRack;
beforeAll(async () => {
  const file = pairFile((value) => {
    for (const one of Object.values(filePart(value, 'placements')))
      (one as Record<string, unknown>)['state'] = 'stopped';
  });
  rack = await startConvergeRack('sent-once', file);
  // The cables get their addresses.
  await rack.converge();
  mkdirSync(join(rack.folder, 'shelf'));
  writeFileSync(join(rack.folder, 'shelf/config.json'), '{}');
  writeFileSync(join(rack.folder, 'shelf/weights.bin'), Buffer.alloc(leastExchangeBytes, 'weights'));
  filePart(file, 'models')['shelf'] = { source: './shelf' };
  for (const one of Object.values(filePart(file, 'placements'))) (one as Record<string, unknown>)['model'] = 'shelf';
  expect(await rack.declare(file)).toEqual([]);
}, patience);
afterAll(() => rack?.stop());

describe('a large model in a folder on this computer', { timeout: patience }, () => {
  it('is sent to one Mac, from which the other one gets it over the cable, also after an interruption', async () => {
    const interrupt = new AbortController();
    const { report: cut } = await rack.apply({
      signal: interrupt.signal,
      onEvent: (event) => {
        if (event.kind === 'step-progress' && event.step.endsWith('/send/weights.bin')) interrupt.abort();
      },
    });
    expect(cut?.isInterrupted).toBe(true);
    const { plan, report } = await rack.converge();
    const names = plan.steps.flatMap(({ node, act }) =>
      act.kind === 'send' ? `${node} ${act.source.slice(-11)}` : [],
    );
    expect(names).toEqual([`${first} config.json`, `${first} weights.bin`]);
    const fetch = plan.steps.find(
      ({ act, node }) => node === second && act.kind === 'job' && act.name === 'fetch-model',
    );
    expect(fetch?.act).toMatchObject({ args: { source: { kind: 'peers' }, peers: { role: 'receive' } } });
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    expect(leftIn(await rack.plan())).toEqual([]);
  });
});
