import { describe, expect, it } from 'vitest';
import { readVerbsReport } from '../../../src/native/verbs-report.ts';

const port = {
  ...{ port: 1, state: 'active', stateCode: 4, maxMtuBytes: 4096, activeMtuBytes: 4096, linkLayerCode: 1 },
  ...{ activeWidthCode: 2, activeSpeedCode: 32, gidTableLength: 8, mappedGidIndex: 1 },
  gids: [{ index: 1, gid: '::ffff:192.0.2.1', ipv4: '192.0.2.1' }],
};
const { mappedGidIndex: _, ...unmapped } = { ...port, gids: [{ index: 0, gid: 'fe80::1' }] };
const details = {
  ...{ nodeGuid: '02', maxQueuePairs: 3, maxCompletionQueues: 3, maxProtectionDomains: 3, maxMemoryRegions: 9 },
  ports: [port, { ...unmapped, port: 2, state: 'down' }, { ...unmapped, port: 3, state: 'other' }],
};
const named = { device: 'rdma_en2', guid: '01', transportCode: 0 };
const failed = { unknown: 'failed', detail: 'ibv_open_device failed with error 16' };
const report = {
  library: 'librdma.dylib',
  value: [
    { ...named, ...details },
    { guid: '03', ...failed },
  ],
};

type Json = string | number | readonly Json[] | { readonly [key: string]: Json };

/** Every copy of a value in which one text, number or list is replaced. */
const replaced = (value: Json, by: Json): readonly Json[] => {
  const inside = Object.entries(typeof value === 'object' ? value : {}).flatMap(([key, one]) =>
    replaced(one, by).map((other) =>
      Array.isArray(value)
        ? value.map((old: Json, at) => (String(at) === key ? other : old))
        : { ...(value as object), [key]: other },
    ),
  );
  return typeof value === 'object' && !Array.isArray(value) ? inside : [by, ...inside];
};

describe('the JSON of the native probe', () => {
  it('is read with its devices, including those that could not be opened', () => {
    const { device: name, ...others } = named;
    const unknown = { kind: 'unknown', reason: 'failed', detail: failed.detail };
    expect(readVerbsReport(JSON.stringify(report))).toEqual({
      kind: 'known',
      value: {
        library: 'librdma.dylib',
        devices: [
          { name, ...others, details: { kind: 'known', value: details } },
          { guid: '03', details: unknown },
        ],
      },
    });
  });

  it.each(['no-library', 'no-symbol'])('gives the reason if the library or a symbol is missing: %s', (unknown) => {
    const text = JSON.stringify({ unknown, detail: 'no librdma.dylib' });
    expect(readVerbsReport(text)).toEqual({ kind: 'unknown', reason: 'tool-missing', detail: 'no librdma.dylib' });
  });

  it('is garbled as a whole if one value is of a different type', () => {
    const wrong = replaced(report, { odd: 1 });
    expect(wrong.length).toBeGreaterThan(25);
    const read = wrong.map((one) => ({ one, seen: readVerbsReport(JSON.stringify(one)) }));
    const believed = read.filter(({ seen }) => seen.kind === 'known' || seen.reason !== 'garbled');
    expect(believed).toEqual([]);
  });

  it.each(['', 'null', '[]', '{"value":[]}', '{"unknown":"odd","detail":"x"}', '{"unknown":"failed"}'])(
    'is garbled: %s',
    (text) => {
      expect(readVerbsReport(text)).toMatchObject({ kind: 'unknown', reason: 'garbled' });
    },
  );
});
