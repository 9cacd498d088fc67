import { describeContract } from '../contract/both-hosts.ts';

describeContract('namespace', true);
