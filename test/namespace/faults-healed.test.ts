import { describeHealing } from '../contract/heal-faults.ts';
import { startSimFleet } from '../contract/sim-host.ts';
import { startConvergeRackBy } from '../scenarios/converge-rack.ts';

describeHealing('namespace', () => startConvergeRackBy((options) => startSimFleet(options, 'namespace'), 'healed'));
