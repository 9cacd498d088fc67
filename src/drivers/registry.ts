import type { KeysByDriver } from '../desired/drivers/driver-keys.ts';
import type { DesiredRuntime, DriverName } from '../model/desired.ts';
import type { RankRecord } from '../model/node-script.ts';
import { command } from './command/command.ts';
import type { RuntimeDriver } from './contract/driver.ts';
import { exo } from './exo/exo.ts';
import { llamacppRpc } from './llamacpp/llamacpp-rpc.ts';
import { mlx } from './mlx/mlx.ts';

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
export const keysByDriver: KeysByDriver = Object.fromEntries(Object.values(drivers).map(({ id, keys }) => [id, keys]));

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
