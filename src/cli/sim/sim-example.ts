import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { writeReferenceArchive, writeTinyModel } from '../../sim/doubles/reference.ts';
import { exitCode } from '../exit-codes.ts';
import { forgetRehearsal } from '../files/places.ts';
import { cannotWrite } from '../files/write-file.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';

/** The runtimes with an example. */
export const exampleDrivers = ['exo', 'mlx', 'llamacpp', 'command'] as const;

export type ExampleDriver = (typeof exampleDrivers)[number];

interface ExampleOptions {
  readonly driver: ExampleDriver;
  /** True for an endpoint in the office network. */
  readonly isPublished: boolean;
}

/** How the example differs for another runtime, as a person would edit it. */
interface ExampleEdit {
  readonly runtimes: string;
  readonly models?: string;
  /** Keys of the placement with their new values. */
  readonly placement: Readonly<Record<string, string>>;
}

const edits: Readonly<Record<Exclude<ExampleDriver, 'exo'>, ExampleEdit>> = {
  mlx: {
    runtimes: `  mlx:
    driver: mlx
    python: "3.12"
    requirements: ./requirements.lock   # uv pip compile --generate-hashes
`,
    placement: { runtime: 'mlx' },
  },
  llamacpp: {
    runtimes: `  llamacpp: { driver: llamacpp-rpc, version: b10950 }
`,
    models: `  kimi: { source: "hf:unsloth/Kimi-K2.6-GGUF", include: ["*Q4_K_M*"] }
`,
    placement: { runtime: 'llamacpp', sharding: 'pipeline' },
  },
  command: {
    runtimes: `  reference:
    driver: command
    archive: ./dist/reference.tar.gz
    command: ["{runtime}/bin/rank", "--rank", "{rank}", "--size", "{size}",
      "--listen", "{address}:{port}", "--peers", "{peers}", "--model", "{model}",
      "--endpoint", "{endpoint}", "--generation", "{generation}"]
`,
    models: `  tiny: { source: ./models/tiny }
`,
    placement: { model: 'tiny', runtime: 'reference', transport: 'tcp', context: '8k' },
  },
};

const publishedEndpoint = `    endpoint: { port: 8080, listen: lan, servedName: kimi, access: anybody }
`;

/** @throws Error if the example has changed but this code has not, which is a bug */
function replaced(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`the example has nothing like ${pattern.source}`);
  return text.replace(pattern, () => by);
}

/** The example file for a different runtime, or with a published endpoint. All other text is kept, even comments. */
export function exampleText(example: string, { driver, isPublished }: ExampleOptions): string {
  let file = example;
  if (driver !== 'exo') {
    const { runtimes, models, placement } = edits[driver];
    file = replaced(file, /(?<=^runtimes:\n)(?: .*\n)+/m, runtimes);
    if (models !== undefined) file = replaced(file, /(?<=^models:\n)(?: .*\n)+/m, models);
    for (const [key, value] of Object.entries(placement)) {
      file = replaced(file, new RegExp(`(?<=^placements:\\n(?: .*\\n)*    ${key}: ).*`, 'm'), value);
    }
  }
  return isPublished ? replaced(file, /^ {4}endpoint: .*\n/m, publishedEndpoint) : file;
}

const example = new URL('../../../cluster.example.yaml', import.meta.url);

/** Large enough to show progress, small enough for a busy computer. */
const modelBytes = 8_388_608;

/**
 * Writes the example into a folder. A simulation replaces every release and model that it names, except the program of
 * a `command` runtime, which is written next to the file, with its model.
 */
export async function prepareDemo(
  folder: string,
  options: ExampleOptions = { driver: 'exo', isPublished: false },
): Promise<void> {
  await writeFile(join(folder, 'cluster.yaml'), exampleText(await readFile(example, 'utf8'), options));
  if (options.driver !== 'command') return;
  await writeReferenceArchive(join(folder, 'dist/reference.tar.gz'));
  await writeTinyModel(join(folder, 'models/tiny'), modelBytes);
}

const schemaFile = new URL('../../../schemas/cluster.schema.json', import.meta.url);

/** `sim example FOLDER`: writes the demo's example and all its files, so that a simulation can run until it answers. */
export const simExample: VerbBody = async (run) => {
  const [shown = ''] = run.words;
  const driver = driverOf(run.own['runtime']);
  const isPublished = run.own['published'] === true;
  const folder = emptyFolder(run, shown);
  // An earlier rehearsal may have had the same folder.
  forgetRehearsal(run.env, join(folder, 'cluster.yaml'));
  await prepareDemo(folder, { driver, isPublished });
  // The example's first line names the schema, for editors that complete keys.
  mkdirSync(join(folder, 'schemas'));
  copyFileSync(schemaFile, join(folder, 'schemas/cluster.schema.json'));
  const document = { formatVersion: 1, simulated: true, folder } as const;
  return { exit: exitCode.done, document, text: written(shown, driver) };
};

/** @throws FleetError `cli/usage` */
function driverOf(asked: unknown): ExampleDriver {
  const found = exampleDrivers.find((one) => one === (asked ?? 'exo'));
  if (found !== undefined) return found;
  throw usageError(`There is no example for ${JSON.stringify(asked)}.`, `Use one of: ${exampleDrivers.join(', ')}`);
}

const written = (shown: string, driver: ExampleDriver): string => `Wrote cluster.yaml to ${shown}${
  driver === 'command' ? ', with a small reference runtime in dist/ and a\nstand-in for a model in models/' : ''
}. Editors complete its keys with schemas/.
A simulated rack has stand-ins for the programs and models of releases.

Continue in that folder:
  meshwright sim up
  meshwright apply --sim
  meshwright sim down
`;

/** Never overwrites existing files. @throws FleetError `cli/usage`, `cli/cannot-write` */
function emptyFolder(run: Run, shown: string): string {
  const folder = resolve(run.folder, shown);
  try {
    mkdirSync(folder, { recursive: true });
    if (readdirSync(folder).length === 0) return folder;
  } catch (error) {
    // An existing file with that name is not a disk error.
    if (!existsSync(folder)) throw cannotWrite(folder, error);
  }
  throw usageError(`${shown} is not an empty folder.`, 'Use an empty folder or a new one.');
}
