/** Fleets with placements on the rack of four, and observations of their ranks and gateways. */

import { linkText } from '../../src/desired/addresses.ts';
import type { CommandRuntime } from '../../src/drivers/command/runtime.ts';
import { configurePlacement } from '../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../src/drivers/contract/driver.ts';
import type { ExoRuntime } from '../../src/drivers/exo/runtime.ts';
import type { LlamaRuntime } from '../../src/drivers/llamacpp/runtime.ts';
import type { MlxRuntime } from '../../src/drivers/mlx/runtime.ts';
import type { FactName, FactValues } from '../../src/engine/observe/facts.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement } from '../../src/model/desired.ts';
import { digest, digestOf } from '../../src/model/digest.ts';
import type { LaunchdService } from '../../src/model/facts/daemons.ts';
import type { RecordedRank, TokenResult } from '../../src/model/facts/fact-values.ts';
import type { EndpointStatus, GatewayStatus } from '../../src/model/gateway.ts';
import { given } from '../../src/model/given.ts';
import type { UnknownReason } from '../../src/model/known.ts';
import { nodeName } from '../../src/model/node.ts';
import type { TreeFile } from '../../src/model/node-script.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import type { RankState } from '../../src/rack/placement/mesh/rank-states.ts';
import { desiredFleet, desiredNode, observedFleet, type RackChanges, settledFleet } from './rack.ts';

/** The desired placement of a model on these nodes. */
export const placed = (
  name: string,
  nodes: readonly string[],
  changes: Partial<DesiredPlacement> = {},
): DesiredPlacement => ({
  name,
  model: 'kimi-k2',
  runtime: 'reference',
  nodes: nodes.map(nodeName),
  transport: 'tcp',
  contextTokens: 131_072,
  parallel: 1,
  env: {},
  args: [],
  endpointPort: 8_080,
  firstTokenMs: 30_000,
  state: 'serving',
  ...changes,
});

/** The known values of an archive and its unpacked folder. */
const archived = (file: string, content: string) => ({
  archive: `/archives/${file}`,
  sha256: digestOf(content),
  digest: digestOf(content),
  extras: [],
  sizeBytes: 1_000,
});

/** A runtime of mlx whose archive and tree are known. */
export const mlxRuntime: MlxRuntime = {
  driver: 'mlx',
  name: 'mlx',
  archive: '/dist/uv.tar.gz',
  sha256: digestOf('uv'),
  digest: digestOf('tree'),
  extras: [],
  python: '3.12',
};

/** An entry in a model's list of files. */
export const fileAt = (path: string, sizeBytes = 8): TreeFile => ({ path, sha256: digestOf(path), sizeBytes });

/** Changes to {@link meshFleet}. */
export interface MeshChanges {
  readonly placement?: Partial<DesiredPlacement>;
  readonly runtime?: Partial<CommandRuntime>;
}

/** The fleet with ranks and gateways that run as the ssh user, so that no step checks an account. */
export const asLogin = (fleet: DesiredFleet): DesiredFleet => ({ ...fleet, system: { ...fleet.system, accounts: {} } });

/** A fleet with the placement `kimi` on studio-1, studio-2 and studio-3, completely settled. */
export const meshFleet = ({ placement = {}, runtime = {} }: MeshChanges = {}): DesiredFleet =>
  settledFleet({
    runtimes: [
      {
        ...archived('reference.tar.gz', 'archive'),
        name: 'reference',
        driver: 'command',
        command: ['{runtime}/bin/rank', '--rank', '{rank}', '--listen', '{address}:{port}', '--model={model}'],
        order: 'leader-first',
        restart: 'group',
        joinedListening: '{port}',
        token: { path: '/v1/chat/completions', json: '/choices/0/message/content' },
        ...runtime,
      },
    ],
    models: [
      { name: 'tiny', source: { kind: 'controller', folder: '/models/tiny' }, files: [], digest: digestOf('model') },
    ],
    placements: [
      placed('kimi', ['studio-1', 'studio-2', 'studio-3'], {
        model: 'tiny',
        sharding: 'tensor',
        contextTokens: 4_096,
        ...placement,
      }),
    ],
  });

/** Changes to {@link exoFleet}. */
export interface ExoChanges {
  readonly placement?: Partial<DesiredPlacement>;
  readonly runtime?: Partial<ExoRuntime>;
  readonly model?: Partial<DesiredModel>;
}

