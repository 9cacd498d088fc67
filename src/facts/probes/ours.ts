import type { Probe } from '../../model/probe.ts';
import { tool } from '../../script/node-paths.ts';
import { keptRecordsScript } from '../../script/node-scripts/kept-records.ts';
import { launchdServicesScript } from '../../script/node-scripts/launchd-services.ts';

/** What launchd says of each of our plists. */
export const launchdServices: Probe = {
  name: 'launchd-services',
  ask: [tool.sh, '-c', launchdServicesScript],
  deadlineMs: 10_000,
  maxBytes: 262_144,
};

/** Jobs and the lease that runs keep on the node. */
export const keptRecords: Probe = {
  name: 'kept-records',
  ask: [tool.sh, '-c', keptRecordsScript],
  deadlineMs: 10_000,
  maxBytes: 262_144,
};
