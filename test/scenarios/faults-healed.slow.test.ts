import { describeHealing } from '../contract/heal-faults.ts';
import { startConvergeRack } from './converge-rack.ts';

describeHealing('portable', () => startConvergeRack('healed'));
