import { describeKills } from './kill/describe-kills.ts';
import { reboot } from './kill/scenarios.ts';

describeKills('kill-reboot', [reboot]);
