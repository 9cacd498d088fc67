import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { ended, json, mainFile, type Ran, runWith } from '../cli/meshwright.ts';
import { makePlace } from '../cli/place.ts';
import type { FileValue } from '../scenarios/converge-file.ts';
import type { ConvergeRack } from '../scenarios/converge-rack.ts';
import { writePlace } from './write-place.ts';

/** On this host, starts have real deadlines. */
const longestMs = 120_000;

/** The exit code of a `recover --json`, and its cures in order. A Mac may be back before `recover` waits for it. */
export function curesOf(ran: Ran): readonly (number | string | null)[] {
  const { cures } = json(ran) as { readonly cures: readonly { readonly rung: string }[] };
  return [ran.code, ...cures.map(({ rung }) => rung).filter((rung) => rung !== 'wait')];
}

/** Runs the built command on a person's computer, which reaches a rack's Macs without `--sim`. */
export interface TypedRack {
  readonly type: (...words: string[]) => Promise<Ran>;
  readonly end: () => void;
}

/**
 * A place with this cluster file and the lock of the rack.
 *
 * @param main returns the path of the command, once it is built
 */
export function typedRack(
  rack: ConvergeRack<RunningFleet>,
  file: FileValue,
  main: () => string = () => mainFile,
): TypedRack {
  execFileSync(process.execPath, ['scripts/build.mjs', '--quick'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const path = main();
  const place = makePlace();
  writePlace(place, rack.fleet(), rack.lock(), file);
  return {
    type: (...words) => rack.behindOurBack(() => ended(runWith(path, place, words), words, longestMs)),
    end: place.remove,
  };
}
