import { gatewayAccount, ranksAccount, transfersAccount } from '../model/account.ts';
import type {
  ClusterSpec,
  KeySource as KeySpec,
  Model as ModelSpec,
  Node as NodeSpec,
  Placement as PlacementSpec,
  SecretSource as SecretSpec,
} from '../model/cluster-spec.generated.ts';
import type {
  DesiredDownloads,
  DesiredFleet,
  DesiredGateway,
  DesiredModel,
  DesiredNode,
  DesiredPlacement,
  DesiredRuntime,
  DesiredSettings,
  DesiredWiredLimit,
  ModelSource,
  Publication,
} from '../model/desired.ts';
import { type Digest, digest } from '../model/digest.ts';
import { withMinor } from '../model/facts/mac.ts';
import { given } from '../model/given.ts';
import { compareText } from '../model/lists.ts';
import { macModel } from '../model/macs.ts';
import { type Link, type LinkEnd, linkEndText, nodeName } from '../model/node.ts';
import type { DownloadHours, TreeFile } from '../model/node-script.ts';
import type { ApiKeySource, SecretSource } from '../model/secret.ts';
import { isDayOver } from '../model/text/units.ts';
import { parseIpv4Network, parseLink, parseLinkEnd } from './addresses.ts';
import { contextTokens, durationMs, memoryLabelBytes, sizeBytes } from './amounts.ts';
import { defaultEndpointPort } from './draft.ts';
import { hubSource } from './hub-source.ts';
import { mirrored } from './mirror.ts';
import { archiveOf, defaultNode, nodeReleases } from './releases.ts';
import { replicaName } from './replicas.ts';
import type { KeysByDriver } from './rules/rule.ts';

/** Marks every hold in the file whose last day has passed at the given time. */
export function judgeHolds(fleet: DesiredFleet, nowEpochMs: number): DesiredFleet {
  const nodes = fleet.nodes.map((node) => {
    const { hold } = node;
    const isOver = hold?.until !== undefined && isDayOver(hold.until, nowEpochMs);
    return hold === undefined || !isOver ? node : { ...node, hold: { ...hold, isOver } };
  });
  return { ...fleet, nodes };
}

/** Resolves the whole file with its defaults. The spec has passed the schema and the rules and is not checked again. */
export function resolveFleet(spec: ClusterSpec, drivers: KeysByDriver): DesiredFleet {
  const nodes = Object.entries(spec.nodes)
    .map(([name, node]) => resolveNode(name, node, spec))
    .sort((a, b) => compareText(a.name, b.name));
  const { wiredLimit, fileVault, keeper } = spec.system ?? {};
  const hasGateway = Object.values(spec.placements ?? {}).some((one) => isBehindGateway(one, spec, drivers));
  const gateway = hasGateway || spec.gateway !== undefined ? resolveGateway(spec) : undefined;
  const downloads = resolveDownloads(spec);
  return withHiddenVariables({
    name: spec.name,
    ...given({ downloads }),
    nodes,
    macos: resolveMacos(spec),
    power: resolvePower(spec),
    system: {
      fileVault: fileVault ?? 'any',
      accounts: resolveAccounts(spec, gateway !== undefined),
      ...(keeper === 'none' ? {} : { keeper: 'auto' }),
      ...(wiredLimit === undefined ? {} : { wiredLimit: resolveWiredLimit(wiredLimit) }),
      ...resolveMacSettings(spec),
    },
    thunderbolt: resolveThunderbolt(spec, nodes),
    ...given({ gateway }),
    runtimes: resolveRuntimes(spec, drivers),
    models: resolveModels(spec),
    placements: byName(spec.placements)
      .flatMap(([name, placement]) => {
        const isPublished = isBehindGateway(placement, spec, drivers);
        return replicasIn(name, placement, isPublished ? publicationOf(name, placement) : undefined);
      })
      .sort((a, b) => compareText(a.name, b.name)),
  });
}

