import { describeKills } from './kill/describe-kills.ts';
import { firstStart } from './kill/scenarios.ts';

describeKills('kill-first-start', [firstStart]);
