import { describeKills } from './kill/describe-kills.ts';
import { restart } from './kill/scenarios.ts';

describeKills('kill-restart', [restart]);