function resolveNode(name: string, node: NodeSpec, { ssh = {}, pdus = {} }: ClusterSpec): DesiredNode {
  const user = node.user ?? ssh.user;
  const port = node.port ?? ssh.port;
  const identityFile = node.identityFile ?? ssh.identityFile;
  const password = resolveSecretSource(node.password ?? ssh.password);
  const { model, memory, serial } = node.hardware ?? {};
  const memoryBytes = memory === undefined ? undefined : memoryLabelBytes(memory);
  return {
    name: nodeName(name),
    host: node.host,
    ...given({ user, port, identityFile, password }),
    hardware: given({ model, memoryBytes, serial }),
    labels: { ...node.labels },
    ...(node.hold === undefined ? {} : { hold: { ...node.hold } }),
    ...given({ outlet: resolveOutlet(node.outlet, pdus) }),
  };
}

function resolveOutlet(
  name: string | undefined,
  pdus: NonNullable<ClusterSpec['pdus']>,
): DesiredNode['outlet'] | undefined {
  const [owner = '', outlet = ''] = name?.split('/', 2) ?? [];
  const pdu = pdus[owner];
  if (name === undefined || pdu === undefined) return undefined;
  const filled = (words: readonly string[]) => ({
    kind: 'command' as const,
    argv: words.map((word) => word.replaceAll('{outlet}', outlet)),
  });
  return { name, on: filled(pdu.powerOn), off: filled(pdu.powerOff), state: filled(pdu.powerState) };
}

function resolveMacos({ macos }: ClusterSpec): DesiredFleet['macos'] {
  const { updates, version, accept } = macos ?? {};
  return {
    ...given({ version: version && withMinor(version), accept }),
    ...given({ updateDriver: resolveUpdateDriver(updates) }),
    ...(updates?.automatic === 'disabled' ? { automaticUpdates: 'disabled' } : {}),
  };
}

function resolveUpdateDriver({
  driver,
  command: argv = [],
}: NonNullable<ClusterSpec['macos']>['updates'] = {}): DesiredFleet['macos']['updateDriver'] {
  if (driver === 'command') return { kind: 'command', argv };
  return driver === 'softwareupdate' ? driver : undefined;
}

/** The accounts that apply creates, unless the file names others. Without a gateway, there is no gateway account. */
function resolveAccounts({ system }: ClusterSpec, hasGateway: boolean): DesiredFleet['system']['accounts'] {
  const { accounts = {} } = system ?? {};
  const account = hasGateway ? gatewayAccount : undefined;
  const { ranks = ranksAccount, gateway = account, transfers = transfersAccount } = accounts;
  return {
    ...(ranks === 'login' ? {} : { ranks }),
    ...(gateway === undefined || gateway === 'login' ? {} : { gateway }),
    ...(transfers === 'login' ? {} : { transfers }),
  };
}

/** Settings that leave the Mac unchanged by default. */
function resolveMacSettings({ system }: ClusterSpec): DesiredSettings {
  const { wiredLimit: _limit, fileVault: _vault, accounts: _accounts, keeper: _keeper, ...settings } = system ?? {};
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== 'keep' && value !== 'any'));
}

function resolvePower({ power }: ClusterSpec): DesiredFleet['power'] {
  const { sleep, restartAfterPowerLoss } = power ?? {};
  return given({ sleepMinutes: sleep === 'never' ? 0 : sleep, restartAfterPowerLoss });
}

function resolveWiredLimit(text: string): DesiredWiredLimit {
  if (text === 'auto' || text === 'default') return { kind: text };
  return { kind: 'bytes', bytes: sizeBytes(text) ?? 0 };
}

