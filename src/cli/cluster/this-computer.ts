import { readFileSync } from 'node:fs';
import { readMeasuredCables } from '../../apply/journal/measured-cables.ts';
import { isExchanged } from '../../desired/layouts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { measurementOf } from '../../model/measured-cable.ts';
import { nativeProgram } from '../../native/program.ts';
import { journalsOf } from '../files/places.ts';
import type { Run } from '../verb.ts';

/**
 * The native probe for Macs, which have Apple silicon; undefined if there is none. A simulated Mac runs the programs of
 * this computer.
 */
export function readNativeProgram(isSimulated: boolean, find = nativeProgram): Buffer | undefined {
  const path = isSimulated ? find(process.platform, process.arch) : find('darwin', 'arm64');
  return path === undefined ? undefined : readFileSync(path);
}

/** The fleet with what only this computer has: its native probe, and the cables that it last measured as dead. */
export function withThisComputer(run: Run, fleet: DesiredFleet, find = nativeProgram): DesiredFleet {
  const program = fleet.runtimes.some((one) => 'cache' in one && one.cache === 'verified')
    ? readNativeProgram(run.options.sim === true, find)
    : undefined;
  const { links } = fleet.thunderbolt;
  const kept =
    links.length > 0 && fleet.models.some(isExchanged)
      ? readMeasuredCables(journalsOf(run.env, fleet.name, run.console))
      : [];
  const dead = links.flatMap(({ index, ends }) => {
    const found = measurementOf(kept, ends);
    return found?.cable.verdict === 'dead' ? [[index, found.at] as const] : [];
  });
  return {
    ...fleet,
    ...given({ nativeProgram: program?.toString('base64') }),
    ...(dead.length === 0 ? {} : { thunderbolt: { ...fleet.thunderbolt, deadLinks: Object.fromEntries(dead) } }),
  };
}
