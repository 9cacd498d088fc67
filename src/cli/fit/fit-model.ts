import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { contextTokens, memoryLabelBytes } from '../../desired/amounts.ts';
import { didYouMean, listText } from '../../desired/did-you-mean.ts';
import { requirementsName, settlePackages } from '../../desired/settle/python-packages.ts';
import { settleFleet } from '../../desired/settle/settle.ts';
import { type ArchiveFact, absolutePath, extraName } from '../../desired/settle/settle-trees.ts';
import { isTreePath } from '../../desired/tree-paths.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import { judgeModelFit } from '../../drivers/judge-model-fit.ts';
import { isDriver, keysByDriver } from '../../drivers/registry.ts';
import type { DesiredFleet, DesiredModel, DesiredNode, DesiredRuntime, DriverName } from '../../model/desired.ts';
import type { FitFleet, ModelFit } from '../../model/fit.ts';
import { given } from '../../model/given.ts';
import { macModel } from '../../model/macs.ts';
import type { ModelShape, ShapeFact } from '../../model/model-shape.ts';
import { type Link, nodeName } from '../../model/node.ts';
import { modelSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { jsonEntries } from '../../rack/artifacts/shapes/safetensors.ts';
import { membersOf } from '../../rack/artifacts/shapes/safetensors-shape.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { type ByteSource, folderSource, readShape, readText, urlSource } from '../sources/read-shapes.ts';
import { readArchive } from '../sources/read-sources.ts';
import { type Run, readCountOption, textOption, usageError } from '../verb.ts';

/** A model that is to be fitted. */
interface FitSubject {
  readonly name: string;
  readonly shape: ModelShape;
}

/** Whether a word is a place of files, and no name of the cluster file. */
const isPlace = (word: string): boolean => /[/\\]|\.gguf$/i.test(word);

/** The shape of a model at a place: a folder, a `.gguf` file, the base of URLs. @throws FleetError `model/shape-unknown` */
async function subjectAt(run: Run, word: string): Promise<FitSubject> {
  const isUrl = /^https?:\/\//.test(word);
  const found = await (isUrl ? shapeAtUrl(run, word) : shapeInFolder(run, word));
  const name = basename(word.split(/[?#]/)[0] ?? '') || 'model';
  return { name, shape: knownShape(word, found) };
}

function knownShape(word: string, found: ShapeFact): ModelShape {
  if (found.kind === 'known') return found.shape;
  throw new FleetError([
    diagnose('model/shape-unknown', {
      subject: modelSubject(word),
      detail: `Nothing is known of its size: ${found.why}.`,
    }),
  ]);
}

const partName = /^(.*)-\d{5}-of-(\d{5})\.gguf$/;

/** All parts of the GGUF model that this file belongs to. */
function partsOf(file: string): readonly string[] {
  const [, stem, count] = partName.exec(file) ?? [];
  if (stem === undefined || count === undefined) return [file];
  return Array.from(
    { length: Number(count) },
    (_, index) => `${stem}-${String(index + 1).padStart(5, '0')}-of-${count}.gguf`,
  );
}

async function shapeInFolder(run: Run, word: string): Promise<ShapeFact> {
  const path = resolve(run.folder, word);
  if (/\.gguf$/i.test(path)) return readShape(folderSource(dirname(path)), partsOf(basename(path)));
  try {
    if (!(await stat(path)).isDirectory()) return { kind: 'unknown', why: 'it is neither a folder nor a .gguf file' };
    return await readShape(folderSource(path), await filesIn(path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return { kind: 'unknown', why: code === 'ENOENT' ? 'it is not there' : `it cannot be read (${code})` };
  }
}

/** The files of a folder and of the folders in it. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const inside = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => (await readdir(join(folder, name))).map((file) => `${name}/${file}`)),
  );
  return [...entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name), ...inside.flat()];
}

function shapeAtUrl(run: Run, word: string): Promise<ShapeFact> {
  if (/\.gguf$/i.test(word)) {
    const slash = word.lastIndexOf('/');
    return readShape(urlSource(word.slice(0, slash + 1), run.signal), partsOf(word.slice(slash + 1)));
  }
  const source = urlSource(word.endsWith('/') ? word : `${word}/`, run.signal);
  return weightsAt(source).then((weights) => readShape(source, ['config.json', ...weights]));
}

const indexName = 'model.safetensors.index.json';
/** Those of the largest models have some ten megabytes. */
const mostIndexBytes = 64 * 2 ** 20;

/** The files of weights below a base: those that the index names; one without an index is one file. */
async function weightsAt(source: ByteSource): Promise<readonly string[]> {
  const index = await readText(source, indexName, mostIndexBytes);
  const text = index.kind === 'text' ? index.text : '{}';
  const map = membersOf(new Map(jsonEntries(text) ?? []).get('weight_map'));
  const names = [...new Set(map.values())].filter((name) => typeof name === 'string');
  const weights = names.filter(isTreePath);
  return weights.length === 0 ? ['model.safetensors'] : weights;
}

/** The shape of a model of the file: as the lock has it, else from where the file says that it is. */
async function shapeOf(run: Run, model: DesiredModel, baseFolder: string): Promise<ShapeFact> {
  const { shape, source, files } = model;
  if (shape !== undefined) return { kind: 'known', shape };
  switch (source.kind) {
    case 'node':
      return {
        kind: 'unknown',
        why: 'its files lie on the nodes, where plan reads their headers and apply keeps them in the lock',
      };
    case 'url':
      return readShape(
        urlSource(source.base, run.signal),
        files.map(({ path }) => path),
      );
    case 'controller':
      return shapeInFolder(run, absolutePath(baseFolder, source.folder));
  }
}

/** A model of the file by its name. @throws FleetError `cli/usage`, `model/shape-unknown` */
async function subjectInFile(
  run: Run,
  name: string,
  { fleet, baseFolder }: { readonly fleet: DesiredFleet; readonly baseFolder: string },
): Promise<FitSubject> {
  const model = fleet.models.find((one) => one.name === name);
  if (model === undefined) {
    const names = fleet.models.map((one) => one.name);
    const near = didYouMean(name, names);
    const guess = near === undefined ? '' : `Did you mean ${near}? `;
    const known = names.length === 0 ? 'It has none.' : `It has ${listText(names)}.`;
    throw usageError(
      `The file has no model ${JSON.stringify(name)}.`,
      `${guess}${known} A folder has a slash: ./${name}`,
    );
  }
  return { name, shape: knownShape(name, await shapeOf(run, model, baseFolder)) };
}

/** Models of a fleet with the shapes that can be read here; those that cannot stay without. */
const withShapes = (run: Run, models: readonly DesiredModel[], baseFolder: string): Promise<readonly DesiredModel[]> =>
  Promise.all(
    models.map(async (model) => {
      const found = await shapeOf(run, model, baseFolder);
      return found.kind === 'known' ? { ...model, shape: found.shape } : model;
    }),
  );

/** With what a model is to be run. */
interface FitRuntime {
  /** Absent where it follows from the format of the model. */
  readonly driver?: DriverName;
  /** The version of mlx-lm, where somebody said it. */
  readonly mlxLm?: string;
}

/** The file that a question is about. */
interface FitFile {
  readonly fleet: DesiredFleet;
  readonly baseFolder: string;
}

/** What `--runtime` and `--mlx-lm` say, else the runtime of the placement that has the model. @throws FleetError `cli/usage` */
async function readRuntime(run: Run, model: string, file: FitFile | undefined): Promise<FitRuntime> {
  const word = textOption(run, 'runtime');
  const ofModel = file?.fleet.placements.find((placement) => placement.model === model)?.runtime;
  const runtime = file?.fleet.runtimes.find(({ name }) => name === (word ?? ofModel));
  if (word !== undefined && runtime === undefined && !isDriver(word)) {
    throw usageError(`"${word}" is no runtime.`, 'Say mlx, exo, llamacpp-rpc or command, or a runtime of the file.');
  }
  const driver = runtime?.driver ?? (word !== undefined && isDriver(word) ? word : undefined);
  const mlxLm = versionOption(run) ?? (file === undefined ? undefined : await lockedMlxLm(run, runtime, file));
  return { ...given({ driver, mlxLm }) };
}

function versionOption(run: Run): string | undefined {
  const version = textOption(run, 'mlxLm');
  if (version === undefined || /^\d{1,4}(?:\.\d{1,4}){1,3}(?:\.?[a-z]{1,8}\d{0,4})?$/.test(version)) return version;
  throw usageError(`"${version}" is no version of mlx-lm.`, 'Say one such as 0.31.3.');
}

/** The version that the locked list of a runtime of mlx has, where it lies here. */
async function lockedMlxLm(
  run: Run,
  runtime: DesiredRuntime | undefined,
  { baseFolder }: FitFile,
): Promise<string | undefined> {
  if (runtime?.python === undefined) return undefined;
  const lists = runtime.extras.filter(({ name }) => name === requirementsName);
  const read = lists.map(async ({ name, source }): Promise<readonly [string, ArchiveFact]> => {
    return [extraName(runtime.name, name), await readArchive(absolutePath(baseFolder, source), run.signal)];
  });
  const archives = Object.fromEntries(await Promise.all(read));
  return settlePackages(runtime, { archives, folders: {} }, keysByDriver).runtime.packages?.['mlx-lm'];
}

/** A Mac that a model is put on: of the file, or thought up. */
type FitNode = Pick<DesiredNode, 'name' | 'hardware'>;

/** More than a placement has. */
const mostNodes = 16;

const exampleMacs =
  'Name nodes of the file, or Macs with their memory: --on studio-1,studio-2 or --on 2xMac15,14:512GB';

const thoughtUp = /^(?:([1-9][0-9]{0,2})x)?([A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}):([0-9]+(?:GB|GiB))$/;

/** The words of `--on`, one for each node or kind of Mac: a comma inside of an identifier parts nothing. */
const onWords = (words: readonly string[]): readonly string[] =>
  words
    .flatMap((word) => word.split(/\+|,(?![0-9]{1,3}(?::|$))/))
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** Whether a word is about Macs that are in no file. */
const isThoughtUp = (word: string): boolean => /^(?:[0-9]+x)?[A-Z]/.test(word);

/**
 * The Macs that `--on` names, in rank order.
 *
 * @param fleet of the file; undefined where no word names a node of it
 * @throws FleetError `cli/usage`
 */
export function readMacs(words: readonly string[], fleet: DesiredFleet | undefined): readonly FitNode[] {
  const counts = new Map<string, number>();
  const nodes = words.flatMap((word) => (isThoughtUp(word) ? thinkUp(word, counts, fleet) : [declared(word, fleet)]));
  if (nodes.length === 0) throw usageError('--on is missing.', exampleMacs);
  if (nodes.length > mostNodes) throw usageError(`A placement has at most ${mostNodes} nodes.`, exampleMacs);
  const twice = nodes.find(({ name }, index) => nodes.findIndex((other) => other.name === name) < index);
  if (twice !== undefined) throw usageError(`${twice.name} is named twice.`, exampleMacs);
  return nodes;
}

function declared(word: string, fleet: DesiredFleet | undefined): FitNode {
  const node = fleet?.nodes.find(({ name }) => name === word);
  if (node === undefined) throw usageError(`The file has no node ${JSON.stringify(word)}.`, exampleMacs);
  if (node.hardware.memoryBytes === undefined) {
    throw usageError(`The file does not say the memory of ${word}.`, `Add it: hardware: { memory: 512GB } at ${word}.`);
  }
  return node;
}

/** Macs of one kind, numbered on over all words. */
function thinkUp(word: string, counts: Map<string, number>, fleet: DesiredFleet | undefined): readonly FitNode[] {
  const [, count = '1', model = '', memory = ''] = thoughtUp.exec(word) ?? [];
  const memoryBytes = memoryLabelBytes(memory);
  if (memoryBytes === undefined)
    throw usageError(`${JSON.stringify(word)} is no number of Macs with memory.`, exampleMacs);
  const short = (macModel(model)?.name.split(' ')[1] ?? 'mac').toLowerCase();
  return Array.from({ length: Number(count) }, () => {
    const number = (counts.get(short) ?? 0) + 1;
    counts.set(short, number);
    const name = `${short}-${number}`;
    const isTaken = fleet?.nodes.some((node) => node.name === name) ?? false;
    return { name: nodeName(isTaken ? `new-${name}` : name), hardware: { model, memoryBytes } };
  });
}

/** As many Macs like these as a placement may have besides them, under further names; none where they are unequal. */
export function moreLike(macs: readonly FitNode[]): readonly FitNode[] {
  const last = macs.at(-1);
  const isAlike = ({ hardware: { model, memoryBytes } }: FitNode): boolean =>
    model === last?.hardware.model && memoryBytes === last?.hardware.memoryBytes;
  if (!macs.every(isAlike)) return [];
  const [, stem = '', number = '0'] = /^(.*?)-([0-9]+)$/.exec(last?.name ?? '') ?? [];
  if (last === undefined || stem === '') return [];
  return Array.from({ length: mostNodes - macs.length }, (_, index) => ({
    name: nodeName(`${stem}-${Number(number) + 1 + index}`),
    hardware: last.hardware,
  }));
}

const example = prose`For example: ${meshwright('fit', './models/tiny', '--on', '2xMac15,14:512GB')}`;
const usualContext = '8k';

/** Puts a model on Macs on paper: reaches no node. @throws FleetError `cli/usage`, `model/shape-unknown` */
export async function fitModel(run: Run): Promise<ModelFit> {
  const [word, another] = run.words;
  if (word === undefined) throw usageError('No model is named.', example);
  if (another !== undefined)
    throw usageError(`One model is fitted at a time; ${JSON.stringify(another)} is one more.`, example);
  const words = onWords(Array.isArray(run.own['on']) ? run.own['on'].map(String) : []);
  const isAboutFile = !isPlace(word) || words.some((one) => !isThoughtUp(one)) || run.options.file !== undefined;
  const file = isAboutFile ? fileOf(run) : undefined;
  const macs = readMacs(words, file?.fleet);
  const wish = { ...readWish(run), ...(await readRuntime(run, word, file)) };
  const subject =
    isPlace(word) || file === undefined ? await subjectAt(run, word) : await subjectInFile(run, word, file);
  const driver = driverFor(run, wish, subject.shape);
  const { name, shape } = subject;
  const fleet = await fleetFor(run, { subject, macs, file });
  const more = file === undefined ? moreLike(macs) : [];
  return judgeModelFit({ name, shape, macs, more, fleet, ...linksOf(macs, file) }, { ...wish, driver });
}

/** The cables of the file count where every Mac is one of it. */
function linksOf(macs: readonly FitNode[], file: FitFile | undefined): { readonly links?: readonly Link[] } {
  const links = file?.fleet.thunderbolt.links;
  const isDeclared = macs.every(({ name }) => file?.fleet.nodes.some((node) => node.name === name));
  return isDeclared && links !== undefined ? { links } : {};
}

/** The cluster file with what its lock knows. */
function fileOf(run: Run): FitFile {
  const { path, fleet, lock } = openCluster(run);
  const baseFolder = dirname(path);
  return { fleet: settleFleet(fleet, lock, { archives: {}, folders: {} }, baseFolder, keysByDriver).fleet, baseFolder };
}

interface Wish extends FitRuntime {
  readonly sharding?: 'tensor' | 'pipeline';
  readonly contextTokens: number;
  readonly parallel: number;
}

function readWish(run: Run): Wish {
  const [context, sharding] = [textOption(run, 'context') ?? usualContext, textOption(run, 'sharding')];
  const tokens = contextTokens(context);
  if (tokens === undefined) throw usageError(`"${context}" is no context.`, 'Say a number of tokens, or 128k.');
  if (sharding !== undefined && sharding !== 'tensor' && sharding !== 'pipeline') {
    throw usageError(`"${sharding}" is no way to split a model.`, 'Say tensor or pipeline.');
  }
  return {
    ...given({ sharding }),
    contextTokens: tokens,
    parallel: readCountOption(run, 'requests') ?? 1,
  };
}

/** What runs a model: what was asked for, else what its format is for. */
function driverFor(run: Run, { driver }: Wish, { format }: ModelShape): DriverName {
  const chosen = driver ?? (format === 'gguf' ? 'llamacpp-rpc' : 'mlx');
  if (chosen === 'mlx' || textOption(run, 'mlxLm') === undefined) return chosen;
  throw usageError(`--mlx-lm says nothing about ${chosen}.`, 'Leave it out, or say --runtime mlx.');
}

/** The fleet that the question is put to: what else serves on nodes of the file stays there. */
async function fleetFor(
  run: Run,
  {
    subject,
    macs,
    file,
  }: { readonly subject: FitSubject; readonly macs: readonly FitNode[]; readonly file: FitFile | undefined },
): Promise<FitFleet> {
  const others = file?.fleet.placements.filter((one) => one.model !== subject.name && one.state === 'serving') ?? [];
  const beside = others.filter(({ nodes }) => nodes.some((node) => macs.some(({ name }) => name === node)));
  const models = file?.fleet.models.filter(({ name }) => beside.some((one) => one.model === name)) ?? [];
  const read = file === undefined ? [] : await withShapes(run, models, file.baseFolder);
  const isDeclared = macs.every(({ name }) => file?.fleet.nodes.some((node) => node.name === name));
  const declared = file?.fleet.nodes.filter(({ name }) => isDeclared && !macs.some((mac) => mac.name === name)) ?? [];
  return {
    system: file?.fleet.system ?? {},
    nodes: [...macs, ...declared],
    runtimes: file?.fleet.runtimes ?? [],
    models: read,
    placements: beside,
  };
}
