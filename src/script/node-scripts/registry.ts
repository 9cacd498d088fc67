import type { JobArgs, JobCall, JobName, ScriptArgs, ScriptCall, ScriptName } from '../../model/node-script.ts';
import { withdrawBody } from '../withdraw.ts';
import { bootstrapRank } from './bootstrap-rank.ts';
import { buildPython } from './build-python.ts';
import { checkAccount } from './check-account.ts';
import { clearLinkAddress } from './clear-link-address.ts';
import { clearNode } from './clear-node.ts';
import { clearStaging } from './clear-staging.ts';
import { drainDoor, openDoor } from './doors.ts';
import { fetchModel } from './fetch-model.ts';
import { clearHold, setHold } from './hold.ts';
import { keepGolden } from './keep-golden.ts';
import { kickRank } from './kick-rank.ts';
import { loadDoorman } from './load-doorman.ts';
import { loadKeeper } from './load-keeper.ts';
import { makeAccount, removeAccounts } from './make-account.ts';
import { orderServices } from './order-services.ts';
import { prepareStaging } from './prepare-staging.ts';
import { publishTree } from './publish-tree.ts';
import { removeBridge } from './remove-bridge.ts';
import { removeDoorman } from './remove-doorman.ts';
import { removeKeeper } from './remove-keeper.ts';
import { removeRank } from './remove-rank.ts';
import { removeRuntimeVersions } from './remove-runtime-versions.ts';
import { restoreNetwork } from './restore-network.ts';
import { restoreValue } from './restore-value.ts';
import { returnDaemon } from './return-daemon.ts';
import { setClock } from './set-clock.ts';
import { setLinkAddress } from './set-link-address.ts';
import { setNames } from './set-names.ts';
import { setPower } from './set-power.ts';
import { setScreenSharing } from './set-screen-sharing.ts';
import { setUpdates } from './set-updates.ts';
import { setWiredLimit } from './set-wired-limit.ts';
import { settleRollback } from './settle-rollback.ts';
import { stopBackups, stopPhotosAnalysis, stopSpotlight } from './stop-background-services.ts';
import { stopDaemon } from './stop-daemon.ts';
import { stopFirewall } from './stop-firewall.ts';
import { stopRank } from './stop-rank.ts';
import { switchRuntime } from './switch-runtime.ts';
import { unpackRuntime } from './unpack-runtime.ts';
import { verifyModel } from './verify-model.ts';

const scripts: { readonly [K in ScriptName]: (args: ScriptArgs[K]) => string } = {
  'set-power': setPower,
  'set-hold': setHold,
  'clear-hold': clearHold,
  'set-updates': setUpdates,
  'set-names': setNames,
  'check-account': checkAccount,
  'make-account': makeAccount,
  'remove-accounts': removeAccounts,
  'set-clock': setClock,
  'set-screen-sharing': setScreenSharing,
  'stop-firewall': stopFirewall,
  'stop-spotlight': stopSpotlight,
  'stop-backups': stopBackups,
  'stop-photos-analysis': stopPhotosAnalysis,
  'set-wired-limit': setWiredLimit,
  'remove-bridge': removeBridge,
  'set-link-address': setLinkAddress,
  'clear-link-address': clearLinkAddress,
  'stop-daemon': stopDaemon,
  'order-services': orderServices,
  'load-keeper': loadKeeper,
  'remove-keeper': removeKeeper,
  'load-doorman': loadDoorman,
  'remove-doorman': removeDoorman,
  'drain-door': drainDoor,
  'open-door': openDoor,
  'restore-network': restoreNetwork,
  'restore-value': restoreValue,
  'return-daemon': returnDaemon,
  'clear-node': clearNode,
  'withdraw-node': withdrawBody,
  'settle-rollback': settleRollback,
  'prepare-staging': prepareStaging,
  'publish-tree': publishTree,
  'clear-staging': clearStaging,
  'switch-runtime': switchRuntime,
  'remove-runtime-versions': removeRuntimeVersions,
  'bootstrap-rank': bootstrapRank,
  'kick-rank': kickRank,
  'stop-rank': stopRank,
  'keep-golden': keepGolden,
  'remove-rank': removeRank,
};

const jobs: { readonly [K in JobName]: (args: JobArgs[K]) => string } = {
  'unpack-runtime': unpackRuntime,
  'build-python': buildPython,
  'fetch-model': fetchModel,
  'verify-model': verifyModel,
};

/** The names of all scripts. */
export const scriptNames = Object.keys(scripts) as readonly ScriptName[];

/** The names of all jobs. */
export const jobNames = Object.keys(jobs) as readonly JobName[];

/** The body of a named script with its arguments, for `mutatingScript`. */
export const scriptBody = (call: ScriptCall): string => bodyOf(scripts, call);

/** What a named job does, behind the prologue of all jobs. */
export const jobBody = (call: JobCall): string => bodyOf(jobs, call);

type Bodies<A> = { readonly [K in keyof A]: (args: A[K]) => string };

/** The one place that pairs a name with its arguments again, which a union of calls has lost. */
function bodyOf<A, K extends keyof A>(
  bodies: Bodies<A>,
  { name, args }: { readonly name: K; readonly args: A[K] },
): string {
  return bodies[name](args);
}
