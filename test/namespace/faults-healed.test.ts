import { describeHealing } from '../contract/heal-faults.ts';
import { startNamespaceRack } from './rack.ts';

describeHealing('namespace', () => startNamespaceRack('healed'));