function resolveThunderbolt(spec: ClusterSpec, nodes: readonly DesiredNode[]): DesiredFleet['thunderbolt'] {
  const { thunderbolt } = spec;
  const poolText = thunderbolt?.addressing?.pool;
  const pool = poolText === undefined ? undefined : parseIpv4Network(poolText);
  const links = (thunderbolt?.links ?? []).flatMap((text, index): readonly Link[] => {
    const ends = parseLink(text);
    return ends === undefined ? [] : [{ index, ends }];
  });
  return {
    bridge: thunderbolt === undefined ? 'keep' : (thunderbolt.bridge ?? 'remove'),
    ...(thunderbolt?.foreignDaemons === undefined ? {} : { foreignDaemons: thunderbolt.foreignDaemons }),
    rdma: thunderbolt?.rdma ?? 'auto',
    ...given({ pool }),
    avoid: avoidedEnds(thunderbolt?.avoid ?? [], nodes),
    links,
    networks: {},
    formerNetworks: [],
  };
}

/** The receptacles to avoid, from the file and from the table of Macs, sorted by node and number. */
function avoidedEnds(avoid: readonly (number | string)[], nodes: readonly DesiredNode[]): readonly LinkEnd[] {
  const ends = new Map<string, LinkEnd>();
  const add = (end: LinkEnd): void => void ends.set(linkEndText(end), end);
  const everywhere = avoid.filter((one) => typeof one === 'number');
  for (const { name, hardware } of nodes) {
    const model = hardware.model === undefined ? undefined : macModel(hardware.model);
    for (const receptacle of [...(model?.avoid ?? []), ...everywhere]) {
      if (model === undefined || receptacle <= model.receptacles) add({ node: name, receptacle });
    }
  }
  for (const text of avoid) {
    const end = typeof text === 'string' ? parseLinkEnd(text) : undefined;
    if (end !== undefined) add(end);
  }
  return [...ends.values()].sort((a, b) => compareText(a.node, b.node) || a.receptacle - b.receptacle);
}

const byName = <T>(specs: Readonly<Record<string, T>> | undefined): readonly (readonly [string, T])[] =>
  Object.entries(specs ?? {}).sort(([a], [b]) => compareText(a, b));

/** A file's runtimes with their defaults, sorted by name. Archive paths are the same as in the file. */
export const resolveRuntimes = (
  { runtimes, downloads }: ClusterSpec,
  drivers: KeysByDriver,
): readonly DesiredRuntime[] =>
  byName(runtimes).map(([name, spec]) => {
    const { driver, archive, version } = spec;
    const keys = drivers.get(driver);
    const published = version === undefined ? keys?.tool : (keys?.releases?.archive(version) ?? keys?.tool);
    return { driver, name, ...archiveOf(archive, published, downloads), extras: [], ...keys?.resolve(spec) };
  });

/** A file's models, sorted by name. A model without `files` has an empty list. */
const resolveModels = ({ models, downloads }: ClusterSpec): readonly DesiredModel[] =>
  byName(models).map(([name, spec]) => {
    const hub = hubSource(spec.source, spec.include);
    return {
      name,
      ...given({ repository: spec.repository ?? hub?.repository, hub, adopt: spec.adopt }),
      ...(spec.files === undefined && isServer(spec.source) ? { listedAt: spec.source } : {}),
      ...(spec.trustRemoteCode === undefined ? {} : { trustedCode: digestsOf(spec.trustRemoteCode) }),
      source: modelSource(spec.source, downloads),
      files: filesOf(spec),
    };
  });

/** `600Mb/s` and `2.5Gb/s`, which are bits, in bytes. */
function bytesPerSecondOf(rate: string): number {
  const megabits = Number.parseFloat(rate) * (rate.endsWith('Gb/s') ? 1_000 : 1);
  return Math.round(megabits * 125_000);
}

/** `22:00-06:00`. */
function hoursOf(window: string): DownloadHours {
  const [begin = '', end = ''] = window.split('-');
  return { begin, end };
}

