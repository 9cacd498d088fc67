import { dirname } from 'node:path';
import { contextTokens } from '../../desired/amounts.ts';
import { settleFleet } from '../../desired/settle/settle.ts';
import { judgeModelFit } from '../../drivers/judge-model-fit.ts';
import type { DriverName } from '../../model/desired.ts';
import type { FitFleet } from '../../model/fit/memory-fit.ts';
import type { ModelFit } from '../../model/fit/model-fit.ts';
import type { ModelShape } from '../../model/fit/model-shape.ts';
import type { Link } from '../../model/link.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { usageError } from '../verb/options.ts';
import { readCountOption, textOption } from '../verb/own-options.ts';
import type { Run } from '../verb/verb.ts';
import { type FitNode, isThoughtUp, moreLike, onWords, readMacs } from './fit-macs.ts';
import { type FitFile, type FitRuntime, readRuntime } from './fit-runtime.ts';
import { type FitSubject, isPlace, subjectAt, subjectInFile, withShapes } from './fit-subject.ts';

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
  return { fleet: settleFleet(fleet, lock, { archives: {}, folders: {} }, baseFolder).fleet, baseFolder };
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
    ...(sharding === undefined ? {} : { sharding }),
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
