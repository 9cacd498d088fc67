import type {
  ClusterSpec,
  Model as ModelSpec,
  Placement as PlacementSpec,
  Runtime as RuntimeSpec,
} from '../model/cluster-spec.generated.ts';
import type { DesiredModel, DesiredPlacement, DesiredRuntime, ModelSource } from '../model/desired.ts';
import { digest } from '../model/digest.ts';
import { nodeName } from '../model/node.ts';
import type { TreeFile } from '../model/node-script.ts';
import { contextTokens, durationMs } from './amounts.ts';
import { defaultEndpointPort } from './draft-placements.ts';

const byName = <T>(specs: Readonly<Record<string, T>> | undefined): readonly (readonly [string, T])[] =>
  Object.entries(specs ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));

/** The runtimes of a file with their defaults, sorted by name; archives as the file has them. */
export const resolveRuntimes = ({ runtimes }: ClusterSpec): readonly DesiredRuntime[] =>
  byName(runtimes).map(([name, spec]) => resolveRuntime(name, spec));

function resolveRuntime(name: string, spec: RuntimeSpec): DesiredRuntime {
  return {
    name,
    driver: spec.driver,
    archive: spec.archive,
    command: [...spec.command],
    order: spec.order ?? 'leader-first',
    restart: spec.restart ?? 'group',
    joinedListening: spec.joined?.listening ?? '{port}',
    token: {
      path: spec.token?.path ?? '/v1/chat/completions',
      json: spec.token?.json ?? '/choices/0/message/content',
    },
  };
}

/** The models of a file, sorted by name; the list of files is empty where the file has none. */
export const resolveModels = ({ models }: ClusterSpec): readonly DesiredModel[] =>
  byName(models).map(([name, spec]) => ({ name, source: modelSource(spec.source), files: filesOf(spec) }));

/** Reads where the files of a model come from: a folder here, `node:/folder`, or the base of URLs. */
export function modelSource(text: string): ModelSource {
  if (text.startsWith('node:')) return { kind: 'node', folder: text.slice('node:'.length) };
  if (/^https?:/.test(text)) return { kind: 'url', base: text.endsWith('/') ? text : `${text}/` };
  return { kind: 'controller', folder: text };
}

const filesOf = ({ files }: ModelSpec): readonly TreeFile[] =>
  byName(files).map(([path, { sha256, size }]) => ({ path, sha256: digest(sha256), sizeBytes: size }));

/** The placements of a file with their defaults, sorted by name. */
export const resolvePlacements = ({ placements }: ClusterSpec): readonly DesiredPlacement[] =>
  byName(placements).map(([name, spec]) => resolvePlacement(name, spec));

const defaultFirstToken = '60s';

function resolvePlacement(name: string, spec: PlacementSpec): DesiredPlacement {
  return {
    name,
    model: spec.model,
    runtime: spec.runtime,
    nodes: spec.nodes.map((node) => nodeName(node)),
    ...(spec.sharding === undefined ? {} : { sharding: spec.sharding }),
    transport: spec.transport,
    contextTokens: contextTokens(String(spec.context)) ?? 0,
    env: { ...spec.env },
    endpointPort: spec.endpoint?.port ?? defaultEndpointPort,
    firstTokenMs: durationMs(spec.expect?.firstToken ?? defaultFirstToken) ?? 0,
    state: spec.state ?? 'serving',
  };
}
