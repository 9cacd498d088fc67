import type { KeysByDriver } from '../desired/rules/rule.ts';
import type { DiagnosticCode } from '../diagnostics/diagnose.ts';
import type { DesiredFleet, DesiredRuntime, DriverName } from '../model/desired.ts';
import type { DialogueCall } from '../model/endpoint-calls.ts';
import type { RankRecord } from '../model/node-script.ts';
import { command } from './command/command.ts';
import type { RuntimeDriver, Talk } from './contract/driver.ts';
import { exo, leaveExo } from './exo/exo.ts';
import { placeOnExo } from './exo/place.ts';
import { llamacppRpc } from './llamacpp/llamacpp-rpc.ts';
import { mlx } from './mlx/mlx.ts';

/** Which lines of the logs of a placement hold requests; undefined where its runtime is not known to print any. */
export function requestPatternOf(
  { placements, runtimes }: Pick<DesiredFleet, 'placements' | 'runtimes'>,
  name: string,
): string | undefined {
  const placement = placements.find((one) => one.name === name);
  const runtime = runtimes.find((one) => one.name === placement?.runtime);
  return runtime === undefined ? undefined : driverOf(runtime).requestPattern;
}

/** The beginning of a dialogue. */
export const beginDialogue = (call: DialogueCall): Talk =>
  call.name === 'exo-place' ? placeOnExo(call.args) : leaveExo(call.args);

/** The code of a dialogue that did not come to its end: its time is over, or a node is out of reach. */
export const unendedCode = ({ name }: DialogueCall): DiagnosticCode =>
  name === 'exo-place' ? 'exo/stuck' : 'exo/no-farewell';

/** Every driver by the word that the file has for it. */
const drivers: Readonly<Record<DriverName, RuntimeDriver>> = {
  command,
  'llamacpp-rpc': llamacppRpc,
  mlx,
  exo,
};

/** Whether a word names a driver. */
export const isDriver = (word: string): word is DriverName => Object.hasOwn(drivers, word);

/** The keys that each driver takes. */
export const keysByDriver: KeysByDriver = new Map(Object.values(drivers).map(({ id, keys }) => [id, keys]));

/** The driver of a runtime. */
export const driverOf = ({ driver }: Pick<DesiredRuntime, 'driver'>): RuntimeDriver => drivers[driver];

/**
 * The driver that a member was started by, whatever the file says by now. A record of an older meshwright does not name
 * it: there the lines that its record has an observation bring along are those of its driver alone. None where neither
 * tells.
 */
export function driverOfRecord({
  driver,
  logPattern,
}: Pick<RankRecord, 'driver' | 'logPattern'>): RuntimeDriver | undefined {
  const all = Object.values(drivers);
  if (driver !== undefined) return all.find(({ id }) => id === driver);
  return logPattern === '' ? undefined : all.find((one) => one.logPattern === logPattern);
}
