import { describeContract } from '../contract/both-hosts.ts';

// The faults have a test of their own on this host: faults-found.test.ts.
describeContract('portable', false);
