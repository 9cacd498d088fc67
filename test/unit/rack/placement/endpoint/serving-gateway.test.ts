import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../../src/engine/observe/facts.ts';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../../../../src/model/desired.ts';
import { digestOf, shortDigest } from '../../../../../src/model/digest.ts';
import { known } from '../../../../../src/model/known.ts';
import type { Step } from '../../../../../src/model/step.ts';
import { placementSubject } from '../../../../../src/model/subject.ts';
import type { FleetObservation } from '../../../../../src/rack/examination.ts';
import { read } from '../../../../../src/rack/fact.ts';
import type { Goal } from '../../../../../src/rack/goal.ts';
import { gatewayFindings } from '../../../../../src/rack/placement/check/placement-findings.ts';
import { gatewayReadings } from '../../../../../src/rack/placement/endpoint/seen-gateways.ts';
import { servicesFact } from '../../../../../src/rack/records/services-fact.ts';
import {
  endpointCounts,
  endpointStatus,
  gatewayStatus,
  meshFleet,
  observeMesh,
  threeRanks,
} from '../../../../rack/placements.ts';
import { makePlan } from '../../../../rack/plans.ts';
import { settledFacts } from '../../../../rack/rack.ts';
import { diagnosticsAsText } from '../../../as-text.ts';
import { onOnePage } from '../../../one-page.ts';

const counts = endpointCounts({ requests: 3, tokens: 30 });

const trees: FactValues['trees'] = [
  { kind: 'runtime', name: 'reference', digest: shortDigest(digestOf('archive')), isCurrent: true, state: 'intact' },
  { kind: 'model', name: 'tiny', digest: shortDigest(digestOf('model')), isCurrent: false, state: 'intact' },
];

/** A rack on which all ranks of kimi run and a gateway on the leader serves kimi on this port. */
function observed(fleet: DesiredFleet, port: number, seen: Partial<FactValues> = {}): FleetObservation {
  const values = targetsOf(fleet).map((name) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    return [name, { ...facts, trees }];
  });
  const ranks = threeRanks(['joined', 'joined', 'joined']);
  const one = observeMesh(fleet, { ranks, values: Object.fromEntries(values) });
  const leader = one.nodes['studio-1'] ?? expect.fail('there is no studio-1');
  const services = read(leader.facts, servicesFact);
  const gateway = { label: `dev.meshwright.gateway.${port}`, state: 'running', pid: 7, behind: ['kimi'] } as const;
  const facts = {
    ...leader.facts,
    services: services.kind === 'known' ? known([...services.value, gateway]) : services,
    ...Object.fromEntries(Object.entries(seen).map(([name, value]) => [name, known(value)])),
  };
  return { ...one, nodes: { ...one.nodes, 'studio-1': { ...leader, facts } } };
}

const targetsOf = (fleet: DesiredFleet) => fleet.nodes.map(({ name }) => name);

describe("a serving placement's gateway", () => {
  const fleet = meshFleet({ placement: { endpointPort: 8_080, publication: { servedName: 'kimi' } } });
  const closed = '/Library/Application Support/meshwright/gateway/8080/closed/kimi';
  const files: FactValues['files'] = [{ path: closed, digest: '00', state: 'intact' }];
  const gateway = endpointStatus({ closed: 'it was drained by its operator.', running: 1, waiting: 1, counts });
  const gateways = [gatewayStatus([gateway])];
  const findings = (of: DesiredFleet, seen: Partial<FactValues>) =>
    diagnosticsAsText(
      gatewayFindings(viewOf({ desired: of, observation: observed(of, 8_080, seen), targets: targetsOf(of) })),
    );

  it('is reported while closed, with the reason, requests in flight and a hint', () => {
    expect(findings(fleet, { files, gateways })).toMatchObject([
      {
        code: 'endpoint/closed',
        severity: 'warning',
        subject: placementSubject('kimi'),
        detail:
          'It serves, but clients of port 8080 on studio-1 get 503: it was drained by its operator. Requests in flight: 2.',
        hint: expect.stringContaining('meshwright start kimi'),
      },
    ]);
    expect(findings(fleet, { files, gateways: [] })).toMatchObject([
      { detail: 'It serves, but clients of port 8080 on studio-1 get 503.' },
    ]);
  });

  it('is reported as passing requests on if the placement is a replica', () => {
    const replica = meshFleet({
      placement: { endpointPort: 8_080, publication: { servedName: 'kimi' }, replica: { of: 'all', at: 0 } },
    });
    expect(findings(replica, { files, gateways })).toMatchObject([
      {
        detail: expect.stringContaining(
          'requests to port 8080 on studio-1 go to the other replicas: it was drained by its operator.',
        ),
      },
    ]);
  });

  it('is not reported if it is accepting, stopped in the file or unpublished', () => {
    expect(findings(fleet, { files: [], gateways })).toEqual([]);
    const stopped = meshFleet({ placement: { publication: { servedName: 'kimi' }, state: 'stopped' } });
    for (const of of [stopped, meshFleet()]) expect(findings(of, { files, gateways })).toEqual([]);
  });
});

describe('a gateway that is no longer in the file', () => {
  const fleet = meshFleet();
  const stepsFor = (goal: Goal, of = fleet): readonly Step[] =>
    makePlan({ goal, desired: of, observation: observed(fleet, 9_000), targets: targetsOf(of) }).steps;

  /** All steps that must finish before this step starts. */
  function stepsBefore(steps: readonly Step[], id: string): readonly string[] {
    const step = steps.find((one) => one.id === id) ?? expect.fail(`there is no ${id}`);
    return step.needs.flatMap((need) => [need, ...stepsBefore(steps, need)]);
  }

  it('is shown with its requests in flight', () => {
    const gateway = { ...endpointStatus({ running: 2 }), closed: 'it was drained by its operator.' };
    const files: FactValues['files'] = [
      { path: '/Library/Application Support/meshwright/gateway/9000/closed/kimi', digest: '00', state: 'intact' },
    ];
    const observation = observed(fleet, 9_000, { files, gateways: [gatewayStatus([gateway], 9_000)] });
    expect(gatewayReadings(viewOf({ desired: fleet, observation, targets: targetsOf(fleet) }))).toMatchObject([
      { node: 'studio-1', address: 'gateway/9000/kimi/in-flight', observed: known(2) },
    ]);
  });

  it('is closed and drained by stop before any rank is stopped', () => {
    const steps = stepsFor({ kind: 'stop', placements: ['kimi'] });
    expect(stepsBefore(steps, 'studio-1/placement/kimi/stop')).toEqual([
      'studio-1/placement/kimi/close-endpoint-9000',
      'studio-1/placement/kimi/drain-9000',
      'studio-1/placement/kimi/close-endpoint-9000',
    ]);
  });

  it('is closed, drained and removed once by apply before any rank is stopped', () => {
    const changed = meshFleet({ placement: { endpointPort: 8_081 } });
    const steps = stepsFor({ kind: 'converge', only: ['gateway', 'placement'] }, changed);
    const gateways = steps.map(({ id }) => String(id)).filter((id) => /endpoint|gateway/.test(id));
    expect(gateways).toEqual([
      'studio-1/gateway/9000/kimi/endpoint/close',
      'studio-1/gateway/9000/kimi/endpoint/drain',
      'studio-1/gateway/9000/remove',
    ]);
    expect(stepsBefore(steps, 'studio-1/placement/kimi/stop')).toEqual(expect.arrayContaining(gateways));
  });
});

onOnePage('serving-gateway');
