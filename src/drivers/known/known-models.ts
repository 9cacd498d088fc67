import { knownModels, publishedSpeeds } from './tables.generated.ts';
import type { KnownModel, PublishedBuild, PublishedSpeed } from './tables.ts';

/** A known model, with the quantization that a name means. */
export interface NamedModel {
  readonly model: KnownModel;
  /** Absent if no size is published. */
  readonly build?: PublishedBuild;
}

/** Names are compared without case, `hf:` and revision. */
const plainName = (name: string): string => name.toLowerCase().replace(/^hf:/, '').split('@')[0] ?? '';

const withoutOwner = (repository: string): string => repository.replace(/^.*\//, '');

/** Every name that {@link namedModel} accepts. */
const named: ReadonlyMap<string, NamedModel> = new Map(
  knownModels.flatMap((model) => {
    const builds = model.builds ?? [];
    const [first] = builds;
    const usual = first === undefined ? { model } : { model, build: first };
    const repositories = builds.flatMap((build) =>
      [build.repository, withoutOwner(build.repository)].map((name) => [name, { model, build }] as const),
    );
    const names = [model.name, ...(model.aliases ?? [])].map((name) => [name, usual] as const);
    return [...repositories, ...names].map(([name, found]) => [plainName(name), found] as const);
  }),
);

/** Finds a model by its name, a short name, or the repository of one of its builds, with or without its owner. */
export const namedModel = (name: string): NamedModel | undefined => named.get(plainName(name));

/** The names of all known models and of their builds, for suggestions. */
export const knownNames: readonly string[] = [
  ...new Set(
    knownModels.flatMap(({ name, aliases = [], builds = [] }) => [
      name,
      ...aliases,
      ...builds.map(({ repository }) => withoutOwner(repository)),
    ]),
  ),
];

const wordsIn = (name: string): ReadonlySet<string> => new Set(name.toLowerCase().split(/[^a-z0-9.]+/));

/** Published speeds of a model on this number of nodes. `names` are its names in the file, its repository and its source. */
export function publishedFor(names: readonly string[], nodes: number): readonly PublishedSpeed[] {
  const texts = names.map(wordsIn);
  return knownModels.flatMap(({ name, words }) =>
    (publishedSpeeds[name] ?? []).filter(
      (speed) =>
        speed.nodes === nodes &&
        texts.some((text) => [...words, ...(speed.words ?? [])].every((word) => text.has(word))),
    ),
  );
}
