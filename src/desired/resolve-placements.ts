import type {
  ClusterSpec,
  Model as ModelSpec,
  Placement as PlacementSpec,
  Runtime as RuntimeSpec,
} from '../model/cluster-spec.generated.ts';
import type {
  DesiredDoorman,
  DesiredModel,
  DesiredPlacement,
  DesiredRuntime,
  ExoRuntime,
  ModelSource,
  Publication,
} from '../model/desired.ts';
import { type Digest, digest } from '../model/digest.ts';
import { given } from '../model/given.ts';
import { nodeName } from '../model/node.ts';
import type { TreeFile } from '../model/node-script.ts';
import { contextTokens, durationMs } from './amounts.ts';
import { defaultEndpointPort } from './draft-placements.ts';
import { usualPointer } from './endpoints.ts';
import { keySources } from './secret-sources.ts';

const byName = <T>(specs: Readonly<Record<string, T>> | undefined): readonly (readonly [string, T])[] =>
  Object.entries(specs ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));

/** The runtimes of a file with their defaults, sorted by name; archives as the file has them. */
export const resolveRuntimes = ({ runtimes }: ClusterSpec): readonly DesiredRuntime[] =>
  byName(runtimes).map(([name, spec]) => resolveRuntime(name, spec));

function resolveRuntime(name: string, spec: RuntimeSpec): DesiredRuntime {
  const { archive } = spec;
  switch (spec.driver) {
    case 'command':
      return { driver: 'command', name, archive, extras: [], ...commandHalf(spec) };
    case 'llamacpp-rpc': {
      const { server = 'bin/llama-server', worker = 'bin/ggml-rpc-server', cache = 'none' } = spec;
      return { driver: 'llamacpp-rpc', name, archive, extras: [], server, worker, cache };
    }
    case 'mlx': {
      const extras = [{ name: requirementsName, source: spec.requirements ?? '' }];
      const { python = '', wheels } = spec;
      return { driver: 'mlx', name, archive, extras, python, ...given({ wheels }) };
    }
    case 'exo': {
      const { version = '', program = 'EXO.app/Contents/Resources/exo/exo' } = spec;
      return { driver: 'exo', name, archive, extras: [], version, dialect: dialectOf(version), program };
    }
  }
}

function tokenOf({ path = '/v1/chat/completions', json, golden }: NonNullable<RuntimeSpec['token']> = {}) {
  return { path, json: json ?? usualPointer(path), ...given({ golden }) };
}

/** What the locked requirements are called in the tree of their runtime. */
export const requirementsName = 'requirements.lock';

const commandHalf = ({ command, order, restart, joined, token }: RuntimeSpec) => ({
  command: [...(command ?? [])],
  order: order ?? ('leader-first' as const),
  restart: restart ?? ('group' as const),
  joinedListening: joined?.listening ?? '{port}',
  token: tokenOf(token),
});

/** The newest release that still speaks over libp2p; nodes of the two dialects never meet. @see exo: dialects */
const lastOfOldDialect = [1, 0, 71] as const;

/** The dialect that a version of exo speaks; what is no version counts as the newest of the old one. */
export function dialectOf(version: string): ExoRuntime['dialect'] {
  const numbers = version.split(/[-+.]/).map(Number);
  for (const [index, last] of lastOfOldDialect.entries()) {
    const number = numbers[index] ?? 0;
    if (number !== last) return number < last ? '1.0.71' : 'main';
  }
  return '1.0.71';
}

/** The models of a file, sorted by name; the list of files is empty where the file has none. */
export const resolveModels = ({ models, downloads }: ClusterSpec): readonly DesiredModel[] =>
  byName(models).map(([name, spec]) => ({
    name,
    ...given({ repository: spec.repository }),
    ...(spec.trustRemoteCode === undefined ? {} : { trustedCode: digestsOf(spec.trustRemoteCode) }),
    source: modelSource(spec.source, downloads),
    files: filesOf(spec),
  }));

