import type { ExoPlacement } from '../../model/dialogue-call.ts';
import type { ExoInstance, ExoPreview } from './answers.ts';

/** What an instance must be to count as the declared one. */
export type InstanceWish = Pick<ExoPlacement, 'modelId' | 'sharding' | 'meta'> & {
  /** exo's ids of exactly the nodes that it is to be on. */
  readonly ids: readonly string[];
};

/** The preview to be posted, or why there is none. */
export type Choice =
  | { readonly kind: 'chosen'; readonly instance: ExoInstance; readonly verbatim: unknown }
  /** `reason` goes on "exo offers no …: ". */
  | { readonly kind: 'none'; readonly reason: string };

const isOnExactly = ({ runnerByNode }: ExoInstance, ids: readonly string[]): boolean => {
  const nodes = Object.keys(runnerByNode);
  return nodes.length === ids.length && ids.every((id) => nodes.includes(id));
};

/** Whether an instance is what was declared, by its own tags and its own nodes alone. */
export const isWished = (instance: ExoInstance, wish: InstanceWish): boolean =>
  instance.modelId === wish.modelId &&
  instance.tag === `${wish.meta}Instance` &&
  instance.shardTags.length === wish.ids.length &&
  instance.shardTags.every((tag) => tag === `${wish.sharding}ShardMetadata`) &&
  isOnExactly(instance, wish.ids);

const instanceText = ({ tag, shardTags, runnerByNode }: ExoInstance): string => {
  const nodes = Object.keys(runnerByNode).length;
  return `${tag} with ${[...new Set(shardTags)].join(', ')} on ${nodes} node${nodes === 1 ? '' : 's'}`;
};

/**
 * The one preview that is what was declared. exo answers with more than was asked for (other node sets, other
 * transports), and what it calls `Tensor` over `MlxJaccl` can be a ring of one node: its labels count for nothing.
 */
export function choosePreview(previews: readonly ExoPreview[], wish: InstanceWish): Choice {
  for (const { instance, verbatim } of previews) {
    if (instance !== undefined && isWished(instance, wish)) return { kind: 'chosen', instance, verbatim };
  }
  return { kind: 'none', reason: reasonOf(previews, wish) };
}

function reasonOf(previews: readonly ExoPreview[], { sharding, meta, ids }: InstanceWish): string {
  if (previews.length === 0) return 'it has no previews at all';
  const labelled = previews.filter((preview) => preview.sharding === sharding && preview.meta === meta);
  const error = labelled.find((preview) => preview.error !== undefined)?.error;
  if (error !== undefined) return error;
  const others = labelled.flatMap(({ instance }) => instance ?? []);
  const sameNodes = others.find((instance) => isOnExactly(instance, ids));
  const shown = sameNodes ?? others[0];
  if (shown === undefined) return `it has no preview of ${sharding} over ${meta}`;
  return `what it calls ${sharding} over ${meta} is a ${instanceText(shown)}`;
}
