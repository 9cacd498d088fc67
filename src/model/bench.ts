/** How fast a placement answered so many requests at once; speeds are tokens per second, medians over what was asked; undefined: nobody can tell. */
export interface BenchLevel {
  readonly requests: number;
  /** Answers that came, and requests that came to nothing. */
  readonly answered: number;
  readonly failed: number;
  readonly firstTokenMs: number | undefined;
  /** Of one request, while the others went on. */
  readonly promptSpeed: number | undefined;
  readonly generationSpeed: number | undefined;
  /** Of all requests together, from the first one's beginning to the last one's end. */
  readonly totalSpeed: number | undefined;
  /** What the Macs of the placement took meanwhile, together; absent where one of them could not say. */
  readonly watts: number | undefined;
  readonly tokensPerJoule: number | undefined;
}

/** A speed that somebody published, for so many Macs with such a model. */
export interface PublishedSpeed {
  /** The model and how its weights are kept, as it was published. */
  readonly model: string;
  /** Words that the name of a model must have, all of them, to be this one. */
  readonly words: readonly string[];
  readonly nodes: number;
  readonly runtime: string;
  readonly transport: 'rdma' | 'tcp' | 'one node';
  /** Tokens per second. */
  readonly generationSpeed: number;
  readonly promptSpeed?: number;
  readonly hardware: string;
  readonly source: string;
}