/** A fleet with the placement `kimi` on exo over RDMA on studio-1, studio-2 and studio-3, completely settled. */
export function exoFleet({ placement = {}, runtime = {}, model = {} }: ExoChanges = {}): DesiredFleet {
  const fleet = meshFleet({ placement: { runtime: 'exo', transport: 'rdma', ...placement } });
  return {
    ...fleet,
    runtimes: [
      {
        ...archived('EXO.dmg', 'image'),
        name: 'exo',
        driver: 'exo',
        version: '1.0.72',
        dialect: 'main',
        program: 'EXO.app/Contents/Resources/exo/exo',
        ...runtime,
      },
    ],
    models: fleet.models.map((own) => ({
      ...own,
      repository: 'acme/Tiny-4bit',
      files: [
        fileAt('config.json', 100),
        fileAt('model-1.safetensors', 2_000),
        fileAt('model-2.safetensors', 1_000),
        fileAt('model.safetensors.index.json', 100),
      ],
      ...model,
    })),
  };
}

/** A settled llama.cpp runtime. */
const llama: LlamaRuntime = {
  ...archived('llama.tar.gz', 'archive'),
  name: 'llama',
  driver: 'llamacpp-rpc',
  server: 'bin/llama-server',
  worker: 'bin/ggml-rpc-server',
  cache: 'none',
};

/** Changes to {@link llamaFleet}. */
export interface LlamaChanges {
  readonly placement?: Partial<DesiredPlacement>;
  readonly runtime?: Partial<LlamaRuntime>;
  readonly files?: readonly TreeFile[];
  /** The files of the model `small`, which is the drafter. */
  readonly drafterFiles?: readonly TreeFile[];
  /** Selects the links that are kept, by their texts. */
  readonly links?: (text: string) => boolean;
}

/** A fleet with the placement `kimi` on studio-1, studio-2 and studio-3, with llama.cpp and one GGUF file. */
export function llamaFleet({
  placement,
  runtime,
  files,
  drafterFiles,
  links = () => true,
}: LlamaChanges = {}): DesiredFleet {
  const drafted = drafterFiles === undefined ? {} : { drafter: 'small' };
  const fleet = meshFleet({ placement: { runtime: 'llama', sharding: 'pipeline', ...drafted, ...placement } });
  const small = fleet.models.map((one) => ({
    ...one,
    name: 'small',
    digest: digestOf('small'),
    files: drafterFiles ?? [],
  }));
  return {
    ...fleet,
    runtimes: [{ ...llama, ...runtime }],
    models: [
      ...fleet.models.map((model) => ({ ...model, files: files ?? [fileAt('config.json'), fileAt('tiny.gguf')] })),
      ...(drafterFiles === undefined ? [] : small),
    ],
    thunderbolt: { ...fleet.thunderbolt, links: fleet.thunderbolt.links.filter(({ ends }) => links(linkText(ends))) },
  };
}

const tree = { ...archived('x.tar.gz', 'x'), sizeBytes: 1, name: 'reference' };
const runtimes: Readonly<Record<string, LlamaRuntime | MlxRuntime | ExoRuntime>> = {
  'llamacpp-rpc': { ...tree, driver: 'llamacpp-rpc', server: 'a', worker: 'b', cache: 'none' },
  mlx: { ...tree, driver: 'mlx', python: '3.12' },
  exo: { ...tree, driver: 'exo', version: '1.0.71', dialect: '1.0.71', program: 'exo' },
};

/** {@link meshFleet} with a runtime of this driver; `command` is the default. */
export function fleetOfDriver(driver: string, changes: MeshChanges = {}): DesiredFleet {
  const fleet = meshFleet(changes);
  const runtime = runtimes[driver];
  return runtime === undefined ? fleet : { ...fleet, runtimes: [runtime] };
}

/**
 * Four studios, one of them labeled a worker, and three placements: on all four, published on two, and stopped in the
 * file.
 */
export const rackOfThree: DesiredFleet = desiredFleet({
  nodes: ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map((name) => ({
    ...desiredNode(name),
    labels: name === 'studio-4' ? { role: 'worker' } : {},
  })),
  placements: [
    placed('kimi', ['studio-1', 'studio-2', 'studio-3', 'studio-4']),
    placed('qwen', ['studio-3', 'studio-2'], { publication: { servedName: 'qwen' } }),
    placed('spare', ['studio-4'], { state: 'stopped' }),
  ],
});

/** The digest of `kimi` in the file. */
export function digestOfKimi(fleet: DesiredFleet): string {
  const [kimi] = fleet.placements;
  const configured = kimi === undefined ? undefined : configurePlacement(kimi, fleet, 0, lastingNames);
  return configured?.kind === 'configured' ? configured.digest : '';
}

/** A rank as observed on its node. */
export interface RankCase {
  readonly placement?: string;
  readonly state: RankState;
  readonly rank?: number;
  /** Default: 4. */
  readonly generation?: number;
  readonly digest?: string;
  readonly startedIn?: string;
  readonly starts?: number;
  readonly token?: TokenResult;
  readonly changes?: Partial<RecordedRank>;
  /** The last exit of the service. */
  readonly lastExit?: string;
  /** Its processes that a signal has suspended. */
  readonly suspended?: readonly number[];
  /** The lines of its log that an observation includes; default: none. */
  readonly said?: readonly string[];
  /** The missing part: the rank's record or its service. */
  readonly lacks?: 'record' | 'service';
}

