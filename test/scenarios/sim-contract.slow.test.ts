import { describeContract } from '../contract/both-hosts.ts';
import { chosenHost } from '../contract/sim-host.ts';

// The faults have a test of their own on the portable host: faults-found.test.ts.
describeContract(chosenHost(), false);
