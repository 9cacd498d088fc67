import type { JobArgs, JobCall, JobName, ScriptArgs, ScriptCall, ScriptName } from '../../model/node-script.ts';
import { withdrawBody } from '../../node/withdraw.ts';
import { checkAccount, makeAccount, removeAccounts } from '../../rack/accounts/account-scripts.ts';
import { clearLinkAddress, setLinkAddress } from '../../rack/addresses/link-address-scripts.ts';
import { serveModel } from '../../rack/artifacts/peers/peer-scripts.ts';
import {
  buildArchive,
  buildPython,
  listPackages,
  switchRuntime,
  unpackRuntime,
} from '../../rack/artifacts/runtimes/runtime-scripts.ts';
import {
  adoptModel,
  fetchArchive,
  fetchModel,
  fetchSource,
  listFolder,
  verifyModel,
} from '../../rack/artifacts/sources/source-scripts.ts';
import {
  clearStaging,
  prepareStaging,
  publishTree,
  rehashModel,
  removeModelVersions,
  removeRuntimeVersions,
} from '../../rack/artifacts/trees/tree-scripts.ts';
import { authorizeRestart } from '../../rack/boot/restart-script.ts';
import { removeBridge } from '../../rack/bridge/remove-bridge-script.ts';
import { setClock } from '../../rack/clock/set-clock-script.ts';
import { returnDaemon, stopDaemon } from '../../rack/foreign-daemon/daemon-scripts.ts';
import { clearHold, setHold } from '../../rack/hold/script.ts';
import { loadKeeper, removeKeeper } from '../../rack/keeper/keeper-scripts.ts';
import { downloadMacos, installMacos } from '../../rack/macos/update-scripts.ts';
import { setWiredLimit } from '../../rack/memory/set-wired-limit-script.ts';
import { orderServices } from '../../rack/network/order-services-script.ts';
import { settleTransaction } from '../../rack/network/transaction/transaction-script.ts';
import { clearGateway, drainGateway, loadGateway, openGateway } from '../../rack/placement/endpoint/gateway-scripts.ts';
import {
  bootstrapRank,
  continueRank,
  keepGolden,
  kickRank,
  prepareRank,
  removeRank,
  stopRank,
} from '../../rack/placement/ranks/rank-scripts.ts';
import { settings } from '../../rack/settings/settings.ts';
import { restoreValue } from '../../rack/uninstall/baseline-setting.ts';
import { clearNode, restoreNetwork } from '../../rack/uninstall/uninstall-scripts.ts';

type SettingScript = Extract<(typeof settings)[number], { readonly script: unknown }>['script'];

type SettingScripts = { readonly [S in SettingScript as S['name']]: S['text'] };

const settingScripts = Object.fromEntries(
  settings.flatMap((one) => ('script' in one ? [[one.script.name, one.script.text]] : [])),
) as SettingScripts;

const scripts: { readonly [K in ScriptName]: (args: ScriptArgs[K]) => string } = {
  ...settingScripts,
  'set-hold': setHold,
  'clear-hold': clearHold,
  'check-account': checkAccount,
  'make-account': makeAccount,
  'remove-accounts': removeAccounts,
  'set-clock': setClock,
  'set-wired-limit': setWiredLimit,
  'remove-bridge': removeBridge,
  'set-link-address': setLinkAddress,
  'clear-link-address': clearLinkAddress,
  'stop-daemon': stopDaemon,
  'order-services': orderServices,
  'load-keeper': loadKeeper,
  'remove-keeper': removeKeeper,
  'load-gateway': loadGateway,
  'remove-gateway': clearGateway,
  'drain-endpoint': drainGateway,
  'open-endpoint': openGateway,
  'restore-network': restoreNetwork,
  'restore-value': restoreValue,
  'return-daemon': returnDaemon,
  'clear-node': clearNode,
  'withdraw-node': withdrawBody,
  'settle-transaction': settleTransaction,
  'prepare-staging': prepareStaging,
  'publish-tree': publishTree,
  'clear-staging': clearStaging,
  'switch-runtime': switchRuntime,
  'remove-runtime-versions': removeRuntimeVersions,
  'remove-model-versions': removeModelVersions,
  'bootstrap-rank': bootstrapRank,
  'kick-rank': kickRank,
  'authorize-restart': authorizeRestart,
  'stop-rank': stopRank,
  'continue-rank': continueRank,
  'keep-golden': keepGolden,
  'remove-rank': removeRank,
};

const jobs: { readonly [K in JobName]: (args: JobArgs[K]) => string } = {
  'unpack-runtime': unpackRuntime,
  'build-python': buildPython,
  'list-packages': listPackages,
  'build-archive': buildArchive,
  'fetch-archive': fetchArchive,
  'fetch-source': fetchSource,
  'fetch-model': fetchModel,
  'adopt-model': adoptModel,
  'verify-model': verifyModel,
  'prepare-rank': prepareRank,
  'rehash-model': rehashModel,
  'serve-model': serveModel,
  'list-folder': listFolder,
  'download-macos': downloadMacos,
  'install-macos': installMacos,
};

export const scriptNames = Object.keys(scripts) as readonly ScriptName[];

export const jobNames = Object.keys(jobs) as readonly JobName[];

/** The body of a named script with its arguments, for `mutatingScript`. */
export const scriptBody = (call: ScriptCall): string => bodyOf(scripts, call);

/** The body of a named job, after the common prologue. */
export const jobBody = (call: JobCall): string => bodyOf(jobs, call);

type Bodies<A> = { readonly [K in keyof A]: (args: A[K]) => string };

/** Pairs a name with its arguments again. Only this function does, because a union of calls loses the pairing. */
function bodyOf<A, K extends keyof A>(
  bodies: Bodies<A>,
  { name, args }: { readonly name: K; readonly args: A[K] },
): string {
  return bodies[name](args);
}
