import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { contextTokens, memoryLabelBytes } from '../../desired/amounts.ts';
import { guess } from '../../desired/did-you-mean.ts';
import { loadedModels } from '../../desired/layouts.ts';
import { requirementsName, settlePackages } from '../../desired/settle/python-packages.ts';
import { settleFleet } from '../../desired/settle/settle.ts';
import { type ArchiveFact, absolutePath, extraName, sourceOf } from '../../desired/settle/settle-trees.ts';
import { isTreePath } from '../../desired/tree-paths.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import { systemCode } from '../../diagnostics/diagnostic.ts';
import { type FitHow, judgeModelFit } from '../../drivers/fit-command.ts';
import { knownNames, type NamedModel, namedModel } from '../../drivers/known/known-models.ts';
import type { PublishedBuild } from '../../drivers/known/tables.ts';
import { driverOf, isDriver, keysByDriver } from '../../drivers/registry.ts';
import type { DesiredFleet, DesiredModel, DesiredNode, DesiredRuntime, DriverName } from '../../model/desired.ts';
import type { FitFleet, ModelFit } from '../../model/fit.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import { macIdOf, macModel } from '../../model/macs.ts';
import type { ModelShape, ShapeFact } from '../../model/model-shape.ts';
import { nodeName } from '../../model/node.ts';
import { modelSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { jsonEntries } from '../../rack/artifacts/shapes/safetensors.ts';
import { membersOf } from '../../rack/artifacts/shapes/safetensors-shape.ts';
import { judgeFiles, openCluster } from '../cluster/open-cluster.ts';
import { fileRequest, hostRequest, modelRequests, needTrust } from '../cluster/trust.ts';
import { findClusterFile } from '../files/places.ts';
import { readArchive } from '../sources/controller-source.ts';
import { webAccess } from '../sources/http-get.ts';
import { type ByteSource, folderSource, readShape, readText, unknownShape, urlSource } from '../sources/read-shapes.ts';
import { type Run, readCountOption, textOption, usageError } from '../verb.ts';
import { publishedShape } from './published-shape.ts';

interface FitSubject {
  readonly name: string;
  readonly shape: ModelShape;
  /** The model's repository, if the file or the name gives it. */
  readonly repository?: string;
  /** Set if the sizes are only published values. */
  readonly published?: PublishedBuild;
}

/** True if an argument is a folder, file or URL rather than a model name in the cluster file. */
const isPlace = (word: string): boolean => /[/\\]|\.gguf$/i.test(word);

/** A known model, from published dimensions and sizes. @throws FleetError `model/shape-unknown` */
function publishedSubject(known: NamedModel): FitSubject {
  const { model, build } = known;
  const shape = knownShape(model.name, publishedShape(known));
  return { name: model.name, shape, ...(build && { repository: build.repository, published: build }) };
}

/** The shape of a model in a folder, a `.gguf` file, or below a URL. @throws FleetError `model/shape-unknown` */
async function subjectAt(run: Run, word: string): Promise<FitSubject> {
  const isUrl = /^https?:\/\//.test(word);
  const found = await (isUrl ? shapeAtUrl(run, word) : shapeInFolder(run, word));
  const name = basename(word.split(/[?#]/)[0] ?? '') || 'model';
  return { name, shape: knownShape(word, found) };
}

function knownShape(word: string, found: ShapeFact): ModelShape {
  if (found.kind === 'known') return found.shape;
  throw failure('model/shape-unknown', { subject: modelSubject(word), detail: `Its size is unknown: ${found.why}.` });
}

const partName = /^(.*)-\d{5}-of-(\d{5})\.gguf$/;

/** All parts of the GGUF model that contains this file. */
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
    if (!(await stat(path)).isDirectory()) return unknownShape('the path is neither a folder nor a .gguf file');
    return await readShape(folderSource(path), await filesIn(path));
  } catch (error) {
    const code = systemCode(error) ?? '';
    return unknownShape(code === 'ENOENT' ? 'the path does not exist' : `the path cannot be read (${code})`);
  }
}

/** The files of a folder and of its direct subfolders. */
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
    return readShape(urlSource(word.slice(0, slash + 1), webAccess(run)), partsOf(word.slice(slash + 1)));
  }
  const source = urlSource(word.endsWith('/') ? word : `${word}/`, webAccess(run));
  return weightsAt(source).then((weights) => readShape(source, ['config.json', ...weights]));
}

const indexName = 'model.safetensors.index.json';
/** The largest models have an index of about ten megabytes. */
const mostIndexBytes = 64 * 2 ** 20;

