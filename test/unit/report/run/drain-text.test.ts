import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { drainLines as drainProse } from '../../../../src/report/run/drain-text.ts';
import { endpointStatus, gatewayStatus, rackOfThree } from '../../../rack/placements.ts';
import { observedFleet, settledValues } from '../../../rack/rack.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const qwen = rackOfThree.placements.find(({ name }) => name === 'qwen') ?? expect.fail('the rack has no qwen');
const closed = '/Library/Application Support/meshwright/gateway/8080/closed/qwen';

const drainLines = onPage((...about: Parameters<typeof drainProse>): readonly string[] =>
  drainProse(...about).map((line) => plainText(line)),
);

/** The drain verdict for these facts of the leader. */
function verdict(seen: Partial<FactValues>): string {
  const values = { ...settledValues(), 'studio-3': { ...settledValues()['studio-3'], ...seen } as FactValues };
  const [line, ...more] = drainLines(qwen, 90_000, { desired: rackOfThree, observation: observedFleet({ values }) });
  expect(more).toEqual([]);
  return line ?? '';
}

const files: FactValues['files'] = [{ path: closed, digest: '00', state: 'intact' }];
const services: FactValues['services'] = [{ label: 'dev.meshwright.gateway.8080', state: 'running', pid: 7 }];
/** The line for a leader that could not be observed. */
const awayLine = [
  'qwen: could not ask studio-3 whether its gateway for qwen is closed and has requests in flight. It may still',
  'accept requests, now or as soon as that Mac is back. Bring studio-3 back, then: meshwright drain qwen. If it is',
  'gone for good, remove it from the nodes of qwen in the file.',
].join(' ');
const inFlight = (running: number): FactValues['gateways'] => [
  gatewayStatus([endpointStatus({ placement: 'qwen', running })]),
];

