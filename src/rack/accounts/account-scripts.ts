import { ownNumbers } from '../../model/account.ts';
import { digestOf, shortDigest } from '../../model/digest.ts';
import type { AccountCheck, ScriptArgs } from '../../model/node-script.ts';
import { serviceValues } from '../../node/launchd-service.ts';
import { refusalValues } from '../../node/owner-word.ts';
import { pathWord, place, programFolders, scriptCommand } from '../../node/paths/node-paths.ts';
import {
  accountChecked,
  accountCheckFolder,
  accountEnvironment,
  accountHome,
  accountTemporary,
} from '../../node/paths/own-paths.ts';
import { leftAloneExit, rdmaKernelScript, rdmaPortsScript } from '../../node/probes/rdma-scripts.ts';
import { quote } from '../../node/quote.ts';
import { sh } from './scripts.generated.ts';

export const makeAccount = ({ name }: ScriptArgs['make-account']): string =>
  sh.makeAccount({
    name,
    accounts: place.accounts,
    home: place.emptyHome,
    first_number: ownNumbers.first,
    last_number: ownNumbers.last,
  });

export const removeAccounts = ({ names }: ScriptArgs['remove-accounts']): string =>
  sh.removeAccounts({ names: names.join(' '), accounts: place.accounts });

/** Different paths make a different test. */
const filesKey = (reads: AccountCheck['reads']): string =>
  `files-${shortDigest(digestOf(reads.map(({ path }) => path)))}`;

const gpuKey = (gpu: AccountCheck['gpu']): string => `gpu-${gpu?.digest ?? 'none'}`;

/** This text runs as the account, with the environment of ranks; `$1` is the root prefix. */
function testsOf({ name, devices = [], reads, gpu }: AccountCheck): string {
  const set = Object.entries(accountEnvironment(name)).map(([key, path]) => `export ${key}=${pathWord(path)}\n`);
  const path = programFolders.map((folder) => `$R${folder.path}`).join(':');
  const ofRuntime = Object.entries(gpu?.env ?? {}).map(([key, value]) => `${key}=${quote(value)} `);
  return `R=$1
export R LC_ALL=C PATH="${path}"
${set.join('')}${sh.accountTests({
  files_key: filesKey(reads),
  devices: devices.join(' '),
  kernel_script: rdmaKernelScript,
  ports_script: rdmaPortsScript,
  left_alone: leftAloneExit,
  gpu_key: gpuKey(gpu),
  gpu_command: `${ofRuntime.join('')}${scriptCommand(gpu?.argv ?? [])}`,
  gpu_shows: gpu?.shows ?? '',
  gpu_built_for: gpu?.builtFor ?? '',
})}`;
}

export function checkAccount(check: AccountCheck): string {
  const { name, devices, reads, gpu } = check;
  const keys = [
    'home',
    ...(reads.length === 0 ? [] : [filesKey(reads)]),
    ...(devices === undefined ? [] : ['rdma']),
    ...(gpu === undefined ? [] : [gpuKey(gpu)]),
  ];
  return sh.checkAccount(
    {
      // launchd forgets this service when its tests are finished.
      ...serviceValues('dev.meshwright.check'),
      ...refusalValues,
      name,
      home: accountHome(name),
      temporary: accountTemporary(name),
      checked: accountChecked(name),
      folder: accountCheckFolder(name),
      keys: keys.join(' '),
      tests: testsOf(check),
    },
    reads,
  );
}