/** The weight files of a model, listed in its index; without an index, the default file. */
async function weightsAt(source: ByteSource): Promise<readonly string[]> {
  const index = await readText(source, indexName, mostIndexBytes);
  const text = index.kind === 'text' ? index.text : '{}';
  const map = membersOf(new Map(jsonEntries(text) ?? []).get('weight_map'));
  const names = [...new Set(map.values())].filter((name) => typeof name === 'string');
  const weights = names.filter(isTreePath);
  return weights.length === 0 ? ['model.safetensors'] : weights;
}

/** A known model whose files are not in the lock yet, if the file uses all of its repository. */
const publishedOf = ({ shape, source, hub }: DesiredModel): NamedModel | undefined =>
  shape === undefined && source.kind === 'hub' && hub !== undefined && hub.include === undefined
    ? namedModel(hub.repository)
    : undefined;

/** The shape of a model in the file: from the lock, from the model's source, or as published. */
async function shapeOf(run: Run, model: DesiredModel, baseFolder: string): Promise<ShapeFact> {
  const { shape, source, files } = model;
  if (shape !== undefined) return { kind: 'known', shape };
  switch (source.kind) {
    case 'node':
      return unknownShape(
        'its files are on the nodes (plan reads their headers, and apply stores the shape in the lock)',
      );
    case 'hub': {
      const known = publishedOf(model);
      return known === undefined
        ? unknownShape('its files are not in the lock yet (`plan` resolves them)')
        : publishedShape(known);
    }
    case 'url':
      await needTrust(run, hostRequest(source.base, model.name));
      return readShape(
        urlSource(source.base, webAccess(run)),
        files.map(({ path }) => path),
      );
    case 'controller': {
      const folder = absolutePath(baseFolder, source.folder);
      await needTrust(run, modelRequests({ models: [model] }, baseFolder));
      const there = await filesIn(folder).catch(() => []);
      await needTrust(
        run,
        modelRequests({ models: [{ ...model, files: there.map((path) => ({ path })) }] }, baseFolder),
      );
      return shapeInFolder(run, folder);
    }
  }
}

/** A model in the file, by name. @throws FleetError `cli/usage`, `model/shape-unknown` */
async function subjectInFile(run: Run, name: string, { fleet, baseFolder }: FitFile): Promise<FitSubject> {
  const model = fleet.models.find((one) => one.name === name);
  if (model === undefined) {
    const names = fleet.models.map((one) => one.name);
    const inFile = names.length === 0 ? 'The file has no models.' : `Models: ${listText(names)}.`;
    throw usageError(
      `The file has no model ${JSON.stringify(name)}, and meshwright knows no model of this name.`,
      `${guess(name, [...names, ...knownNames])}${inFile} Known models: docs/known-models.md. Enter a folder with a slash: ./${name}`,
    );
  }
  const { repository } = model;
  const shape = knownShape(name, await shapeOf(run, model, baseFolder));
  return { name, shape, ...given({ repository, published: publishedOf(model)?.build }) };
}

/** Adds the shapes that this computer can read to the models. */
const withShapes = (run: Run, models: readonly DesiredModel[], baseFolder: string): Promise<readonly DesiredModel[]> =>
  Promise.all(
    models.map(async (model) => {
      const found = await shapeOf(run, model, baseFolder);
      return found.kind === 'known' ? { ...model, shape: found.shape } : model;
    }),
  );

interface FitFile {
  readonly fleet: DesiredFleet;
  readonly baseFolder: string;
}

/**
 * The driver and version from `--runtime` and `--mlx-lm`, otherwise those of the model's placement. Without either, the
 * model's format determines the driver.
 * @throws FleetError `cli/usage`
 */
async function readRuntime(run: Run, model: string, file: FitFile | undefined) {
  const word = textOption(run, 'runtime');
  const ofModel = file?.fleet.placements.find((placement) => placement.model === model)?.runtime;
  const runtime = file?.fleet.runtimes.find(({ name }) => name === (word ?? ofModel));
  if (word !== undefined && runtime === undefined && !isDriver(word)) {
    throw usageError(`Unknown runtime "${word}".`, 'Enter mlx, exo, llamacpp-rpc, command, or a runtime in the file.');
  }
  const driver = runtime?.driver ?? (word !== undefined && isDriver(word) ? word : undefined);
  const asked = versionOption(run);
  const mlxLm = asked ?? (file === undefined ? undefined : await lockedMlxLm(run, runtime, file));
  const isFork = asked === undefined && runtime !== undefined && sourceOf(runtime) !== undefined;
  const fork = isFork ? ({ isFork } as const) : {};
  return given({ driver, mlxLm, ...fork, exo: runtime && driverOf(runtime).versionOf?.(runtime) });
}

