import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { read } from '../../src/rack/fact.ts';
import { interfacesFact } from '../../src/rack/network/interfaces-fact.ts';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { startSimFleet } from '../contract/sim-host.ts';
import type { RunningRack } from '../rack/running.ts';
import { observe, startExampleRackBy, timelessFacts, unknownFacts } from '../scenarios/observe-rack.ts';

let real: RunningRack<RunningFleet>;
let modelled: RunningRack<RunningFleet>;
beforeAll(async () => {
  real = await startExampleRackBy((options) => startSimFleet(options, 'namespace'));
  modelled = await startExampleRackBy((options) => startSimFleet(options, 'portable'));
});
afterAll(async () => {
  await real?.stop();
  await modelled?.stop();
});

const look = (rack: RunningRack<RunningFleet>): Promise<FleetObservation> =>
  observe(rack.names.map((name) => rack.way(name)));

/** On the portable host, every connection uses the loopback interface, which does not belong to the Mac. */
const withoutWay = (key: string, value: unknown): unknown => (key === 'carriesConnection' ? undefined : value);

const factsOf = (rack: RunningRack<RunningFleet>, seen: FleetObservation): unknown =>
  JSON.parse(
    JSON.stringify(
      rack.names.map((name) => [timelessFacts(seen, name), unknownFacts(seen, name)]),
      withoutWay,
    ),
  );

describe('an observation of Macs in namespaces', () => {
  it('gives the same facts as on the portable host, in one exec per node', async () => {
    const seen = await look(real);
    expect(factsOf(real, seen)).toEqual(factsOf(modelled, await look(modelled)));
    const counts = Object.values(real.fleet.counts());
    expect(counts.map(({ connections, execs }) => [connections, execs])).toEqual(counts.map(() => [1, 1]));
    expect(Object.values(await real.fleet.unknown()).flat()).toEqual([]);
    const interfaces = read(seen.nodes['studio-2']?.facts, interfacesFact);
    const carrying = interfaces?.kind === 'known' ? interfaces.value.filter((one) => one.carriesConnection) : [];
    expect(carrying.map(({ name }) => name)).toEqual(['en0']);
  });
});
