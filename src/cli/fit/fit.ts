import { didYouMean, listText } from '../../desired/did-you-mean.ts';
import { fitMesh } from '../../desired/fit-macs.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { FitDocument } from '../../model/documents.generated.ts';
import {
  canRun,
  type FitShape,
  isFullMesh,
  type MacCount,
  type MeshFit,
  type ModelFit,
  nodeFitJson,
} from '../../model/fit.ts';
import { given } from '../../model/given.ts';
import { avoidReason, macModel, macModelIds, macModelsDate } from '../../model/macs.ts';
import { weightBytes } from '../../model/model-shape.ts';
import { linkEndText } from '../../model/node.ts';
import { modelSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { fitText, modelFitText } from '../../report/fit-text.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { diagnosticsJson, pageFor, showDiagnostics, showJson } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { fitModel } from './fit-model.ts';

/** As many Macs as a cluster file can have. */
const mostMacs = 256;

/**
 * `fit MODEL --on MACS`: whether a model fits into the memory of Macs; `fit --mesh 5xMac15,14`: whether Macs can be fully
 * meshed, and with which cables. Reaches no node.
 */
export const fit: VerbBody = (run) => {
  if (run.own['mesh'] === undefined) return fitOnMacs(run);
  const other = [...modelOptions, ...(run.words.length > 0 ? ['a model'] : [])].find(
    (name) => name === 'a model' || run.own[name] !== undefined,
  );
  const strange = run.options.file === undefined ? other : 'file';
  if (strange === undefined) return fitCables(run);
  const shown = strange === 'a model' ? strange : `--${strange === 'mlxLm' ? 'mlx-lm' : strange}`;
  throw usageError(
    `--mesh says nothing about ${shown}.`,
    prose`Ask for cables, or for the memory of a model: ${meshwright('fit', '--help')}`,
  );
};

const modelOptions = ['on', 'context', 'requests', 'sharding', 'runtime', 'mlxLm'];

/** Whether a model fits on Macs. */
async function fitOnMacs(run: Run): Promise<ExitCode> {
  if (run.words.length === 0 && run.own['on'] === undefined)
    throw usageError('--mesh is missing, or a model and --on.', example);
  const found = await fitModel(run);
  if (run.options.json) showJson(run.console, modelDocument(found));
  else {
    run.console.out(modelFitText(found, pageFor(run.console)));
  }
  return canRun(found) ? exitCode.done : exitCode.failed;
}

function modelDocument(found: ModelFit): FitDocument {
  const { shape, nodes, verdict, problems, doubts, pace, mlxLm, advice, ...wish } = found;
  return {
    formatVersion: 1,
    ...wish,
    fits: canRun(found),
    verdict,
    problems,
    doubts,
    ...given({ pace }),
    ...(mlxLm === undefined ? {} : { mlxLm: { version: mlxLm.version, assumed: mlxLm.isAssumed } }),
    ...given({ advice }),
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

/** Whether Macs can be fully meshed. */
async function fitCables(run: Run): Promise<ExitCode> {
  const found = fitMesh(wantedMacs(run));
  const fits = isFullMesh(found);
  const diagnostics = findings(found);
  if (run.options.json) {
    showJson(run.console, fitDocument(found, diagnostics));
  } else {
    run.console.out(fitText(found, pageFor(run.console)));
    if (diagnostics.length > 0) run.console.err('\n');
    showDiagnostics(run.console, diagnostics);
  }
  return fits ? exitCode.done : exitCode.failed;
}

const example = prose`Say how many of which model: ${meshwright('fit', '--mesh', '3xMac15,14', '2xMac16,11')}`;

/** The Macs of all `--mesh`; they stand in words of their own, or in one with a plus sign or a comma between them. */
function wantedMacs(run: Run): readonly MacCount[] {
  const words = run.own['mesh'];
  if (!Array.isArray(words)) throw usageError('--mesh is missing.', example);
  // Identifiers have a comma inside; one between Macs is followed by a count.
  const wanted = words.flatMap((word) => String(word).split(/\+|,(?=[0-9]+x)/)).map(wantedMac);
  const count = wanted.reduce((sum, one) => sum + one.count, 0);
  if (count < 2) throw usageError('A mesh has at least two Macs.', example);
  if (count > mostMacs) throw usageError(`A cluster file has at most ${mostMacs} Macs.`, example);
  return wanted;
}

function wantedMac(text: string): MacCount {
  const match = /^(?:([1-9][0-9]{0,3})x)?([A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3})$/.exec(text.trim());
  const [, count = '1', model] = match ?? [];
  if (model === undefined) throw usageError(`${JSON.stringify(text)} is no number of Macs.`, example);
  if (macModel(model) === undefined) throw unknownModel(model);
  return { model, count: Number(count) };
}

function unknownModel(model: string): Error {
  const near = didYouMean(model, macModelIds);
  const known = macModelIds.filter((id) => macModel(id)?.thunderbolt === 5);
  return usageError(
    `The table of Macs (${macModelsDate}) has no ${model}.`,
    `${near === undefined ? '' : `Did you mean ${near}? `}The Macs with Thunderbolt 5 are ${listText(known)}. All: docs/macs.md.`,
  );
}

/** What speaks against some of the Macs, or against a receptacle that the largest full mesh takes. */
function findings({ models, mesh, carefulSize }: MeshFit): readonly Diagnostic[] {
  const doubtful = mesh?.doubtfulModels ?? [];
  return models.flatMap(({ model, name, thunderbolt }) => {
    const subject = modelSubject(model);
    if (thunderbolt === 4) {
      const detail = prose`A ${named(name)} has Thunderbolt 4 and can never have RDMA. It is left out of the mesh.`;
      return [
        diagnose('topology/no-rdma', {
          subject,
          detail,
          hint: 'Use a Mac with Thunderbolt 5 in the mesh. With Thunderbolt 4 a Mac can be a node for TCP.',
        }),
      ];
    }
    if (!doubtful.includes(model)) return [];
    const rest = carefulSize === 0 ? '' : ` A full mesh of ${carefulSize} leaves it free.`;
    const hint = `Try that receptacle before you rely on it: Apple says that all can.${rest}`;
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