function resolveDownloads({ downloads, secrets }: ClusterSpec): DesiredDownloads | undefined {
  const token = resolveSecretSource(secrets?.huggingface);
  const found: DesiredDownloads = {
    ...given({
      mirror: downloads?.mirror,
      maxBytesPerSecond: downloads?.maxRate === undefined ? undefined : bytesPerSecondOf(downloads.maxRate),
      hours: downloads?.window === undefined ? undefined : hoursOf(downloads.window),
      via: downloads?.via === undefined ? undefined : nodeName(downloads.via),
      token: token?.kind === 'prompt' ? undefined : token,
    }),
    ...(downloads?.plainHttp === 'allowed' ? { plainHttp: true } : {}),
  };
  return Object.keys(found).length === 0 ? undefined : found;
}

const isServer = (source: string): boolean => /^https?:/.test(source);

/** Parses a model's source. A base URL is replaced by the mirror's; a repository has no URL until settled. */
export function modelSource(text: string, downloads: ClusterSpec['downloads']): ModelSource {
  if (text.startsWith('hf:')) return { kind: 'hub' };
  if (text.startsWith('node:')) return { kind: 'node', folder: text.slice('node:'.length) };
  if (isServer(text)) {
    const base = mirrored(text.endsWith('/') ? text : `${text}/`, downloads);
    return { kind: 'url', base, ...(downloads?.plainHttp === 'allowed' ? { plainHttp: true } : {}) };
  }
  return { kind: 'controller', folder: text };
}

const digestsOf = (texts: Readonly<Record<string, string>>): Readonly<Record<string, Digest>> =>
  Object.fromEntries(byName(texts).map(([path, text]) => [path, digest(text)]));

const filesOf = ({ files }: ModelSpec): readonly TreeFile[] =>
  byName(files).map(([path, { sha256, size }]) => ({ path, sha256: digest(sha256), sizeBytes: size }));

/** Whether the file publishes the endpoint, or the driver needs a gateway in front of several nodes. */
function isBehindGateway(
  { endpoint, runtime, nodes, fallback }: PlacementSpec,
  { runtimes }: ClusterSpec,
  drivers: KeysByDriver,
): boolean {
  const most = Math.max(nodes.length, fallback?.nodes.length ?? 0);
  const keys = drivers.get(runtimes?.[runtime]?.driver ?? '');
  return endpoint?.listen === 'lan' || (keys?.needsGateway === true && most > 1);
}

function publicationOf(name: string, { endpoint = {} }: PlacementSpec): Publication {
  const { listen, servedName = name, access, apiKey, proxies } = endpoint;
  if (listen !== 'lan') return { servedName, isLocal: true };
  const sources = access === 'anybody' ? [] : keySources(apiKey);
  return { servedName, ...given({ apiKeys: sources.length === 0 ? undefined : sources, proxies }) };
}

/** The name of meshwright's file in the gateway's tree. */
export const gatewayFile = 'gateway.mjs';

/** Resolves a file's gateway. The source of meshwright's file is only a name until the command line sets its path. */
function resolveGateway({ gateway = {}, downloads }: ClusterSpec): DesiredGateway {
  const { node, version = defaultNode, program } = gateway;
  const source = archiveOf(node, nodeReleases.archive(version), downloads);
  const { archive } = source;
  const folder = archive.slice(archive.lastIndexOf('/') + 1).replace(/\.(?:tar\.gz|tar\.xz|zip)$/, '');
  return {
    name: gatewayTree,
    ...source,
    extras: [{ name: gatewayFile, source: gatewayFile }],
    program: program ?? `${folder}/bin/node`,
  };
}

/** The gateway tree's folder name among the runtime trees. It is reserved: no runtime may use it. */
export const gatewayTree = 'gateway';

const defaultFirstToken = '60s';

/** One placement per node for a placement with `replicas`, otherwise the placement itself. */
function replicasIn(
  name: string,
  spec: PlacementSpec,
  publication: Publication | undefined,
): readonly DesiredPlacement[] {
  if (spec.replicas === undefined) return [resolvePlacement(name, spec, publication)];
  return spec.nodes.map((node, at) => ({
    ...resolvePlacement(name, { ...spec, nodes: [node] }, publication),
    name: replicaName(name, node),
    replica: { of: name, at },
  }));
}