/** Reads where the files of a model come from: a folder here, `node:/folder`, or the base of URLs. */
export function modelSource(text: string, downloads: ClusterSpec['downloads']): ModelSource {
  if (text.startsWith('node:')) return { kind: 'node', folder: text.slice('node:'.length) };
  if (/^https?:/.test(text)) {
    const base = text.endsWith('/') ? text : `${text}/`;
    return { kind: 'url', base, ...(downloads?.plainHttp === 'allowed' ? { plainHttp: true } : {}) };
  }
  return { kind: 'controller', folder: text };
}

const digestsOf = (texts: Readonly<Record<string, string>>): Readonly<Record<string, Digest>> =>
  Object.fromEntries(byName(texts).map(([path, text]) => [path, digest(text)]));

const filesOf = ({ files }: ModelSpec): readonly TreeFile[] =>
  byName(files).map(([path, { sha256, size }]) => ({ path, sha256: digest(sha256), sizeBytes: size }));

/** The placements of a file with their defaults, sorted by name. */
export const resolvePlacements = ({ placements }: ClusterSpec): readonly DesiredPlacement[] =>
  byName(placements).map(([name, spec]) => resolvePlacement(name, spec));

function resolvePublication(
  name: string,
  { servedName = name, access, apiKey, proxies }: NonNullable<PlacementSpec['endpoint']>,
): Publication {
  const sources = access === 'anybody' ? [] : keySources(apiKey);
  return {
    servedName,
    ...(sources.length === 0 ? {} : { apiKeys: sources }),
    ...given({ proxies }),
  };
}

/** What the one file of ours in the tree of a doorman is called. */
export const doormanFile = 'doorman.mjs';

/** The doorman of a file; its own file has no place until the command line says where it lies. */
export function resolveDoorman({ doorman }: ClusterSpec): DesiredDoorman | undefined {
  if (doorman === undefined) return undefined;
  const { node, program } = doorman;
  const folder = node.slice(node.lastIndexOf('/') + 1).replace(/\.(?:tar\.gz|tar\.xz|zip)$/, '');
  return {
    name: doormanTree,
    archive: node,
    extras: [{ name: doormanFile, source: doormanFile }],
    program: program ?? `${folder}/bin/node`,
  };
}

/** The name under which the tree of the doorman lies among those of runtimes; no runtime may have it. */
export const doormanTree = 'doorman';

const defaultFirstToken = '60s';

function resolvePlacement(name: string, spec: PlacementSpec): DesiredPlacement {
  return {
    name,
    model: spec.model,
    runtime: spec.runtime,
    nodes: spec.nodes.map((node) => nodeName(node)),
    ...given({ sharding: spec.sharding }),
    transport: spec.transport,
    contextTokens: contextTokens(String(spec.context)) ?? 0,
    parallel: spec.parallel ?? 1,
    env: { ...spec.env },
    args: [...(spec.args ?? [])],
    ...(spec.shares === undefined ? {} : { shares: [...spec.shares] }),
    ...(spec.allow === undefined ? {} : { allow: [...spec.allow] }),
    ...(spec.backend === undefined || spec.backend === 'auto' ? {} : { backend: spec.backend }),
    endpointPort: spec.endpoint?.port ?? defaultEndpointPort,
    ...(spec.endpoint?.listen === 'lan' ? { publication: resolvePublication(name, spec.endpoint) } : {}),
    firstTokenMs: durationMs(spec.expect?.firstToken ?? defaultFirstToken) ?? 0,
    ...(spec.expect?.tokensPerSecond === undefined ? {} : { tokensPerSecond: spec.expect.tokensPerSecond }),
    state: spec.state ?? 'serving',
    ...(spec.fallback === undefined ? {} : { fallback: resolveFallback(spec.fallback, spec.context) }),
  };
}

const resolveFallback = (
  { nodes, context }: NonNullable<PlacementSpec['fallback']>,
  own: PlacementSpec['context'],
): NonNullable<DesiredPlacement['fallback']> => ({
  nodes: nodes.map((node) => nodeName(node)),
  contextTokens: contextTokens(String(context ?? own)) ?? 0,
});
