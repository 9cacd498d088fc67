import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cannotWrite } from '../files/write-file.ts';
import { showJson } from '../terminal/diagnostics-output.ts';
import { exitCode } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { type ExampleDriver, exampleDrivers } from './example-file.ts';
import { prepareDemo } from './prepare.ts';

const schemaFile = new URL('../../../schemas/cluster.schema.json', import.meta.url);

/** `sim example FOLDER`: the example of the demo with all that it names, so that a rehearsal goes on to an answer. */
export const simExample: VerbBody = async (run) => {
  const [shown = ''] = run.words;
  const driver = driverOf(run.own['runtime']);
  const isPublished = run.own['published'] === true;
  const folder = emptyFolder(run, shown);
  await prepareDemo(folder, { driver, isPublished });
  // The first line of the example names it, for editors that complete keys.
  mkdirSync(join(folder, 'schemas'));
  copyFileSync(schemaFile, join(folder, 'schemas/cluster.schema.json'));
  if (run.options.json) showJson(run.console, { formatVersion: 1, simulated: true, folder });
  else run.console.out(written(shown, driver, isPublished));
  return exitCode.done;
};

/** @throws FleetError `cli/usage` */
function driverOf(asked: unknown): ExampleDriver {
  const found = exampleDrivers.find((one) => one === (asked ?? 'command'));
  if (found !== undefined) return found;
  throw usageError(`There is no example for ${JSON.stringify(asked)}.`, `Choose one of ${exampleDrivers.join(', ')}.`);
}

const written = (
  shown: string,
  driver: ExampleDriver,
  isPublished: boolean,
): string => `${shown} has cluster.yaml and, for a simulated rack, what the file names:
${driver === 'command' ? 'a small reference runtime in dist/, a stand-in for a model in models/.' : 'a stand-in for a model in models/.'} Editors
complete its keys with schemas/.
${driver === 'command' && !isPublished ? '' : 'A double takes the place of each program that is not in dist/.\n'}
Go on in there:
  meshwright sim up
  meshwright apply --sim
  meshwright sim down
`;

/** Never writes over what somebody has. @throws FleetError `cli/usage`, `cli/cannot-write` */
function emptyFolder(run: Run, shown: string): string {
  const folder = resolve(run.folder, shown);
  try {
    mkdirSync(folder, { recursive: true });
    if (readdirSync(folder).length === 0) return folder;
  } catch (error) {
    // A file of that name is no trouble of the disk.
    if (!existsSync(folder)) throw cannotWrite(folder, error);
  }
  throw usageError(`${shown} is not an empty folder.`, 'Name a folder that is empty or not there yet.');
}
