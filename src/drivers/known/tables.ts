import type { BenchPublished } from '../../model/documents.generated.ts';

/** The members of a model's `config.json` that determine its shape. */
export type PublishedConfig = Readonly<Record<string, number | string | readonly string[]>>;

/** One quantization of a model. */
export interface PublishedBuild {
  readonly repository: string;
  /** Total bytes of the weights. */
  readonly bytes: number;
  /** Set if the source gives only whole GB. */
  readonly isRounded?: true;
  /** mlx's quantization; absent for weights in another format. */
  readonly quantization?: { readonly bits: number; readonly group: number };
  readonly source: string;
}

/** A model that owners of Mac clusters run. Sizes of a model in a cluster file never come from here. */
export interface KnownModel {
  readonly name: string;
  /** More names for `fit`. */
  readonly aliases?: readonly string[];
  /** A name in a file means this model if it has all these words between its separators. */
  readonly words: readonly string[];
  /** `model_type` in `config.json`; absent if not published. */
  readonly type?: string;
  /** Total parameters, and active ones per token for a mixture of experts. */
  readonly parameters: readonly [total: string, active?: string];
  readonly source: string;
  /** Absent if too little is published to calculate memory. */
  readonly config?: PublishedConfig;
  /** The first one is the default of `fit`. */
  readonly builds?: readonly PublishedBuild[];
  /** Other programs that run the model, usable with the driver `command`. */
  readonly others?: string;
  /** Set if no llama.cpp release runs the model; otherwise llama.cpp is unknown or splits it by layers. */
  readonly llamaCpp?: 'layers' | 'none';
}

/** A published speed; with `words`, it applies only to names that contain these, too. */
export interface PublishedSpeed extends BenchPublished {
  readonly words?: readonly string[];
}

/** What mlx-lm can do with a kind of model. The values are ranges of mlx-lm versions; an absent one means "in none". */
export interface MlxSupport {
  /** Versions that load the model at all; absent: every version in the table. */
  readonly loads?: string;
  readonly tensor?: string;
  readonly pipeline?: string;
  /** Versions that repeat key-value heads if there are more ranks than heads. */
  readonly repeatsKvHeads?: string;
}

interface MlxTable {
  /** The day on which the wheels were read. */
  readonly read: string;
  /** Every release since the oldest that meshwright accepts, oldest first. */
  readonly versions: readonly string[];
  /** In these versions, no pipeline rank loads the layers that remain after an even division. */
  readonly lossyPipelines: string;
  /** Each `model_type` that some version loads, next to those with the same support. */
  readonly kinds: readonly { readonly can: MlxSupport; readonly types: readonly string[] }[];
}

/** exo splits a model without a card by tensor if `architectures` contains only this class. */
export interface ExoType {
  readonly class: string;
  readonly tensor: string;
}

/** A model that exo ships a card for. For other models, exo derives a card from `config.json`. */
export interface ExoCard {
  /** The exo versions with this card. */
  readonly versions: string;
  /** Set if exo refuses tensor sharding: the card has `supports_tensor = false`. */
  readonly noTensor?: true;
  /** Set if exo refuses a pipeline over several nodes. */
  readonly noPipeline?: true;
  /** Set if exo splits the model only by its heads, so that one key-value head is enough. */
  readonly wholeKvHeads?: true;
}

/** What a known pair consists of: macOS, a program, or a package of a runtime that nodes build. */
export type PairPart = 'macos' | 'exo' | 'llama.cpp' | 'mlx' | 'mlx-lm' | 'transformers';

/** Versions that break together, from a public report. */
export interface KnownPair {
  /** The ranges that break together. */
  readonly versions: Readonly<Partial<Record<PairPart, string>>>;
  /** The placements or Macs that it is limited to. */
  readonly only?: {
    readonly nodes?: 'several';
    readonly transport?: 'rdma';
    readonly sharding?: 'pipeline';
    /** The beginning of the chip's name. */
    readonly chip?: string;
  };
  /** What happens, as a sentence. */
  readonly symptom: string;
  /** What a report says works; absent if it says nothing. */
  readonly works?: Readonly<Partial<Record<PairPart | 'transport', string>>>;
  readonly source: string;
}

/** The keys of the YAML files in this folder, of which scripts/make-tables.mjs makes one module. */
export interface Tables {
  readonly knownModels: readonly KnownModel[];
  readonly publishedSpeeds: Readonly<Record<string, readonly PublishedSpeed[]>>;
  readonly mlxTable: MlxTable;
  readonly exoCommit: string;
  readonly knownPairs: readonly KnownPair[];
  readonly exoTypes: Readonly<Record<string, ExoType>>;
  readonly exoCards: readonly (ExoCard & { readonly owner: string; readonly models: readonly string[] })[];
}