function versionOption(run: Run): string | undefined {
  const version = textOption(run, 'mlxLm');
  if (version === undefined || /^\d{1,4}(?:\.\d{1,4}){1,3}(?:\.?[a-z]{1,8}\d{0,4})?$/.test(version)) return version;
  throw usageError(`"${version}" is not a valid version of mlx-lm.`, 'Enter a version such as 0.31.3.');
}

/** The version in an mlx runtime's package list, if this computer has the list. */
async function lockedMlxLm(
  run: Run,
  runtime: DesiredRuntime | undefined,
  { baseFolder }: FitFile,
): Promise<string | undefined> {
  if (runtime?.python === undefined) return undefined;
  const lists = runtime.extras.filter(({ name }) => name === requirementsName);
  const read = lists.map(async ({ name, source }): Promise<readonly [string, ArchiveFact]> => {
    await needTrust(run, [fileRequest(run, baseFolder, source, runtime.name)]);
    return [extraName(runtime.name, name), await readArchive(absolutePath(baseFolder, source), run.signal)];
  });
  const archives = Object.fromEntries(await Promise.all(read));
  return settlePackages(runtime, { archives, folders: {} }, keysByDriver).runtime.packages?.['mlx-lm'];
}

/** A Mac for the model: a node in the file or an imaginary Mac. */
type FitNode = Pick<DesiredNode, 'name' | 'hardware'>;

/** The maximum number of nodes in a placement. */
const mostNodes = 16;

const exampleMacs =
  'Name nodes in the file, or Macs with their memory: --on studio-1,studio-2, --on 2xMac15,14:512GB or --on "2xM3 Ultra:512GB"';

const thoughtUp =
  /^(?:([1-9][0-9]{0,2})x)?([A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}|M[0-9]{1,2}(?: [A-Z][a-z]+)?):([0-9]+(?:GB|GiB))$/;

/** The values of `--on`, one per node or kind of Mac; a comma inside an identifier is not a separator. */
const onWords = (words: readonly string[]): readonly string[] =>
  words
    .flatMap((word) => word.split(/\+|,(?![0-9]{1,3}(?::|$))/))
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** True if a value describes imaginary Macs. */
const isThoughtUp = (word: string): boolean => /^(?:[0-9]+x)?[A-Z]/.test(word);

/**
 * The Macs named by `--on`, in rank order.
 * @param fleet the file's fleet; undefined if no value names one of its nodes
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
    throw usageError(`The file has no memory size for ${word}.`, `Add it to ${word}: hardware: { memory: 512GB }`);
  }
  return node;
}

/** Imaginary Macs of one kind, numbered consecutively across all values. */
function thinkUp(word: string, counts: Map<string, number>, fleet: DesiredFleet | undefined): readonly FitNode[] {
  const [, count = '1', kind = '', memory = ''] = thoughtUp.exec(word) ?? [];
  const memoryBytes = memoryLabelBytes(memory);
  const model = kind.includes(',') ? kind : macIdOf(kind);
  if (memoryBytes === undefined || model === undefined)
    throw usageError(`${JSON.stringify(word)} is neither a node nor a number of Macs with memory.`, exampleMacs);
  const short = (macModel(model)?.name.split(' ')[1] ?? 'mac').toLowerCase();
  return Array.from({ length: Number(count) }, () => {
    const number = (counts.get(short) ?? 0) + 1;
    counts.set(short, number);
    const name = `${short}-${number}`;
    const isTaken = fleet?.nodes.some((node) => node.name === name) ?? false;
    return { name: nodeName(isTaken ? `new-${name}` : name), hardware: { model, memoryBytes } };
  });
}

/** More Macs of this kind, up to the maximum in a placement; none if these Macs differ. */
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