describe('the verdict on a drain', () => {
  it('reports no requests in flight and how to reopen the gateway', () => {
    expect(verdict({ files, services, gateways: inFlight(0) })).toBe(
      'qwen is drained: its gateway is closed, with no request in flight. To reopen it: meshwright start qwen, or the next apply.',
    );
  });

  it('reports requests in flight, the wait, and that the gateway stays closed', () => {
    expect(verdict({ files, services, gateways: inFlight(2) })).toMatch(
      /^qwen is not drained: 2 requests in flight after 90 s\. Its gateway stays closed;/,
    );
  });

  it('is not a success for an open gateway, a silent gateway or an unreachable leader', () => {
    expect(verdict({ services, gateways: inFlight(0) })).toBe('qwen is not drained: its gateway on studio-3 is open.');
    const silent: FactValues['gateways'] = [{ kind: 'silent', port: 8_080, reason: 'no answer in time' }];
    expect(verdict({ files, services, gateways: silent })).toMatch(
      /^qwen: requests in flight are unknown\. The gateway at/,
    );
    const observation = observedFleet({ values: settledValues(), unreachable: ['studio-3'] });
    expect(drainLines(qwen, 1, { desired: rackOfThree, observation })).toEqual([awayLine]);
  });

  it("includes requests in flight at the endpoint's former port, and reports a missing gateway", () => {
    const service = (port: number, ...behind: readonly string[]) =>
      ({ label: `dev.meshwright.gateway.${port}`, state: 'running', pid: port, behind }) as const;
    const old = gatewayStatus([endpointStatus({ placement: 'qwen', running: 3 })], 8_070);
    const left: FactValues['files'] = [{ path: closed.replace('8080', '8070'), digest: '00', state: 'intact' }];
    const twoGateways = { services: [service(8_070, 'qwen'), service(8_080, 'qwen')], gateways: [old, ...inFlight(0)] };
    expect(verdict({ ...twoGateways, files: [...files, ...left] })).toMatch(
      /^qwen is not drained: 3 requests in flight after 90 s\./,
    );
    expect(verdict({ ...twoGateways, files })).toBe('qwen is not drained: its gateway on studio-3 is open.');
    const others = { ...twoGateways, services: [service(8_070, 'qwen'), service(8_080, 'chat')] };
    expect(verdict({ ...others, files: left })).toMatch(/^qwen is not drained: 3 requests in flight after 90 s\./);
    const missing = 'qwen is not drained. The gateway at port 8080 does not serve qwen yet.';
    const first = 'Run meshwright apply first, then meshwright drain qwen.';
    const gone = 'The gateway from an earlier file is closed, with no request in flight.';
    const empty = gatewayStatus([endpointStatus({ placement: 'qwen', running: 0 })], 8_070);
    for (const kept of [left, [...files, ...left]]) {
      expect(verdict({ ...others, gateways: [empty], files: kept })).toBe(`${missing} ${gone} ${first}`);
    }
    const chatOnly = { services: [service(8_080, 'chat')], gateways: inFlight(0) };
    expect(verdict({ ...chatOnly, files })).toBe(`${missing} ${first}`);
  });

  it('has a line for each leader unless both are drained', () => {
    const [first, second] = [settledValues()['studio-3'], settledValues()['studio-2']];
    const drained = { files, services, gateways: inFlight(0) };
    const placement = { ...qwen, fallback: { nodes: ['studio-2', 'studio-3'].map(nodeName), contextTokens: 2_048 } };
    const desired = { ...rackOfThree, placements: [placement] };
    const both = (one: Partial<FactValues>, unreachable: readonly string[] = []): readonly string[] => {
      const values = { ...settledValues(), 'studio-3': { ...first, ...one }, 'studio-2': { ...second, ...drained } };
      const observation = observedFleet({ values: values as Record<string, FactValues>, unreachable });
      return drainLines(placement, 90_000, { desired, observation });
    };
    const opening = 'To reopen it: meshwright start qwen, or the next apply.';
    const other = `qwen is drained on studio-2: its gateway is closed, with no request in flight. ${opening}`;
    expect(both(drained)).toEqual([`qwen is drained: its gateway is closed, with no request in flight. ${opening}`]);
    expect(both({}, ['studio-3'])).toEqual([other, awayLine]);
    expect(both({ files, services, gateways: inFlight(2) })).toEqual([
      other,
      expect.stringMatching(/^qwen is not drained on studio-3: 2 requests in flight after 90 s\. /),
    ]);
  });

  it('includes gateways that an earlier file left on a different Mac, even unreachable ones', () => {
    const drained = { files, services, gateways: inFlight(0) };
    const behind = [{ label: 'dev.meshwright.gateway.8080', state: 'running', pid: 7, behind: ['qwen'] }] as const;
    const lines = (former: Partial<FactValues>, unreachable: readonly string[] = []): readonly string[] => {
      const all = settledValues();
      const shown = {
        ...all,
        'studio-3': { ...all['studio-3'], ...drained },
        'studio-1': { ...all['studio-1'], ...former },
      };
      const observation = observedFleet({ values: shown as Record<string, FactValues>, unreachable });
      return drainLines(qwen, 90_000, { desired: rackOfThree, observation });
    };
    const idle = 'its gateway is closed, with no request in flight.';
    const [byStart, byApply] = [
      'To reopen it: meshwright start qwen, or the next apply.',
      'To accept requests again: meshwright apply.',
    ];
    expect(lines({})).toEqual([`qwen is drained: ${idle} ${byStart}`]);
    expect(lines({ services: behind })).toEqual([
      'qwen is not drained: its gateway on studio-1 is open.',
      `qwen is drained on studio-3: ${idle} ${byApply}`,
    ]);
    expect(lines({ ...drained, services: behind })).toEqual([`qwen is drained: ${idle} ${byApply}`]);
    const silent = { label: 'dev.meshwright.gateway.8070', state: 'running', pid: 7 } as const;
    expect(lines({ services: [silent] })).toEqual([`qwen is drained: ${idle} ${byStart}`]);
    expect(lines({}, ['studio-1'])).toEqual([
      expect.stringMatching(
        /^qwen: could not ask studio-1 whether an earlier file left a gateway for qwen there. It may still .* remove it from the file\.$/,
      ),
      `qwen is drained on studio-3: ${idle} ${byStart}`,
    ]);
  });
});

onOnePage('drain-text');
