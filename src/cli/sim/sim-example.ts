import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { writeIndexedModel } from '../../sim/doubles/exo-image.ts';
import { writeReferenceArchive, writeTinyModel } from '../../sim/doubles/reference.ts';
import { writeTinyGguf } from '../../sim/doubles/tiny-gguf.ts';
import { exitCode } from '../exit-codes.ts';
import { cannotWrite } from '../files/write-file.ts';
import { showJson } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';

/** The runtimes with an example. */
export const exampleDrivers = ['command', 'exo', 'mlx', 'llamacpp'] as const;

export type ExampleDriver = (typeof exampleDrivers)[number];

interface ExampleWish {
  readonly driver: ExampleDriver;
  /** True for an endpoint in the office network. */
  readonly isPublished: boolean;
}

/** The example's `runtimes:` and the changes to its placement, as a person would write them. */
const runtimes: Readonly<
  Record<Exclude<ExampleDriver, 'command'>, { readonly text: string; readonly placement: Swaps }>
> = {
  exo: {
    text: `  exo:
    driver: exo
    version: "1.0.71"
`,
    placement: { runtime: 'exo', transport: 'rdma' },
  },
  mlx: {
    text: `  mlx:
    driver: mlx
    python: "3.12"
    requirements: ./requirements.lock   # uv pip compile --generate-hashes
`,
    placement: { runtime: 'mlx', transport: 'rdma' },
  },
  llamacpp: {
    text: `  llamacpp:
    driver: llamacpp-rpc
    version: b10950
`,
    placement: { runtime: 'llamacpp', sharding: 'pipeline', transport: 'rdma', context: '512' },
  },
};

type Swaps = Readonly<Record<string, string>>;

const publishedEndpoint = `    endpoint: { port: 8080, listen: lan, servedName: tiny, access: anybody }
`;

/** @throws Error if the example has changed but this code has not, which is a bug */
function replaced(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`the example has nothing like ${pattern.source}`);
  return text.replace(pattern, () => by);
}

/** The example file for a different runtime, or with a published endpoint. All other text is kept, even comments. */
export function exampleText(example: string, { driver, isPublished }: ExampleWish): string {
  const { text, placement } = driver === 'command' ? { text: undefined, placement: {} } : runtimes[driver];
  let file = text === undefined ? example : replaced(example, /(?<=^runtimes:\n)(?: .*\n)+/m, text);
  for (const [key, value] of Object.entries(placement)) {
    file = replaced(file, new RegExp(`(?<=^placements:\\n(?: .*\\n)*    ${key}: ).*`, 'm'), value);
  }
  if (driver === 'exo') file = replaced(file, /(?<=source: \.\/models\/tiny)/, ', repository: acme/tiny');
  if (!isPublished) return file;
  return replaced(file, /^ {4}endpoint: .*\n/m, publishedEndpoint);
}

const example = new URL('../../../cluster.example.yaml', import.meta.url);

/** Large enough to show progress, small enough for a busy computer. */
const modelBytes = 8_388_608;

/**
 * Writes the example into a folder, together with the files that a simulation cannot replace: the reference runtime's
 * archive, and a model in the runtime's format.
 */
export async function prepareDemo(
  folder: string,
  wish: ExampleWish = { driver: 'command', isPublished: false },
): Promise<void> {
  await writeFile(join(folder, 'cluster.yaml'), exampleText(await readFile(example, 'utf8'), wish));
  const model = join(folder, 'models/tiny');
  switch (wish.driver) {
    case 'command':
      await writeReferenceArchive(join(folder, 'dist/reference.tar.gz'));
      await writeTinyModel(model, modelBytes);
      return;
    case 'exo':
    case 'mlx':
      return writeIndexedModel(model);
    case 'llamacpp':
      await writeTinyGguf(join(model, 'tiny.gguf'));
  }
}

const schemaFile = new URL('../../../schemas/cluster.schema.json', import.meta.url);

/** `sim example FOLDER`: writes the demo's example and all its files, so that a simulation can run until it answers. */
export const simExample: VerbBody = async (run) => {
  const [shown = ''] = run.words;
  const driver = driverOf(run.own['runtime']);
  const isPublished = run.own['published'] === true;
  const folder = emptyFolder(run, shown);
  await prepareDemo(folder, { driver, isPublished });
  // The example's first line names the schema, for editors that complete keys.
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
  throw usageError(`There is no example for ${JSON.stringify(asked)}.`, `Use one of: ${exampleDrivers.join(', ')}`);
}

const written = (
  shown: string,
  driver: ExampleDriver,
  isPublished: boolean,
): string => `Wrote cluster.yaml to ${shown}, with the files it needs for a simulated rack:
${driver === 'command' ? 'a small reference runtime in dist/, a stand-in for a model in models/.' : 'a stand-in for a model in models/.'} Editors
complete its keys with schemas/.
${driver === 'command' && !isPublished ? '' : 'The simulation replaces each program that is missing in dist/ with a stand-in.\n'}
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
