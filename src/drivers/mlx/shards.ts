import { tensorProblems } from '../../desired/tensor-limits.ts';
import { inRange, isBelow, lowestIn } from '../../desired/version-range.ts';
import { otherSplits, type RankSplit, type SplitJudgement } from '../contract/split.ts';
import { modelType, newestMlxLm, oldestMlxLm } from '../known/model-types.ts';
import { mlxTable } from '../known/tables.generated.ts';

/** The parts of a split that matter to mlx-lm. */
type MlxSplit = Omit<RankSplit, 'exo' | 'repository'>;

/** The reason why a model cannot be split this way. */
export interface SplitProblem {
  /**
   * too-old: this mlx-lm lacks the options of a rank, split or not; not-loaded: it has no class for this kind of model,
   * split or not; no-way: it cannot split this kind of model this way; not-known: this program does not know the kind of
   * model, or the version is newer than those that it knows; not-divisible: part of the model is not divisible by the
   * number of ranks; lost-layers: a pipeline would skip layers.
   */
  readonly kind: 'too-old' | 'not-loaded' | 'no-way' | 'not-known' | 'not-divisible' | 'lost-layers';
  readonly detail: string;
}

/** The problem of an mlx-lm version whose server lacks the options of a rank and therefore exits immediately. */
export const tooOld = (version: string): SplitProblem | undefined =>
  isBelow(version, oldestMlxLm)
    ? { kind: 'too-old', detail: `mlx-lm ${version} is too old; at least ${oldestMlxLm} is needed.` }
    : undefined;

/** All problems of a split; for a single rank, only whether this mlx-lm can run the model at all. */
export const splitProblems = (split: MlxSplit): readonly SplitProblem[] =>
  split.isFork === true ? ofRelease(split).map(doubted) : ofRelease(split);

/** A fork often adds a class of models or corrects a split. The model's dimensions and a rank's options remain. */
function doubted(problem: SplitProblem): SplitProblem {
  const { kind, detail } = problem;
  if (kind === 'too-old' || kind === 'not-divisible' || kind === 'not-known') return problem;
  return { kind: 'not-known', detail: `${detail} The commit in \`source\` may differ from that version.` };
}

function ofRelease(split: MlxSplit): readonly SplitProblem[] {
  const whole = tooOld(split.mlxLm) ?? notLoaded(split);
  if (whole !== undefined) return [whole];
  if (split.size === 1) return [];
  const way = wayProblem(split);
  if (way?.kind === 'no-way') return [way];
  const own = way === undefined ? [] : [way];
  if (split.sharding === 'tensor') return [...own, ...undivided(split)];
  return way === undefined ? lost(split) : own;
}

/** Problems of a split become objections. If the version is unknown to this program, they become doubts. */
export function judgeSplit(split: RankSplit): SplitJudgement {
  const found = splitProblems(split);
  const isDoubt = ({ kind }: SplitProblem): boolean => kind === 'not-known';
  const texts = (of: readonly SplitProblem[]): readonly string[] => of.map(({ detail }) => detail);
  return { problems: texts(found.filter((one) => !isDoubt(one))), doubts: texts(found.filter(isDoubt)) };
}

const aboveAll = '9999';

export function splitAdvice(split: RankSplit): string {
  if (tooOld(split.mlxLm) !== undefined) return `Use mlx-lm ${oldestMlxLm} or newer.`;
  if (notLoaded(split) !== undefined) return 'Use a newer mlx-lm if one supports this model, or another runtime.';
  const { problems, doubts } = judgeSplit({ ...split, mlxLm: aboveAll });
  const newer = problems.length + doubts.length === 0 ? 'a newer mlx-lm, one node' : 'one node';
  return otherSplits(split, judgeSplit) ?? `Use ${newer}, or another runtime.`;
}

const words = { tensor: 'by tensor', pipeline: 'as a pipeline' } as const;

/** The problem of a kind of model for which mlx-lm has no class. A newer version may have one. */
function notLoaded({ shape: { architecture }, mlxLm: version }: MlxSplit): SplitProblem | undefined {
  const mlx = modelType(architecture)?.mlx;
  if (mlx === undefined) return undefined;
  const range = mlx === 'unsupported' ? undefined : (mlx.loads ?? '*');
  return outside(version, range, {
    kind: 'not-loaded',
    cannot: `does not support ${architecture} models`,
    can: 'does',
  });
}

function wayProblem({ shape: { architecture }, sharding, mlxLm: version }: MlxSplit): SplitProblem | undefined {
  const mlx = modelType(architecture)?.mlx;
  if (mlx === undefined || mlx === 'unsupported') {
    const detail = `meshwright does not know ${architecture} models, so mlx-lm ${version} may not be able to split them.`;
    return { kind: 'not-known', detail };
  }
  const cannot = `cannot split ${architecture} models ${words[sharding]}`;
  return outside(version, mlx[sharding], { kind: 'no-way', cannot, can: 'can' });
}

/** The problem of a version outside the range that can do something: only a doubt if it is newer than the table. */
function outside(
  version: string,
  range: string | undefined,
  { kind, cannot, can }: { kind: 'not-loaded' | 'no-way'; cannot: string; can: string },
): SplitProblem | undefined {
  if (range !== undefined && inRange(version, range)) return undefined;
  if (isBelow(newestMlxLm, version)) {
    const newest = `mlx-lm ${newestMlxLm}, the newest that meshwright knows,`;
    return { kind: 'not-known', detail: `${newest} ${cannot}; newer versions may.` };
  }
  const other = range === undefined ? '' : `; ${lowestIn(range)} ${can}`;
  return { kind, detail: `mlx-lm ${version} ${cannot}${other}.` };
}

function undivided({ shape, size, mlxLm: version }: MlxSplit): readonly SplitProblem[] {
  const mlx = modelType(shape.architecture)?.mlx;
  const repeats = mlx === 'unsupported' ? undefined : mlx?.repeatsKvHeads;
  const isRepeated = repeats !== undefined && inRange(version, repeats) && size % shape.kvHeads === 0;
  // Repeated key-value heads can be divided like the other heads.
  const counted = isRepeated ? { ...shape, kvHeads: shape.heads } : shape;
  return tensorProblems(counted, size).map((detail) => ({ kind: 'not-divisible', detail }));
}

function lost({ shape, size, mlxLm: version }: MlxSplit): readonly SplitProblem[] {
  const layers = shape.layers.length;
  const missing = inRange(version, mlxTable.lossyPipelines) ? lostLayers(layers, size) : [];
  if (missing.length === 0) return [];
  const which = missing.length === 1 ? `layer ${missing[0]}` : `layers ${missing.join(', ')}`;
  const detail = `mlx-lm ${version} would load ${which} of ${layers} on none of ${size} nodes, without an error.`;
  return [{ kind: 'lost-layers', detail }];
}

/**
 * The layers, counted from 0, that no rank loads. Rank 0 has the last layers. Each rank computes its first layer from
 * its own number of layers, so ranks with different numbers of layers leave gaps.
 *
 * @see PipelineMixin in mlx_lm/models/pipeline.py, and issue 1688 of mlx-lm
 */
export function lostLayers(layers: number, size: number): readonly number[] {
  const least = Math.floor(layers / size);
  const extra = layers - least * size;
  const loaded = new Set<number>();
  for (let rank = 0; rank < size; rank += 1) {
    const count = least + (rank < extra ? 1 : 0);
    for (let layer = 0; layer < count; layer += 1) loaded.add((size - rank - 1) * count + layer);
  }
  return Array.from({ length: layers }, (_, layer) => layer).filter((layer) => !loaded.has(layer));
}
