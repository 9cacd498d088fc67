/** The drivers that an example can be written for. */
export const exampleDrivers = ['command', 'exo', 'mlx', 'llamacpp'] as const;

/** One of them. */
export type ExampleDriver = (typeof exampleDrivers)[number];

/** What an example is written for. */
export interface ExampleWish {
  readonly driver: ExampleDriver;
  /** With an endpoint for the office network. */
  readonly isPublished: boolean;
}

/** `runtimes:` of the example, and what differs in its placement, as a person would write them. */
const runtimes: Readonly<
  Record<Exclude<ExampleDriver, 'command'>, { readonly text: string; readonly placement: Swaps }>
> = {
  exo: {
    text: `  exo:
    driver: exo
    archive: ./dist/EXO-1.0.71.dmg     # https://assets.exolabs.net/EXO-1.0.71.dmg
    version: "1.0.71"
`,
    placement: { runtime: 'exo', transport: 'rdma' },
  },
  mlx: {
    text: `  mlx:
    driver: mlx
    archive: ./dist/uv-aarch64-apple-darwin.tar.gz
    python: "3.12"
    requirements: ./requirements.lock   # uv pip compile --generate-hashes
`,
    placement: { runtime: 'mlx', transport: 'rdma' },
  },
  llamacpp: {
    text: `  llamacpp:
    driver: llamacpp-rpc
    archive: ./dist/llama-b9000-bin-macos-arm64.tar.gz
    server: llama-b9000/llama-server
    worker: llama-b9000/ggml-rpc-server
`,
    placement: { runtime: 'llamacpp', sharding: 'pipeline', transport: 'rdma', context: '512' },
  },
};

type Swaps = Readonly<Record<string, string>>;

const published = `doorman:
  node: ./dist/node-v22.22.0-darwin-arm64.tar.gz

`;

const publishedEndpoint = `    endpoint: { port: 8080, listen: lan, servedName: tiny, access: anybody }
`;

/** @throws Error when the example has changed and this has not, which is a bug */
function replaced(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`the example has nothing like ${pattern.source}`);
  return text.replace(pattern, () => by);
}

/** The example file for another runtime, or with a published endpoint. Everything else stays, comments included. */
export function exampleText(example: string, { driver, isPublished }: ExampleWish): string {
  const { text, placement } = driver === 'command' ? { text: undefined, placement: {} } : runtimes[driver];
  let file = text === undefined ? example : replaced(example, /(?<=^runtimes:\n)(?: .*\n)+/m, text);
  for (const [key, value] of Object.entries(placement)) {
    file = replaced(file, new RegExp(`(?<=^placements:\\n(?: .*\\n)*    ${key}: ).*`, 'm'), value);
  }
  if (driver === 'exo') file = replaced(file, /(?<=source: \.\/models\/tiny)/, ', repository: acme/tiny');
  if (!isPublished) return file;
  return replaced(replaced(file, /(?<=\n)(?=placements:\n)/, published), /^ {4}endpoint: .*\n/m, publishedEndpoint);
}
