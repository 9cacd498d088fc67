import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { leastExchangeBytes } from '../../src/model/model-bytes.ts';
import type { Step } from '../../src/model/step.ts';
import { shared } from '../rack/kept-running.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { leftIn, patience, startConvergeRack } from './converge-rack.ts';

const file = pairFile((value) => {
  for (const one of Object.values(filePart(value, 'placements'))) (one as Record<string, unknown>)['state'] = 'stopped';
});
const rack = shared(() => startConvergeRack('sent-once', file));
beforeAll(async () => {
  // The cables get their addresses.
  await rack.converge();
  mkdirSync(join(rack.folder, 'shelf'));
  writeFileSync(join(rack.folder, 'shelf/config.json'), '{}');
  writeFileSync(join(rack.folder, 'shelf/weights.bin'), Buffer.alloc(leastExchangeBytes, 'weights'));
  filePart(file, 'models')['shelf'] = { source: './shelf' };
  for (const one of Object.values(filePart(file, 'placements'))) (one as Record<string, unknown>)['model'] = 'shelf';
  expect(await rack.declare(file)).toEqual([]);
}, patience);

const sendsOf = ({ steps }: Plan): readonly string[] =>
  steps.flatMap(({ node, act }) => (act.kind === 'send' ? `${node} ${act.source.slice(-11)}` : []));
const fetchOf = ({ steps }: Plan): Step | undefined =>
  steps.find(({ act, node }) => node === second && act.kind === 'job' && act.name === 'fetch-model');

describe('a large model in a folder on this computer', { timeout: patience }, () => {
  it('is sent to one Mac, and from that Mac to the other over the cable, even after an interruption', async () => {
    const interrupt = new AbortController();
    const { report: cut } = await rack.apply({
      signal: interrupt.signal,
      onEvent: (event) => {
        if (event.kind === 'step-progress' && event.step.endsWith('/send/weights.bin')) interrupt.abort();
      },
    });
    expect(cut?.isInterrupted).toBe(true);
    const { plan, report } = await rack.converge();
    expect(sendsOf(plan)).toEqual([`${first} config.json`, `${first} weights.bin`]);
    expect(fetchOf(plan)?.act).toMatchObject({ args: { source: { kind: 'peers' }, peers: { role: 'receive' } } });
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    expect(leftIn(await rack.plan())).toEqual([]);
  });

  it('reaches the other Mac over Ethernet if no cable leads to it', async () => {
    await rack.fleet().setFault(['cable-missing', 'studio-1:4']);
    filePart(file, 'models')['more'] = { source: './shelf' };
    for (const one of Object.values(filePart(file, 'placements'))) (one as Record<string, unknown>)['model'] = 'more';
    writeFileSync(join(rack.folder, 'shelf/config.json'), '{"more": 1}');
    expect(await rack.declare(file)).toEqual([]);
    const { plan, report } = await rack.apply();
    expect(sendsOf(plan)).toEqual([`${first} config.json`, `${first} weights.bin`]);
    const sources = [{ node: first, isOrigin: true, isOverSsh: true }];
    expect(fetchOf(plan)?.act).toMatchObject({ args: { source: { kind: 'peers' }, peers: { sources } } });
    const steps = report?.steps.filter(({ step }) => step.id.includes('/model/more/')) ?? [];
    expect([steps.length, new Set(steps.map(({ outcome }) => outcome))]).toEqual([
      11,
      new Set(['changed', 'unchanged']),
    ]);
    await rack.fleet().clearFault(['cable-missing']);
  });
});
