import { guess } from '../../desired/did-you-mean.ts';
import { fitMesh } from '../../desired/fit-macs.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { PublishedBuild } from '../../drivers/known/tables.ts';
import type { FitDocument } from '../../model/documents.generated.ts';
import {
  canRun,
  type FitModel,
  type FitShape,
  type FitVerdict,
  fitMarks,
  isFullMesh,
  type MacCount,
  type MeshFit,
  type ModelFit,
  type NodeFit,
  nodeFitJson,
} from '../../model/fit.ts';
import { given } from '../../model/given.ts';
import { alike, listText } from '../../model/lists.ts';
import { avoidReason, macIdOf, macModel, macModelIds, macModelsDate } from '../../model/macs.ts';
import { type ModelShape, weightBytes } from '../../model/model-shape.ts';
import { linkEndText } from '../../model/node.ts';
import { modelSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { bytesText, tokensText } from '../../model/text/units.ts';
import { nodesText } from '../../report/nodes-text.ts';
import { counted, fitLines, hang, type Page, padEnd, pageText, type Tone } from '../../report/page.ts';
import { budgetWords } from '../../report/plan/memory-lines.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { diagnosticsJson, type Ended, pageFor, showDiagnostics, showJson } from '../terminal/console.ts';
import { flagOf, type Run, usageError, type VerbBody } from '../verb.ts';
import { fitModel } from './fit-model.ts';

/** The maximum number of Macs in a cluster file. */
const mostMacs = 256;

/**
 * `fit MODEL --on MACS`: calculates whether a model fits into the memory of Macs; `fit --mesh 5xMac15,14`: whether Macs
 * can be fully meshed, and with which cables. Contacts no node.
 */
export const fit: VerbBody = (run) => {
  if (run.own['mesh'] === undefined) return fitOnMacs(run);
  const [other] = [
    ...(run.options.file === undefined ? [] : ['--file']),
    ...modelOptions.filter((name) => run.own[name] !== undefined).map(flagOf),
    ...(run.words.length === 0 ? [] : ['a model']),
  ];
  if (other === undefined) return fitCables(run);
  throw usageError(
    `--mesh cannot be combined with ${other}.`,
    prose`fit checks either cables or a model's memory. See: ${meshwright('fit', '--help')}`,
  );
};

const modelOptions = ['on', 'context', 'requests', 'sharding', 'runtime', 'mlxLm'];

type FoundFit = Awaited<ReturnType<typeof fitModel>>;

async function fitOnMacs(run: Run): Promise<Ended> {
  if (run.words.length === 0 && run.own['on'] === undefined)
    throw usageError('Enter either --mesh, or a model and --on.', example);
  const found = await fitModel(run);
  const exit = canRun(found) ? exitCode.done : exitCode.failed;
  return { exit, document: modelDocument(found), text: modelFitText(found, pageFor(run.console)) };
}

function modelDocument(found: FoundFit): FitDocument {
  const { published, shape, nodes, verdict, problems, doubts, pace, mlxLm, exo, advice, ...settings } = found;
  return {
    formatVersion: 1,
    ...settings,
    fits: canRun(found),
    verdict,
    problems,
    doubts,
    ...given({ pace }),
    ...(mlxLm === undefined ? {} : { mlxLm: { version: mlxLm.version, assumed: mlxLm.isAssumed } }),
    ...(exo === undefined ? {} : { exo: { version: exo.version, assumed: exo.isAssumed } }),
    ...given({ advice }),
    ...(published === undefined ? {} : { published: publishedJson(published) }),
    nodes: nodes.map(nodeFitJson),
    shape: {
      format: shape.format,
      architecture: shape.architecture,
      layers: shape.layers.length,
      heads: shape.heads,
      kvHeads: shape.kvHeads,
      weightBytes: weightBytes(shape),
      hasOwnCode: shape.hasOwnCode,
    },
  };
}

const publishedJson = ({ repository, bytes, isRounded, source }: PublishedBuild) => ({
  repository,
  weightBytes: bytes,
  rounded: isRounded === true,
  source,
});

async function fitCables(run: Run): Promise<ExitCode> {
  const found = fitMesh(wantedMacs(run));
  const diagnostics = findings(found);
  if (run.options.json) showJson(run.console, fitDocument(found, diagnostics));
  else {
    run.console.out(fitText(found, pageFor(run.console)));
    if (diagnostics.length > 0) run.console.err('\n');
    showDiagnostics(run.console, diagnostics);
  }
  return isFullMesh(found) ? exitCode.done : exitCode.failed;
}

const example = prose`Enter the number and model of the Macs: ${meshwright('fit', '--mesh', '3xMac15,14', '2xMac16,11')}`;

/** The Macs in all `--mesh` options, given as separate values or joined by plus signs or commas. */
function wantedMacs(run: Run): readonly MacCount[] {
  const words = run.own['mesh'];
  if (!Array.isArray(words)) throw usageError('--mesh is missing.', example);
  // Identifiers contain a comma, and names of chips contain a space, so a separator is followed by a count or a Mac.
  const wanted = words
    .join(' ')
    .split(/[+]|[,\s](?=[0-9]+x|M(?:ac[A-Za-z]*)?[0-9])/)
    .map((word) => word.trim().replace(/,$/, ''))
    .filter((word) => word !== '')
    .map(wantedMac);
  const count = wanted.reduce((sum, one) => sum + one.count, 0);
  if (count < 2) throw usageError('A mesh has at least two Macs.', example);
  if (count > mostMacs) throw usageError(`A cluster file has at most ${mostMacs} Macs.`, example);
  return wanted;
}

function wantedMac(text: string): MacCount {
  const match = /^(?:([1-9][0-9]{0,3})x)?([A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}|M[0-9].*)$/.exec(text.trim());
  const [, count = '1', kind = ''] = match ?? [];
  const model = kind.includes(',') ? kind : macIdOf(kind);
  if (model === undefined) throw usageError(`${JSON.stringify(text)} is not a number and model of Macs.`, example);
  if (macModel(model) === undefined) throw unknownModel(model);
  return { model, count: Number(count) };
}

function unknownModel(model: string): Error {
  const known = macModelIds.filter((id) => macModel(id)?.thunderbolt === 5);
  return usageError(
    `The table of Macs (${macModelsDate}) has no ${model}.`,
    `${guess(model, macModelIds)}The Macs with Thunderbolt 5 are ${listText(known)}. All: docs/macs.md.`,
  );
}

/** Problems with some of the Macs, or with a receptacle that the largest full mesh uses. */
function findings({ models, mesh, carefulSize }: MeshFit): readonly Diagnostic[] {
  const doubtful = mesh?.doubtfulModels ?? [];
  return models.flatMap(({ model, name, thunderbolt }) => {
    const subject = modelSubject(model);
    if (thunderbolt === 4) {
      const detail = prose`A ${named(name)} has Thunderbolt 4 and can never use RDMA. It is left out of the mesh.`;
      const hint = 'Use a Mac with Thunderbolt 5 in the mesh. A Mac with Thunderbolt 4 can be a node only for TCP.';
      return [diagnose('topology/no-rdma', { subject, detail, hint })];
    }
    if (!doubtful.includes(model)) return [];
    const rest = carefulSize === 0 ? '' : ` A full mesh of ${carefulSize} Macs does not use it.`;
    const hint = `Test this receptacle before you rely on it. According to Apple, all receptacles support RDMA.${rest}`;
    const detail = macModel(model)?.avoid.map((number) => avoidReason(name, number)) ?? [];
    return [diagnose('topology/avoided-receptacle', { subject, detail: detail.join('\n'), hint })];
  });
}

const shapeJson = ({ macs, size, receptaclesEach, links, doubtfulModels }: FitShape) => ({
  size,
  macs,
  receptaclesEach,
  cables: links.length,
  links: links.map((ends) => ends.map(linkEndText).join(' <-> ')),
  doubtfulModels,
});

function fitDocument(found: MeshFit, diagnostics: readonly Diagnostic[]): FitDocument {
  const { models, asked, mesh, ring, carefulSize } = found;
  return {
    formatVersion: 1,
    asked,
    fits: isFullMesh(found),
    models,
    ...(mesh === undefined ? {} : { mesh: shapeJson(mesh) }),
    carefulSize,
    ...(ring === undefined ? {} : { ring: shapeJson(ring) }),
    diagnostics: diagnosticsJson({ isSimulated: false }, diagnostics),
  };
}

const verdictWords: Readonly<Record<FitVerdict, string>> = {
  fits: 'fits',
  'near-degraded': 'fits, but uses more than 60 % of the memory',
  degraded: 'fits, but uses more than 70 % of the memory, where meshes become slow',
  tight: 'is tight: uses more than 90 % of the GPU limit',
  'does-not-fit': 'does not fit',
};

/** Whether a model fits on these Macs, with each Mac's memory and marks, and the closest variant that fits. */
function modelFitText(fit: FoundFit, page: Page): string {
  const advice = fit.advice === undefined ? [] : fitLines(fit.advice, page.columns);
  return pageText([headLines(fit, page), ...groupNodes(fit.nodes).map((nodes) => nodeLines(nodes, page)), advice]);
}

function headLines(fit: FoundFit, page: Page): readonly string[] {
  const { model, verdict, problems, nodes } = fit;
  const on = nodesText(nodes.map(({ node }) => node));
  const verdictText = problems.length > 0 ? 'cannot run this way' : verdictWords[verdict];
  const tone: Tone = canRun(fit) ? (verdict === 'fits' ? 'good' : 'warn') : 'bad';
  const settings = [
    `${tokensText(fit.contextTokens)} of context`,
    `${counted(fit.parallel, 'request')} in parallel`,
    fit.sharding === undefined ? driverText(fit) : `${driverText(fit)}, ${fit.sharding}`,
  ];
  return [
    ...fitLines(escapeText(`${model} on ${on} ${verdictText}.`), page.columns).map((line) => page.paint(tone, line)),
    ...[...problems, ...fit.doubts, fit.pace ?? []].flat().flatMap((problem) => fitLines(problem, page.columns)),
    ...fitLines(`${shapeText(fit.shape)}; ${settings.join('; ')}.`, page.columns),
    ...(fit.published === undefined ? [] : publishedLines(fit.published, page)),
  ];
}

/** The source is never broken, so that it can be copied. */
function publishedLines({ repository, source, isRounded }: PublishedBuild, page: Page): readonly string[] {
  const size = isRounded === true ? 'Sizes (rounded to GB)' : 'Sizes';
  const caution = `${size} are published for ${repository}, not measured; the layers are assumed to be equal:`;
  return [...fitLines(caution, page.columns), `  ${source}`];
}

function driverText({ driver, mlxLm, exo }: ModelFit): string {
  const version = mlxLm ?? exo;
  if (version === undefined) return driver;
  return `${mlxLm === undefined ? driver : 'mlx-lm'} ${version.version}${version.isAssumed ? ' (assumed)' : ''}`;
}

function shapeText(shape: ModelShape): string {
  const { architecture, layers, attention, heads, kvHeads } = shape;
  const kinds = attention.kind === 'mla' ? `${heads} heads, MLA` : `${heads} heads over ${kvHeads}`;
  return `${architecture}, ${counted(layers.length, 'layer')}, ${kinds}, ${bytesText(weightBytes(shape))} of weights`;
}

const groupNodes = (nodes: readonly NodeFit[]) =>
  alike(nodes, ({ node: _, shares, ...rest }) =>
    JSON.stringify({ ...rest, shares: shares.map(({ rank: __, ...share }) => share) }),
  );

function nodeLines([first, nodes]: readonly [NodeFit, readonly NodeFit[]], page: Page): readonly string[] {
  const { needBytes, budget, memoryBytes = 0, shares, unknown } = first;
  const room = budget?.bytes ?? 0;
  const mine = shares.at(-1);
  const beside = shares.slice(0, -1).map(({ placement, need }) => `${placement} ${bytesText(need.total)}`);
  const also = [...beside, ...unknown.map((placement) => `${placement} (memory unknown)`)];
  const each = nodes.length > 1 ? ' each' : '';
  return [
    page.paint('strong', `${nodesText(nodes.map(({ node }) => node))}${each}`),
    ...(mine === undefined ? [] : hang('  needs   ', needParts(mine.need), page.columns)),
    ...(also.length === 0 ? [] : hang('  others  ', also.join(', '), page.columns)),
    ...hang(
      '  uses    ',
      `${bytesText(needBytes)} of ${bytesText(room)}, ${percent(needBytes, room)} of the GPU limit (${sourceOf(first)})`,
      page.columns,
    ),
    ...hang('  marks   ', marksText(memoryBytes, room), page.columns),
    `  ${bar(first, page)}`,
  ];
}

const sourceOf = ({ budget }: NodeFit): string => budgetWords[budget?.kind ?? 'assumed'];

const percent = (part: number, whole: number): string => (whole === 0 ? '?' : `${Math.round((100 * part) / whole)} %`);

function needParts({ weights, cache, loading, process, total, ...need }: NodeFit['shares'][number]['need']): string {
  const computing = need.compute + need.promptCache;
  const later =
    loading > cache + computing
      ? `loading ${bytesText(loading)}`
      : `cache ${bytesText(cache)}, computing ${bytesText(computing)}`;
  return `weights ${bytesText(weights)}, ${later}, process ${bytesText(process)}: ${bytesText(total)}`;
}

const marksText = (memory: number, room: number): string =>
  `60 % of the memory ${bytesText(fitMarks.nearDegraded * memory)}, 70 % ${bytesText(fitMarks.degraded * memory)}, 90 % of the GPU ${bytesText(fitMarks.tight * room)}`;

/** The memory as a bar with the three marks; `>` at the end means that the model needs more than the whole memory. */
function bar({ needBytes, budget, memoryBytes = 0 }: NodeFit, page: Page): string {
  const width = Math.min(60, page.columns - 6);
  const at = (bytes: number): number => Math.round((width * bytes) / Math.max(1, memoryBytes));
  const marks = [
    fitMarks.nearDegraded * memoryBytes,
    fitMarks.degraded * memoryBytes,
    fitMarks.tight * (budget?.bytes ?? 0),
  ].map(at);
  const filled = at(needBytes);
  const cells = Array.from({ length: width }, (_, cell) => {
    if (marks.includes(cell)) return '|';
    return cell < filled ? '#' : '.';
  });
  return `[${cells.join('')}]${filled > width ? '>' : ''}`;
}

/** The verdict on whether all or some of the Macs can be fully meshed, and the cables in `cluster.yaml` syntax. */
function fitText(fit: MeshFit, page: Page): string {
  const ring = isFullMesh(fit) ? undefined : fit.ring;
  return pageText([
    answerLines(fit, page),
    modelLines(fit.models, page),
    fit.mesh === undefined ? [] : linkLines('Cables for the full mesh', fit.mesh, page),
    ring === undefined ? [] : linkLines('Cables for the ring', ring, page),
  ]);
}

/** `10 cables, 4 receptacles in each Mac`. */
const needText = ({ links, receptaclesEach }: FitShape): string =>
  `${counted(links.length, 'cable')}, ${counted(receptaclesEach, 'receptacle')} in each Mac`;

const macsText = ({ macs }: FitShape): string => macs.map(({ model, count }) => `${count} x ${model}`).join(', ');

function answerLines(fit: MeshFit, page: Page): readonly string[] {
  const { asked, mesh, ring } = fit;
  const fitted = (tone: 'good' | 'bad', text: string): readonly string[] =>
    fitLines(text, page.columns).map((line) => page.paint(tone, line));
  if (mesh !== undefined && isFullMesh(fit)) {
    return fitted('good', `A full mesh of all ${asked} Macs is possible: ${needText(mesh)}.`);
  }
  const largest =
    mesh === undefined
      ? 'None of these Macs can use RDMA with each other.'
      : `The largest full mesh has ${mesh.size} Macs: ${macsText(mesh)}; ${needText(mesh)}.`;
  const round = ring && [
    `A ring of ${ringSizeText(ring, asked)} is possible: ${needText(ring)}.`,
    'A ring supports pipeline sharding; tensor sharding needs a full mesh.',
  ];
  return [
    ...fitted('bad', `A full mesh of all ${asked} Macs is not possible: ${reasonText(fit)}.`),
    ...[largest, ...(round ?? [])].flatMap((text) => fitLines(text, page.columns)),
  ];
}

const reasonText = ({ asked, models }: MeshFit): string =>
  models.some(({ thunderbolt }) => thunderbolt === 4)
    ? 'Thunderbolt 4 does not support RDMA'
    : `it needs ${asked - 1} receptacles in each Mac`;

const ringSizeText = (ring: FitShape, asked: number): string =>
  ring.size === asked ? `all ${asked}` : `${ring.size} (${macsText(ring)})`;

/** The maximum size of a full mesh that includes such a Mac. */
function reachText({ thunderbolt, receptacles, doubtful }: FitModel): string {
  if (thunderbolt === 4) return 'never: Thunderbolt 4';
  const careful = receptacles - doubtful.length + 1;
  return doubtful.length === 0
    ? `${careful}`
    : `${careful}, with receptacle ${doubtful.join(', ')}: ${receptacles + 1}`;
}

const titles = ['Macs', 'model', 'product', 'receptacles', 'full mesh up to'] as const;
const margin = '  ';

/** A table of models; several lines per model if the page is too narrow. */
function modelLines(models: readonly FitModel[], page: Page): readonly string[] {
  const rows = models.map((one) => [`${one.count}`, one.model, one.name, `${one.receptacles}`, reachText(one)]);
  const widths = titles.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const lineOf = (cells: readonly string[]): string =>
    `${margin}${cells.map((cell, index) => padEnd(cell, widths[index] ?? 0)).join(margin)}`.trimEnd();
  const lines = [titles, ...rows].map(lineOf);
  if (lines.every((line) => line.length <= page.columns)) {
    return lines.map((line, index) => (index === 0 ? page.paint('strong', line) : line));
  }
  const texts = rows.map((row) => titles.map((title, index) => `${title} ${row[index] ?? ''}`).join(', '));
  return texts.flatMap((text) => fitLines(text, page.columns));
}

/** These lines are for copying, so they are never wrapped. */
function linkLines(title: string, { links }: FitShape, page: Page): readonly string[] {
  const head = `${title} (replace the names with those of your nodes):`;
  return [
    ...fitLines(head, page.columns).map((line) => page.paint('strong', line)),
    '',
    'thunderbolt:',
    '  links:',
    ...links.map(([a, b]) => `    - ${linkEndText(a)} <-> ${linkEndText(b)}`),
  ];
}
