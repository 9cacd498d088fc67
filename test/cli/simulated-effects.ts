import { join } from 'node:path';
import { simFolder } from '../../src/cli/files/places.ts';
import { askControl, type ControlRequest } from '../../src/sim/hosts/control/control.ts';
import { readRun } from '../../src/sim/hosts/control/run-folder.ts';
import type { RecordedEffect } from '../../src/sim/hosts/records.ts';
import { longestWaitMs } from '../until.ts';
import type { Place } from './place.ts';

/** Asks the simulated fleet of a place without a command, which would take longer than most steps of a run. */
export async function askFleet({ env, folder }: Place, request: ControlRequest): Promise<unknown> {
  const fleet = await readRun(simFolder(env, join(folder, 'cluster.yaml')));
  if (fleet.kind !== 'live') throw new Error(`the simulated fleet is ${fleet.kind}`);
  const answer = await askControl(fleet.run.controlSocket, request, longestWaitMs);
  if (answer?.ok !== true) throw new Error(`the simulated fleet answered: ${JSON.stringify(answer)}`);
  return answer.value;
}

/** What has been done to the simulated Macs of a place since this time, as the Macs themselves recorded it. */
export async function effectsSince(atEpochMs: number, place: Place): Promise<readonly RecordedEffect[]> {
  const { effects } = (await askFleet(place, { ask: 'log' })) as { readonly effects: readonly RecordedEffect[] };
  return effects.filter((one) => one.atEpochMs >= atEpochMs);
}

/** The Macs whose boot session was ended by more than one restart command. */
export function repeatedRestarts(effects: readonly RecordedEffect[]): readonly string[] {
  const orders = effects.flatMap((one) =>
    one.kind === 'reboot' || one.kind === 'power-off' ? [`${one.node} in its boot session ${one.boot}`] : [],
  );
  return orders.filter((one, at) => orders.indexOf(one) !== at);
}