const answered: TokenResult = { kind: 'answered', text: 'Hi' };
const notAsked: TokenResult = { kind: 'not-asked' };

function recordOf(one: RankCase, wanted: string): RecordedRank {
  const { placement = 'kimi', state, rank = 0, generation = 4 } = one;
  const isUp = state === 'running' || state === 'meeting' || state === 'joined';
  return {
    placement,
    digest: digest(one.digest ?? wanted),
    generation,
    rank,
    size: 3,
    port: 50_000 + generation,
    meetPort: 0,
    endpointPort: 8_080,
    tokenPath: '/v1/chat/completions',
    tokenPointer: '/choices/0/message/content',
    tokenDeadlineMs: 20_000,
    logPattern: '',
    startedIn: one.startedIn ?? '',
    starts: one.starts ?? 0,
    isListening: state === 'joined',
    isMeeting: state === 'meeting',
    said: one.said ?? [],
    token: one.token ?? (rank === 0 && isUp ? answered : notAsked),
    ...one.changes,
  };
}

/** The launchd service of a rank. */
export function rankService({ placement = 'kimi', state, lastExit = '1', suspended }: RankCase): LaunchdService {
  const label = `dev.meshwright.rank.${placement}`;
  switch (state) {
    case 'running':
    case 'meeting':
    case 'joined':
      return { label, state: 'running', pid: 4_711, runs: 1, lastExit: '(never exited)', ...given({ suspended }) };
    case 'ready':
      return { label, state: 'waiting', runs: 0, lastExit: '(never exited)' };
    case 'exited':
      return { label, state: 'waiting', runs: 1, lastExit };
    case 'absent':
    case 'stopped':
      return { label, state: 'not-loaded' };
  }
}

/** The facts about a node with these ranks. */
function rankValues(ranks: readonly RankCase[], wanted: string): Partial<FactValues> {
  const there = ranks.filter(({ state }) => state !== 'absent');
  return {
    placements: there.filter(({ lacks }) => lacks !== 'record').map((one) => recordOf(one, wanted)),
    services: there.filter(({ lacks }) => lacks !== 'service').map(rankService),
  };
}

/** The ranks on a rack's nodes, and other differences from a healthy rack. */
export interface MeshRack extends Pick<RackChanges, 'cables' | 'names'> {
  readonly ranks: Readonly<Record<string, readonly RankCase[]>>;
  readonly unknown?: Readonly<Record<string, Partial<Record<FactName, UnknownReason>>>>;
  readonly unreachable?: readonly string[];
  readonly values?: Readonly<Record<string, Partial<FactValues>>>;
}

/** Observes a healthy rack of four with these ranks. */
export function observeMesh(fleet: DesiredFleet, { ranks, values = {}, ...rack }: MeshRack): FleetObservation {
  const wanted = digestOfKimi(fleet);
  const names = [...new Set([...Object.keys(ranks), ...Object.keys(values)])];
  const shown = names.map((name) => [name, { ...rankValues(ranks[name] ?? [], wanted), ...values[name] }]);
  return observedFleet({ ...rack, values: Object.fromEntries(shown) });
}

/** All three ranks of `kimi` in these states, in order. */
export const threeRanks = (
  states: readonly [RankState, RankState, RankState],
  all: Partial<RankCase> = {},
): MeshRack['ranks'] => ({
  'studio-1': [{ ...all, state: states[0], rank: 0 }],
  'studio-2': [{ ...all, state: states[1], rank: 1 }],
  'studio-3': [{ ...all, state: states[2], rank: 2 }],
});

/** The counts of an endpoint without requests, with the given changes. */
export const endpointCounts = (more: Partial<EndpointStatus['counts']> = {}): EndpointStatus['counts'] => ({
  requests: 0,
  failed: 0,
  refused: 0,
  tokens: 0,
  firstToken: { count: 0, totalMs: 0, lastMs: 0 },
  generating: { tokens: 0, totalMs: 0, lastPerSecond: 0 },
  ...more,
});

/** The status of an endpoint of `kimi` without requests, with the given changes. */
export const endpointStatus = (more: Partial<EndpointStatus> = {}): EndpointStatus => ({
  placement: 'kimi',
  running: 0,
  waiting: 0,
  counts: endpointCounts(),
  ...more,
});

/** The status of a gateway with these endpoints. */
export const gatewayStatus = (endpoints: readonly EndpointStatus[], port = 8_080): GatewayStatus => ({
  kind: 'answered',
  port,
  strangers: 0,
  endpoints: endpoints,
});
