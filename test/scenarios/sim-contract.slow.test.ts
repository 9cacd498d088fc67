import { describeContract } from '../contract/both-hosts.ts';
import { chosenHost } from '../contract/sim-host.ts';

// `faults-found.slow.test.ts` tests the faults on the portable host.
describeContract(chosenHost(), false);