/** Calculates whether a model fits on Macs; contacts no node. @throws FleetError `cli/usage`, `model/shape-unknown` */
export async function fitModel(run: Run): Promise<ModelFit & { readonly published?: PublishedBuild }> {
  const [word, another] = run.words;
  if (word === undefined) throw usageError('No model was specified.', example);
  if (another !== undefined)
    throw usageError(`fit takes only one model, but there is a second one: ${JSON.stringify(another)}.`, example);
  const words = onWords(Array.isArray(run.own['on']) ? run.own['on'].map(String) : []);
  const known = publishedModel(run, word);
  const isInFile = known === undefined && !isPlace(word);
  const isAboutFile = isInFile || words.some((one) => !isThoughtUp(one)) || run.options.file !== undefined;
  if (isInFile && findClusterFile(run.options.file, run.env, run.folder) === undefined) throw unknownName(word);
  const file = isAboutFile ? fileOf(run) : undefined;
  const macs = readMacs(words, file?.fleet);
  const settings = { ...readSettings(run), ...(await readRuntime(run, word, file)) };
  const subject = known === undefined ? await subjectOf(run, word, file) : publishedSubject(known);
  const driver = driverFor(run, settings.driver, subject.shape);
  const fleet = await fleetFor(run, subject, macs, file);
  const more = file === undefined ? moreLike(macs) : [];
  const links = file !== undefined && areDeclared(macs, file) ? file.fleet.thunderbolt.links : undefined;
  const { published, ...asked } = subject;
  const found = judgeModelFit({ ...asked, macs, more, fleet, ...given({ links }) }, { ...settings, driver });
  return { ...found, ...given({ published }) };
}

const subjectOf = (run: Run, word: string, file: FitFile | undefined): Promise<FitSubject> =>
  isPlace(word) || file === undefined ? subjectAt(run, word) : subjectInFile(run, word, file);

/** The known model of this name, unless the cluster file has a model or this computer has a folder of the same name. */
function publishedModel(run: Run, word: string): NamedModel | undefined {
  const known = namedModel(word);
  if (known === undefined || existsSync(resolve(run.folder, word))) return undefined;
  const isInFile =
    findClusterFile(run.options.file, run.env, run.folder) !== undefined &&
    judgeFiles(run).fleet?.models.some(({ name }) => name === word) === true;
  return isInFile ? undefined : known;
}

const unknownName = (word: string): Error =>
  usageError(
    `meshwright knows no model ${JSON.stringify(word)}, and there is no cluster.yaml in this folder or above it.`,
    `${guess(word, knownNames)}Known models: docs/known-models.md. Enter a folder with a slash: ./${word}`,
  );

/** True if all Macs are nodes in the file, so that the file's cables and other nodes count. */
const areDeclared = (macs: readonly FitNode[], { fleet: { nodes } }: FitFile): boolean =>
  macs.every(({ name }) => nodes.some((node) => node.name === name));

function fileOf(run: Run): FitFile {
  const { path, fleet, lock } = openCluster(run);
  const baseFolder = dirname(path);
  return { fleet: settleFleet(fleet, lock, { archives: {}, folders: {} }, baseFolder, keysByDriver).fleet, baseFolder };
}

function readSettings(run: Run): Omit<FitHow, 'driver'> {
  const [context, sharding] = [textOption(run, 'context') ?? usualContext, textOption(run, 'sharding')];
  const tokens = contextTokens(context);
  if (tokens === undefined)
    throw usageError(`"${context}" is not a valid context length.`, 'Enter a number of tokens, such as 8192 or 128k.');
  if (sharding !== undefined && sharding !== 'tensor' && sharding !== 'pipeline') {
    throw usageError(`"${sharding}" is not a valid sharding.`, 'Enter tensor or pipeline.');
  }
  return { ...given({ sharding }), contextTokens: tokens, parallel: readCountOption(run, 'requests') ?? 1 };
}

/** The requested driver, or else the driver for the model's format. */
function driverFor(run: Run, asked: DriverName | undefined, { format }: ModelShape): DriverName {
  const chosen = asked ?? (format === 'gguf' ? 'llamacpp-rpc' : 'mlx');
  if (chosen === 'mlx' || textOption(run, 'mlxLm') === undefined) return chosen;
  throw usageError(`--mlx-lm does not apply to ${chosen}.`, 'Leave out --mlx-lm, or add --runtime mlx.');
}

/** The fleet for the calculation, including other placements in the file that serve on these nodes. */
async function fleetFor(
  run: Run,
  { name: subject }: FitSubject,
  macs: readonly FitNode[],
  file: FitFile | undefined,
): Promise<FitFleet> {
  if (file === undefined) return { system: {}, nodes: macs, runtimes: [], models: [], placements: [] };
  const { system, nodes, runtimes, models, placements } = file.fleet;
  const isChosen = (node: string): boolean => macs.some(({ name }) => name === node);
  const beside = placements.filter(
    (one) => one.model !== subject && one.state === 'serving' && one.nodes.some(isChosen),
  );
  const others = models.filter(({ name }) => beside.some((one) => loadedModels(one).includes(name)));
  return {
    system,
    nodes: [...macs, ...(areDeclared(macs, file) ? nodes.filter(({ name }) => !isChosen(name)) : [])],
    runtimes,
    models: await withShapes(run, others, file.baseFolder),
    placements: beside,
  };
}