function resolvePlacement(name: string, spec: PlacementSpec, publication: Publication | undefined): DesiredPlacement {
  const { model, drafter, runtime, sharding, shares, roles, allow, backend, endpoint, expect } = spec;
  return {
    name,
    model,
    ...given({ drafter }),
    runtime,
    nodes: spec.nodes.map((node) => nodeName(node)),
    ...given({ sharding }),
    transport: spec.transport,
    contextTokens: contextTokens(String(spec.context)) ?? 0,
    parallel: spec.parallel ?? 1,
    env: { ...spec.env },
    args: [...(spec.args ?? [])],
    ...given({ shares, roles: roles?.prefill === undefined ? undefined : { prefill: nodeName(roles.prefill) } }),
    ...given({ allow, backend: backend === 'auto' ? undefined : backend }),
    endpointPort: endpoint?.port ?? defaultEndpointPort,
    ...given({ publication }),
    firstTokenMs: durationMs(expect?.firstToken ?? defaultFirstToken) ?? 0,
    ...given({ tokensPerSecond: expect?.tokensPerSecond }),
    state: spec.state ?? 'serving',
    ...given({ fallback: spec.fallback && resolveFallback(spec.fallback, spec.context) }),
  };
}

const resolveFallback = (
  { nodes, context }: NonNullable<PlacementSpec['fallback']>,
  own: PlacementSpec['context'],
): NonNullable<DesiredPlacement['fallback']> => ({
  nodes: nodes.map((node) => nodeName(node)),
  contextTokens: contextTokens(String(context ?? own)) ?? 0,
});

function resolveSecretSource(spec: SecretSpec | KeySpec | undefined): SecretSource | undefined {
  if (spec?.env !== undefined) return { kind: 'env', name: spec.env };
  if (spec?.file !== undefined) return { kind: 'file', path: spec.file };
  if (spec?.command !== undefined) return { kind: 'command', argv: spec.command };
  return spec !== undefined && 'prompt' in spec && spec.prompt === true ? { kind: 'prompt' } : undefined;
}

const keySources = (spec: KeySpec | readonly KeySpec[] | undefined): readonly ApiKeySource[] =>
  (spec === undefined ? [] : [spec].flat()).flatMap((one) => {
    const source = resolveSecretSource(one);
    return source === undefined || source.kind === 'prompt' ? [] : source;
  });

/** Hides environment variables that contain secrets of the file from the commands that read other secrets. */
function withHiddenVariables(fleet: DesiredFleet): DesiredFleet {
  const all = [
    ...fleet.nodes.flatMap(({ password }) => password ?? []),
    ...fleet.placements.flatMap(({ publication }) => publication?.apiKeys ?? []),
    ...(fleet.downloads?.token === undefined ? [] : [fleet.downloads.token]),
  ];
  const hidden = [...new Set(all.flatMap((one) => (one.kind === 'env' ? one.name : [])))];
  if (hidden.length === 0) return fleet;
  const hiding = <Source extends SecretSource>(one: Source): Source =>
    one.kind === 'command' ? { ...one, hidden } : one;
  const { token } = fleet.downloads ?? {};
  const { updateDriver } = fleet.macos;
  return {
    ...fleet,
    macos: {
      ...fleet.macos,
      ...(typeof updateDriver === 'object' ? { updateDriver: hiding(updateDriver) } : {}),
    },
    ...(token === undefined ? {} : { downloads: { ...fleet.downloads, token: hiding(token) } }),
    nodes: fleet.nodes.map(({ outlet, ...node }) => ({
      ...node,
      ...given({
        password: node.password && hiding(node.password),
        outlet: outlet && { ...outlet, on: hiding(outlet.on), off: hiding(outlet.off), state: hiding(outlet.state) },
      }),
    })),
    placements: fleet.placements.map((placement) => {
      const { publication } = placement;
      const apiKeys = publication?.apiKeys?.map(hiding);
      return publication === undefined
        ? placement
        : { ...placement, publication: { ...publication, ...given({ apiKeys }) } };
    }),
  };
}
