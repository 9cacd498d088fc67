import { knownDaemons } from '../../model/facts/daemons.ts';
import type { Probe } from '../../model/probe.ts';
import { tool } from '../paths/node-paths.ts';
import { accountsScript } from './accounts.ts';
import { foreignDaemonsScript } from './foreign-daemons.ts';
import { keptFilesScript, keptRecordsScript } from './kept-scripts.ts';
import { launchdServicesScript } from './launchd-services.ts';
import { placementMembersScript, unaskedMembersScript } from './placement-members.ts';

/** A probe of a script of ours, whose answer grows with what is kept on the node. Indentation is not sent: the room is scarce. */
const ofScript = (name: string, script: string, deadlineMs: number): Probe => ({
  name,
  ask: [tool.sh, '-c', script.replaceAll(/\n +/g, '\n')],
  deadlineMs,
  maxBytes: 262_144,
});

/** What launchd says of each of our plists. */
export const launchdServices = ofScript('launchd-services', launchdServicesScript, 10_000);

/** What launchd says of the network daemons of others. */
export const foreignDaemonList = ofScript(
  'foreign-daemons',
  foreignDaemonsScript(knownDaemons.map(({ label }) => label)),
  10_000,
);

/** Accounts of people and of ours, as the local directory has them. */
export const accountRecords = ofScript('accounts', accountsScript, 10_000);

/** Jobs and the lease that runs keep on the node, and the values from before the first change that have these keys. */
export const keptRecordsWith = (keys: readonly string[]): Probe =>
  ofScript('kept-records', keptRecordsScript(keys), 10_000);

/** The probe that facts name. An observation sends it with the keys of all values (src/engine/observe/facts.ts). */
export const keptRecords = keptRecordsWith([]);

/** Files that were put and trees that were published, with what shows whether they are still as they were. */
export const keptFiles = ofScript('kept-files', keptFilesScript, 20_000);

/**
 * Members of placements, who listens, and one token from each endpoint. The deadline is a little more than the longest
 * wait for a token that a run asks for (20 s, src/drivers).
 */
export const placementMembers = ofScript('placement-members', placementMembersScript, 22_000);

/** The same answer without a token: a look that must not wait for one, nor leave requests with a mesh that is half there. */
export const unaskedMembers = ofScript('placement-members', unaskedMembersScript, 10_000);
