import type { Probe } from '../../model/probe.ts';
import { tool } from '../../script/node-paths.ts';
import { keptFilesScript } from '../../script/node-scripts/kept-files.ts';
import { keptRecordsScript } from '../../script/node-scripts/kept-records.ts';
import { launchdServicesScript } from '../../script/node-scripts/launchd-services.ts';
import { placementMembersScript, unaskedMembersScript } from '../../script/node-scripts/placement-members.ts';

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

/** Files that were put and trees that were published, with what shows whether they are still as they were. */
export const keptFiles: Probe = {
  name: 'kept-files',
  ask: [tool.sh, '-c', keptFilesScript],
  deadlineMs: 20_000,
  maxBytes: 262_144,
};

/** Members of placements, who listens, and one token from each endpoint. */
export const placementMembers: Probe = {
  name: 'placement-members',
  ask: [tool.sh, '-c', placementMembersScript],
  // A little more than the longest wait for a token that a run asks for (20 s, src/runtimes).
  deadlineMs: 22_000,
  maxBytes: 262_144,
};

/** The same answer without a token: a look that must not wait for one, nor leave requests with a mesh that is half there. */
export const unaskedMembers: Probe = {
  ...placementMembers,
  ask: [tool.sh, '-c', unaskedMembersScript],
  deadlineMs: 10_000,
};
