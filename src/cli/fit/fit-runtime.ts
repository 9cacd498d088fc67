import { requirementsName } from '../../desired/resolve-placements.ts';
import { settlePackages } from '../../desired/settle/settle-packages.ts';
import { type ArchiveFact, absolutePath, extraName } from '../../desired/settle/source-facts.ts';
import { isDriver } from '../../drivers/registry.ts';
import type { DesiredFleet, DesiredRuntime, DriverName, MlxRuntime } from '../../model/desired.ts';
import { readArchive } from '../sources/read-sources.ts';
import { usageError } from '../verb/options.ts';
import { textOption } from '../verb/own-options.ts';
import type { Run } from '../verb/verb.ts';

/** With what a model is to be run. */
export interface FitRuntime {
  /** Absent where it follows from the format of the model. */
  readonly driver?: DriverName;
  /** The version of mlx-lm, where somebody said it. */
  readonly mlxLm?: string;
}

/** The file that a question is about. */
export interface FitFile {
  readonly fleet: DesiredFleet;
  readonly baseFolder: string;
}

/** What `--runtime` and `--mlx-lm` say, else the runtime of the placement that has the model. @throws FleetError `cli/usage` */
export async function readRuntime(run: Run, model: string, file: FitFile | undefined): Promise<FitRuntime> {
  const word = textOption(run, 'runtime');
  const ofModel = file?.fleet.placements.find((placement) => placement.model === model)?.runtime;
  const runtime = file?.fleet.runtimes.find(({ name }) => name === (word ?? ofModel));
  if (word !== undefined && runtime === undefined && !isDriver(word)) {
    throw usageError(`"${word}" is no runtime.`, 'Say mlx, exo, llamacpp-rpc or command, or a runtime of the file.');
  }
  const driver = runtime?.driver ?? (word !== undefined && isDriver(word) ? word : undefined);
  const mlxLm = versionOption(run) ?? (file === undefined ? undefined : await lockedMlxLm(run, runtime, file));
  return { ...(driver === undefined ? {} : { driver }), ...(mlxLm === undefined ? {} : { mlxLm }) };
}

function versionOption(run: Run): string | undefined {
  const version = textOption(run, 'mlxLm');
  if (version === undefined || /^\d{1,4}(?:\.\d{1,4}){1,3}(?:\.?[a-z]{1,8}\d{0,4})?$/.test(version)) return version;
  throw usageError(`"${version}" is no version of mlx-lm.`, 'Say one such as 0.31.3.');
}

/** The version that the locked list of a runtime of mlx has, where it lies here. */
async function lockedMlxLm(
  run: Run,
  runtime: DesiredRuntime | undefined,
  { baseFolder }: FitFile,
): Promise<string | undefined> {
  if (runtime?.driver !== 'mlx') return undefined;
  const lists = runtime.extras.filter(({ name }) => name === requirementsName);
  const read = lists.map(async ({ name, source }): Promise<readonly [string, ArchiveFact]> => {
    return [extraName(runtime.name, name), await readArchive(absolutePath(baseFolder, source), run.signal)];
  });
  const archives = Object.fromEntries(await Promise.all(read));
  return packagesOf(settlePackages(runtime, { archives, folders: {} }).runtime)?.['mlx-lm'];
}

const packagesOf = (runtime: DesiredRuntime): MlxRuntime['packages'] =>
  runtime.driver === 'mlx' ? runtime.packages : undefined;
