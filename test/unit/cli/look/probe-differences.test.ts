import { describe, expect, it } from 'vitest';
import { probeDifferences } from '../../../../src/cli/look/probe-differences.ts';
import type { RdmaPort } from '../../../../src/model/facts/rdma.ts';
import { readVerbsReport } from '../../../../src/native/verbs-report.ts';

const gids = [
  { index: 0, gid: 'fe80::1' },
  { index: 1, gid: '::ffff:10.77.0.1', ipv4: '10.77.0.1' },
];
const port: RdmaPort = { device: 'rdma_en3', state: 'active', gids, maxQueuePairs: 11, maxProtectionDomains: 11 };
const codes = { stateCode: 4, maxMtuBytes: 4096, activeMtuBytes: 4096, linkLayerCode: 100, activeWidthCode: 4 };
const verbsPort = { port: 1, state: 'active', ...codes, activeSpeedCode: 4, gidTableLength: 1024, gids };
const limits = { maxQueuePairs: 11, maxCompletionQueues: 11, maxProtectionDomains: 11, maxMemoryRegions: 100 };
const device = { device: 'rdma_en3', guid: '1', nodeGuid: '1', ...limits, ports: [verbsPort] };

/** The differences of a report with these devices from `ibv_devinfo` with these ports. */
function differences(devices: readonly object[], ports: readonly RdmaPort[] = [port]): readonly string[] {
  const report = readVerbsReport(JSON.stringify({ library: 'librdma.dylib', value: devices }));
  if (report.kind === 'unknown') throw new Error(report.detail);
  return probeDifferences(report.value, ports);
}

describe('probeDifferences', () => {
  it('is empty if the library and ibv_devinfo agree, and ignores devices of other drivers', () => {
    expect(differences([device, { ...device, device: 'mlx5_0' }])).toEqual([]);
  });

  it('is empty for a device that the library could not describe, and for limits that were not printed', () => {
    const unknown = { device: 'rdma_en3', guid: '1', unknown: 'failed', detail: 'ibv_open_device failed' };
    expect(differences([unknown])).toEqual([]);
    expect(differences([{ ...device, maxQueuePairs: 3 }], [{ device: 'rdma_en3', state: 'active', gids }])).toEqual([]);
  });

  it.each([
    [{ maxQueuePairs: 3 }, 'max_qp of rdma_en3 is 11 in ibv_devinfo, and 3 in the library'],
    [{ maxProtectionDomains: 0 }, 'max_pd of rdma_en3 is 11 in ibv_devinfo, and none in the library'],
    [
      { ports: [{ ...verbsPort, state: 'down' }] },
      'state of rdma_en3 is active in ibv_devinfo, and down in the library',
    ],
    [{ ports: [] }, 'state of rdma_en3 is active in ibv_devinfo, and none in the library'],
    [
      { ports: [{ ...verbsPort, gids: [{ ...gids[1], index: 2 }] }] },
      'IPv4-mapped GID of rdma_en3 is 1 10.77.0.1 in ibv_devinfo, and 2 10.77.0.1 in the library',
    ],
  ])('names the difference for %j', (change, text) => {
    expect(differences([{ ...device, ...change }])).toContain(text);
  });

  it('names a device that only one of them lists', () => {
    expect(differences([])).toEqual(['only ibv_devinfo lists rdma_en3']);
    expect(differences([device], [])).toEqual(['only the library lists rdma_en3']);
  });
});
