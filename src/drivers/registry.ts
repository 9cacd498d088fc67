import type { KeysByDriver } from '../desired/rules/rule.ts';
import type { GeneralCode } from '../diagnostics/diagnose.ts';
import type { DesiredFleet, DesiredRuntime, DriverName } from '../model/desired.ts';
import type { DialogueCall } from '../model/endpoint-calls.ts';
import type { RankRecord } from '../model/facts/fact-values.ts';
import { command } from './command/command.ts';
import type { RuntimeDriver, Talk } from './contract/driver.ts';
import { exo, leaveExo } from './exo/exo.ts';
import { placeOnExo } from './exo/place.ts';
import { llamacppRpc } from './llamacpp/llamacpp-rpc.ts';
import { mlx } from './mlx/mlx.ts';

/** Pattern for log lines that contain requests; undefined if the runtime is not known to log requests. */
export function requestPatternOf(
  { placements, runtimes }: Pick<DesiredFleet, 'placements' | 'runtimes'>,
  name: string,
): string | undefined {
  const placement = placements.find((one) => one.name === name);
  const runtime = runtimes.find((one) => one.name === placement?.runtime);
  return runtime === undefined ? undefined : driverOf(runtime).requestPattern;
}

/** The first request of a dialogue. */
export const beginDialogue = (call: DialogueCall): Talk =>
  call.name === 'exo-place' ? placeOnExo(call.args) : leaveExo(call.args);

/** The code for a dialogue that timed out or lost a node. */
export const unendedCode = ({ name }: DialogueCall): GeneralCode =>
  name === 'exo-place' ? 'exo/stuck' : 'exo/no-graceful-shutdown';

const drivers: Readonly<Record<DriverName, RuntimeDriver>> = { command, 'llamacpp-rpc': llamacppRpc, mlx, exo };

export const isDriver = (word: string): word is DriverName => Object.hasOwn(drivers, word);

export const keysByDriver: KeysByDriver = new Map(Object.values(drivers).map(({ id, keys }) => [id, keys]));

export const driverOf = ({ driver }: Pick<DesiredRuntime, 'driver'>): RuntimeDriver => drivers[driver];

/**
 * The driver that started a rank, regardless of the current file. In records of older meshwright versions, which do not
 * name the driver, the log pattern identifies it. Undefined if the driver is unknown.
 */
export function driverOfRecord({
  driver,
  logPattern,
}: Pick<RankRecord, 'driver' | 'logPattern'>): RuntimeDriver | undefined {
  const all = Object.values(drivers);
  if (driver !== undefined) return all.find(({ id }) => id === driver);
  return logPattern === '' ? undefined : all.find((one) => one.logPattern === logPattern);
}
