import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { renderLock } from '../../src/config/lock-text.ts';
import type { PinnedKey } from '../../src/model/cluster-lock.ts';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { ended, mainFile, type Ran, runWith } from '../cli/meshwright.ts';
import { makePlace, type Place } from '../cli/place.ts';
import { type FileValue, filePart, fileText } from '../scenarios/converge-file.ts';
import type { ConvergeRack } from '../scenarios/converge-rack.ts';

/** On this host, starts have real deadlines. */
const longestMs = 120_000;

/** Runs the built command on a person's computer, which reaches a rack's Macs without `--sim`. */
export interface TypedRack {
  readonly type: (...words: string[]) => Promise<Ran>;
  readonly end: () => void;
}

/**
 * A place with this cluster file and the lock of the rack. A Mac of the namespace host has its own root and sshd: the
 * command knows only its address, its port and its pinned key.
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
  writePlace(place, rack, structuredClone(file));
  return {
    type: (...words) => rack.behindOurBack(() => ended(runWith(path, place, words), words, longestMs)),
    end: place.remove,
  };
}

function writePlace(place: Place, rack: ConvergeRack<RunningFleet>, file: FileValue): void {
  const { nodes, userKey } = rack.fleet();
  const hostKeys: Record<string, readonly PinnedKey[]> = {};
  for (const [name, { port, hostKey }] of Object.entries(nodes)) {
    const [type = '', base64 = ''] = hostKey.split(' ');
    hostKeys[`[127.0.0.1]:${port}`] = [{ type, base64, line: 1 }];
    Object.assign(filePart(file, 'nodes', name), { host: '127.0.0.1', port, identityFile: userKey.path });
  }
  place.write('cluster.yaml', fileText(file));
  place.write('cluster.lock', renderLock({ ...rack.lock(), hostKeys }));
}
