import { readFileSync } from 'node:fs';
import { readMeasuredCables } from '../../apply/journal/measured-cables.ts';
import { isExchanged } from '../../desired/layouts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { measuredLinks, type NewestMeasurement } from '../../model/measured-cable.ts';
import { nativeProgram } from '../../native/program.ts';
import { journalsOf } from '../files/places.ts';
import type { Run } from '../verb.ts';

/** The native probe for Macs; undefined if there is none. Simulated Macs run the programs of this computer. */
export function readNativeProgram(isSimulated: boolean, find = nativeProgram): Buffer | undefined {
  const path = programPath(isSimulated, find);
  return path === undefined ? undefined : readFileSync(path);
}

const programPath = (isSimulated: boolean, find: typeof nativeProgram): string | undefined =>
  isSimulated ? find(process.platform, process.arch) : find('darwin', 'arm64');

/** The fleet with what only this computer has: its native probe, and what it last measured of the cables. */
export function withThisComputer(run: Run, fleet: DesiredFleet, find = nativeProgram): DesiredFleet {
  const program = fleet.runtimes.some((one) => 'cache' in one && one.cache === 'verified')
    ? readNativeProgram(run.options.sim === true, find)
    : undefined;
  const isUsed = fleet.models.some(isExchanged) || fleet.placements.some(({ nodes }) => nodes.length > 1);
  const measurements =
    fleet.thunderbolt.links.length > 0 && isUsed ? readMeasuredCables(journalsOf(run, fleet.name)) : [];
  return withMeasured(run, { ...fleet, ...given({ nativeProgram: program?.toString('base64') }) }, measurements, find);
}

/** The fleet with these measurements of its cables. */
export function withMeasured(
  { options }: Pick<Run, 'options'>,
  fleet: DesiredFleet,
  measurements: readonly NewestMeasurement[],
  find = nativeProgram,
): DesiredFleet {
  const canMeasure = programPath(options.sim === true, find) !== undefined;
  const measured = measuredLinks(fleet.thunderbolt.links, measurements);
  return { ...fleet, thunderbolt: { ...fleet.thunderbolt, measured, canMeasure } };
}
