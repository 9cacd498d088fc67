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

/** The drivers that an example can be written for. */
export const exampleDrivers = ['command', 'exo', 'mlx', 'llamacpp'] as const;

/** One of them. */
export type ExampleDriver = (typeof exampleDrivers)[number];

/** What an example is written for. */
interface ExampleWish {
  readonly driver: ExampleDriver;
  /** With an endpoint for the office network. */
  readonly isPublished: boolean;
}

/** `runtimes:` of the example, and what differs in its placement, as a person would write them. */
const runtimes: Readonly<
  Record<Exclude<ExampleDriver, 'command'>, { readonly text: string; readonly placement: Swaps }>
> = {
  exo: {
    text: `  exo:
    driver: exo
    archive: ./dist/EXO-1.0.71.dmg     # https://assets.exolabs.net/EXO-1.0.71.dmg
    version: "1.0.71"
`,
    placement: { runtime: 'exo', transport: 'rdma' },
  },
  mlx: {
    text: `  mlx:
    driver: mlx
    archive: ./dist/uv-aarch64-apple-darwin.tar.gz
    python: "3.12"
    requirements: ./requirements.lock   # uv pip compile --generate-hashes
`,
    placement: { runtime: 'mlx', transport: 'rdma' },
  },
  llamacpp: {
    text: `  llamacpp:
    driver: llamacpp-rpc
    archive: ./dist/llama-b9000-bin-macos-arm64.tar.gz
    server: llama-b9000/llama-server
    worker: llama-b9000/ggml-rpc-server
`,
    placement: { runtime: 'llamacpp', sharding: 'pipeline', transport: 'rdma', context: '512' },
  },
};

type Swaps = Readonly<Record<string, string>>;

const published = `doorman:
  node: ./dist/node-v22.22.0-darwin-arm64.tar.gz

`;

const publishedEndpoint = `    endpoint: { port: 8080, listen: lan, servedName: tiny, access: anybody }
`;

/** @throws Error when the example has changed and this has not, which is a bug */
function replaced(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`the example has nothing like ${pattern.source}`);
  return text.replace(pattern, () => by);
}

/** The example file for another runtime, or with a published endpoint. Everything else stays, comments included. */
export function exampleText(example: string, { driver, isPublished }: ExampleWish): string {
  const { text, placement } = driver === 'command' ? { text: undefined, placement: {} } : runtimes[driver];
  let file = text === undefined ? example : replaced(example, /(?<=^runtimes:\n)(?: .*\n)+/m, text);
  for (const [key, value] of Object.entries(placement)) {
    file = replaced(file, new RegExp(`(?<=^placements:\\n(?: .*\\n)*    ${key}: ).*`, 'm'), value);
  }
  if (driver === 'exo') file = replaced(file, /(?<=source: \.\/models\/tiny)/, ', repository: acme/tiny');
  if (!isPublished) return file;
  return replaced(replaced(file, /(?<=\n)(?=placements:\n)/, published), /^ {4}endpoint: .*\n/m, publishedEndpoint);
}

const example = new URL('../../../cluster.example.yaml', import.meta.url);

/** Large enough to be seen on its way, small enough for a computer that has other things to do. */
const modelBytes = 8_388_608;

/**
 * Puts the example into a folder, with what it names and a rehearsal has no double of: the archive of the reference
 * runtime, and a model of the kind that the runtime reads.
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
