import { describe, expect, it } from 'vitest';
import type { FactName } from '../../../../src/engine/observe/facts.ts';
import { digest } from '../../../../src/model/digest.ts';
import type { RecordedRank } from '../../../../src/model/facts/fact-values.ts';
import { factsText } from '../../../../src/report/facts-text.ts';
import { plainPage } from '../../../rack/page.ts';
import { endpointCounts, endpointStatus } from '../../../rack/placements.ts';
import {
  cabledReceptacle,
  end,
  freeReceptacle,
  healthyFacts,
  observedFleet,
  type RackChanges,
} from '../../../rack/rack.ts';

const every = Object.keys(healthyFacts('studio-1', [])).filter((name): name is FactName => name !== '');

const recorded = (more: Partial<RecordedRank>): RecordedRank => ({
  placement: 'kimi',
  digest: digest('ab'.repeat(32)),
  generation: 12,
  rank: 0,
  size: 4,
  port: 29_512,
  meetPort: 0,
  endpointPort: 8_080,
  tokenPath: '/v1/chat/completions',
  tokenPointer: '/choices/0/message/content',
  tokenDeadlineMs: 4_000,
  logPattern: '',
  startedIn: 'F2B1C3D4-0000-4000-8000-000000000001',
  starts: 2,
  isListening: true,
  isMeeting: false,
  said: [],
  token: { kind: 'not-asked' },
  ...more,
});

const gateway = endpointStatus({
  running: 2,
  waiting: 1,
  counts: endpointCounts({ requests: 412, failed: 3, tokens: 96_100 }),
});

const changes: RackChanges = {
  values: {
    'studio-1': {
      'receptacle-places': [
        { receptacle: 1, location: 'back-right' },
        { receptacle: 5, location: 'front-right' },
      ],
      'dhcp-leases': [
        { device: 'en3', lease: { address: '192.168.2.3', server: '192.168.2.1', seconds: 3_600 } },
        { device: 'en4', lease: { address: '192.168.3.4', server: '192.168.3.1', seconds: 4_294_967_295 } },
        { device: 'en5' },
      ],
      thunderbolt: [
        {
          ...freeReceptacle('studio-1', 2),
          domainUuid: '5F771049-70BD-4C30-A4AB-4E50482D82E0',
          state: 'connected',
          linkBitsPerSecond: 80e9,
          devices: [{ name: 'Envoy Ultra', vendor: 'OWC', mode: 'usb_four_v2' }],
        },
        {
          ...cabledReceptacle('studio-1', 1, end('studio-2:2')),
          domainUuid: '1CF1083E-9B3C-4D21-8467-769814784F4D',
          peers: [
            {
              domainUuid: '54AA5FD1-F8F9-438A-8825-7268E164186C',
              model: 'Mac15,14',
              name: 'Mac Studio',
              advertisesRdma: true,
              hubsBetween: 0,
            },
          ],
        },
        { ...freeReceptacle('studio-1', 3), domainUuid: 'C9B32174-396A-4D89-9601-E8E83285C21A' },
      ],
      'bridge-preferences': [{ name: 'bridge0', interfaces: ['en2', 'en3'], auto: 'thunderbolt-bridge' }],
      'service-addresses': [
        {
          service: 'Thunderbolt 1',
          device: 'en2',
          method: 'manual',
          address: { address: '10.77.0.1', prefixLength: 30 },
        },
        { service: 'Ethernet', device: 'en0', method: 'dhcp' },
        { service: 'Thunderbolt 2', device: 'en3', method: 'other' },
      ],
      files: [
        { path: '/Library/LaunchDaemons/dev.meshwright.rank.kimi.plist', digest: 'ab'.repeat(32), state: 'changed' },
      ],
      trees: [
        { kind: 'runtime', name: 'reference', digest: '0123456789abcdef', isCurrent: true, state: 'intact' },
        { kind: 'model', name: 'kimi-k2', digest: 'fedcba9876543210', isCurrent: false, state: 'unsealed' },
      ],
      placements: [
        recorded({ rank: 0, token: { kind: 'answered', text: 'Hi "there"' } }),
        recorded({ rank: 1, token: { kind: 'not-asked' }, isListening: false, starts: 1 }),
        recorded({ rank: 0, placement: 'qwen', token: { kind: 'silent', reason: 'nothing listens on port 8080' } }),
      ],
      services: [{ label: 'dev.meshwright.keeper', state: 'running', pid: 211, runs: 1, lastExit: '(never exited)' }],
      gateways: [
        { kind: 'answered', port: 8_080, strangers: 0, endpoints: [gateway] },
        { kind: 'silent', port: 8_081, reason: 'it did not answer in time' },
      ],
      jobs: [{ key: 'abc', fields: { state: 'running', model: 'kimi-k2' } }],
      leases: [{ fields: { owner: 'ana', verb: 'apply' } }],
      transactions: [{ state: 'pending', fields: { run: 'r-1', step: 'studio-1/address' } }],
      baseline: {
        values: [{ key: 'power', text: 'sleep 1' }, { key: 'bridge' }],
        daemons: [{ label: 'io.exo.networksetup', wasLoaded: true, isMoved: true }],
      },
      traces: { hasFolder: true, trees: 'models', hasSudoers: true, hasKey: true },
      'macos-version': { version: '26.3.1', extra: '(a)', build: '25D771280a' },
      'software-updates': [
        { label: 'macOS Tahoe 26.7-25G229', title: 'macOS Tahoe 26.7', version: '26.7', build: '25G229' },
        { label: 'macOS 27', title: 'macOS 27', version: '27.0' },
      ],
      'rdma-objects': { domains: 0, queuePairs: 0 },
      clock: { offsetMs: -4_200, uncertaintyMs: 35 },
    },
  },
  unknown: { 'studio-1': { filevault: 'timed-out', 'rdma-state': 'tool-missing' } },
};

const show = (columns: number, names: readonly FactName[] = every, unicode = false): string =>
  factsText(
    { observation: observedFleet(changes), order: ['studio-1'], names },
    plainPage({ columns, unicode, isSimulated: true }),
  );

describe('the text output of facts', () => {
  it('has one line for each fact that fits, in common units', async () => {
    await expect(show(80)).toMatchFileSnapshot('golden/facts.txt');
  });

  it('shows values below their names on a narrow page', async () => {
    await expect(show(40)).toMatchFileSnapshot('golden/facts-narrow.txt');
  });

  it('contains only the requested facts', () => {
    expect(show(80, ['sudo', 'hardware']).split('\n').slice(1, 3)).toEqual([
      '  sudo      allowed',
      '  hardware  Mac15,14, Apple M3 Ultra, 512 GB',
    ]);
  });

  it('uses a plus-minus sign if Unicode is supported', () => {
    expect(show(80, ['clock'], true)).toContain('4.2 s behind this computer (±35 ms)');
  });

  it('is empty for a node that was not observed', () => {
    const nothing = { nodes: {}, failures: {} };
    const text = factsText({ observation: nothing, order: ['studio-1'], names: every }, plainPage());
    expect(text).toBe('');
  });
});
