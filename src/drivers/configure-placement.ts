import { askedPort, rankPort } from '../desired/endpoints.ts';
import { loadedModels, ranksUser } from '../desired/layouts.ts';
import { madeFirst } from '../desired/settle/settle-runtime.ts';
import { declaredText } from '../model/declared-settings.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement, DesiredRuntime } from '../model/desired.ts';
import { canonicalJson, type Digest, digestOf, type Json } from '../model/digest.ts';
import type { GoldenCheck } from '../model/endpoint-calls.ts';
import type { RankRecord } from '../model/facts/fact-values.ts';
import { given } from '../model/given.ts';
import { everyPair, joinText } from '../model/lists.ts';
import { type Link, linkEndText, type NodeName } from '../model/node.ts';
import type { JobArgs, ScriptArgs } from '../model/node-script.ts';
import type { NodePath, Word } from '../model/probe.ts';
import type { Text } from '../model/step.ts';
import { plistHead } from '../node/launchd-service.ts';
import { accountEnvironment, rankFilesFolder, rankLog, rankServiceLabel, treeFolder } from '../node/paths/own-paths.ts';
import { addressTowards, endTowards, linksBetween, rankAddresses } from './contract/addresses.ts';
import { goldenBody } from './contract/chat-request.ts';
import {
  type EnvValue,
  lastingNames,
  type RankCommand,
  type RankFile,
  type RankMatrix,
  type RankPreparation,
  type RuntimeDriver,
  type SeenNames,
} from './contract/driver.ts';
import { driverOf } from './registry.ts';

export interface RankConfiguration extends Pick<ScriptArgs['bootstrap-rank'], 'record' | 'user' | 'request'> {
  readonly node: NodeName;
  readonly service: Text;
  /** JSON body of the golden question, and the check of its answer. */
  readonly golden: { readonly question: string; readonly check: GoldenCheck };
  /** Sorted by name. */
  readonly files: readonly RankFile[];
  /** Absent if nothing has to run before the rank. */
  readonly prepare?: JobArgs['prepare-rank'];
  /** Amount of its node's launch budget that a start uses (default 1). */
  readonly takesOfDevice?: number;
}

/** One start of a placement, in rank order. */
export interface Configured {
  readonly kind: 'configured';
  readonly digest: Digest;
  /** Its settings, as a start stores them. @see declaredText */
  readonly declared: string;
  readonly ranks: readonly RankConfiguration[];
}

/** One start of a placement, or the value that is still missing. */
export type Configuration =
  | Configured
  /** `missing` continues "cannot be started: ". If `digest` is set, only a name observed on a node is missing. */
  | { readonly kind: 'incomplete'; readonly missing: string; readonly digest?: Digest; readonly declared?: string };

type KnownModel = DesiredModel & { readonly digest: Digest };

interface Parts {
  readonly placement: DesiredPlacement;
  readonly runtime: DesiredRuntime & { readonly digest: Digest };
  readonly model: KnownModel;
  readonly drafter?: KnownModel;
  readonly addresses: readonly string[];
  readonly thunderbolt: DesiredFleet['thunderbolt'];
  readonly users: Readonly<Record<string, string | undefined>>;
  /** SSH host names, in rank order. */
  readonly hosts: readonly string[];
  /** The account of all nodes in {@link users}. meshwright manages its folders. */
  readonly account: string | undefined;
  readonly nativeProgram: DesiredFleet['nativeProgram'];
}

/**
 * Configures every rank of a placement for one start. The digest excludes the generation and all names that macOS may
 * change. So the digest is equal for all starts and nodes, and a different digest means that the file changed.
 */
export function configurePlacement(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  generation: number,
  names: SeenNames,
): Configuration {
  const parts = partsOf(placement, fleet);
  if (typeof parts === 'string') return { kind: 'incomplete', missing: parts };
  const { transport, sharding = 'none', contextTokens } = placement;
  const lasting = configureRanks(parts, 0, lastingNames);
  // The GID of an RDMA device is made from its address, so a running mesh must not outlive a change of addresses.
  const gids = transport === 'rdma' && placement.nodes.length > 1 ? { addresses: betweenOf(parts) } : {};
  const digest = digestOf({ transport, sharding, contextTokens, ranks: lasting.map(asJson), ...gids });
  const declared = declaredOf(parts);
  const missing = unseenName(parts, names);
  if (missing !== undefined) return { kind: 'incomplete', missing, digest, declared };
  const ranks = configureRanks(parts, generation, names).map(({ record, ...rest }) => ({
    ...rest,
    record: { ...record, digest },
  }));
  return { kind: 'configured', digest, declared, ranks };
}

const matrixOf = (
  nodes: readonly NodeName[],
  of: (node: NodeName, other: NodeName) => string | undefined,
): RankMatrix => nodes.map((node) => nodes.map((other) => (node === other ? null : (of(node, other) ?? null))));

/** Each rank's address on its cable to each other rank. */
const betweenOf = ({ placement: { nodes }, thunderbolt }: Parts): RankMatrix =>
  matrixOf(nodes, (node, other) => addressTowards(thunderbolt, node, other));

function declaredOf(parts: Parts): string {
  const { placement, runtime, thunderbolt, addresses } = parts;
  const cables = everyPair(placement.nodes).flatMap(([node, other]) => linksBetween(thunderbolt, node, other));
  const backend = driverOf(runtime).backendOf?.(placement, betweenOf(parts));
  return declaredText({ ...parts, cables: cables.length, addresses, ...given({ backend }) });
}

function partsOf(placement: DesiredPlacement, fleet: DesiredFleet): Parts | string {
  const runtime = fleet.runtimes.find(({ name }) => name === placement.runtime);
  const [model, drafter] = loadedModels(placement).map(
    (name) => fleet.models.filter(isKnown).find((one) => one.name === name) ?? name,
  );
  if (runtime?.digest === undefined) {
    const first = runtime && madeFirst(runtime);
    return `the digest of runtime ${placement.runtime} is ${first === undefined ? 'not known yet' : `known after ${first}`}`;
  }
  if (typeof model !== 'object') return `the files of model ${placement.model} are not known yet`;
  if (typeof drafter === 'string') return `the files of model ${drafter} are not known yet`;
  const addresses = rankAddresses(fleet.thunderbolt, placement.nodes);
  if (addresses === undefined) return 'a link between neighboring ranks has no address';
  return {
    placement,
    runtime: { ...runtime, digest: runtime.digest },
    model,
    ...given({ drafter }),
    addresses,
    thunderbolt: fleet.thunderbolt,
    users: Object.fromEntries(fleet.nodes.map((node) => [node.name, ranksUser(fleet, node)])),
    hosts: placement.nodes.map((name) => fleet.nodes.find((node) => node.name === name)?.host ?? name),
    account: fleet.system.accounts.ranks,
    nativeProgram: fleet.nativeProgram,
  };
}

const isKnown = (model: DesiredModel): model is KnownModel => model.digest !== undefined;

const modelFolder = ({ name, digest }: KnownModel): NodePath => treeFolder({ kind: 'model', name, digest });

/** The first of the driver's required names that was not observed. */
function unseenName({ placement, runtime, thunderbolt }: Parts, names: SeenNames): string | undefined {
  const needs = driverOf(runtime).needs?.(placement, runtime) ?? [];
  const { nodes } = placement;
  if (needs.includes('lan')) {
    const unseen = nodes.find((node) => names.lan(node) === undefined);
    if (unseen !== undefined) return `the office network address of ${unseen} is not known`;
  }
  if (!needs.includes('devices')) return undefined;
  const ends = nodes.flatMap((node) => nodes.flatMap((other) => endTowards(thunderbolt, node, other) ?? []));
  const end = ends.find((one) => names.device(one) === undefined);
  return end === undefined ? undefined : `the RDMA device of ${linkEndText(end)} is not known`;
}

type UnsealedRank = Omit<RankConfiguration, 'record'> & { readonly record: Omit<RankRecord, 'digest'> };

function configureRanks(parts: Parts, generation: number, names: SeenNames): readonly UnsealedRank[] {
  const { placement, runtime, model, drafter, addresses, thunderbolt } = parts;
  const { nodes } = placement;
  const driver = driverOf(runtime);
  const token = driver.tokenRequest(placement, runtime, model);
  const common = {
    placement,
    runtime,
    model,
    ...given({ drafter: drafter && { model: drafter, folder: modelFolder(drafter) } }),
    generation,
    port: rankPort(placement.name, generation),
    endpointPort: askedPort(placement),
    addresses,
    between: betweenOf(parts),
    devices: matrixOf(nodes, (node, other) => {
      const end = endTowards(thunderbolt, node, other);
      return end === undefined ? undefined : names.device(end);
    }),
    cables: nodes.map((node) => nodes.map((other) => devicesOf(linksBetween(thunderbolt, node, other), node, names))),
    lan: nodes.map((node) => names.lan(node) ?? null),
    hosts: parts.hosts,
    runtimeFolder: treeFolder({ kind: 'runtime', name: runtime.name, digest: runtime.digest }),
    modelFolder: modelFolder(model),
    filesFolder: rankFilesFolder(placement.name),
    ...given({ nativeProgram: parts.nativeProgram }),
  };
  return nodes.map((node, rank) => {
    const user = parts.users[node];
    const command = driver.configure({ ...common, node, rank, account: user ?? '' });
    const env = { ...accountEnv(parts.account), ...command.prepare?.env };
    return {
      node,
      record: {
        placement: placement.name,
        generation,
        rank,
        size: nodes.length,
        port: command.joinedPort,
        meetPort: command.meetPort,
        endpointPort: common.endpointPort,
        tokenPath: token.path,
        tokenPointer: token.pointer,
        ...given({ tokenCountPointer: token.countPointer }),
        tokenDeadlineMs: Math.min(placement.firstTokenMs, observedTokenMs),
        logPattern: driver.logPattern,
        driver: driver.id,
        ...(driver.takesOneRequest?.(placement) === true ? { requests: 'one' as const } : {}),
        declared: declaredOf(parts),
      },
      service: serviceFileText({
        placement: placement.name,
        argv: command.argv,
        env: { ...accountEnv(parts.account), ...command.env },
        ending: driver,
        ...given({ user }),
      }),
      request: canonicalJson(token.body),
      golden: { question: canonicalJson(goldenBody(token)), check: driver.goldenCheck(runtime) },
      user: user ?? '',
      files: command.files.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      ...given({
        takesOfDevice: command.takesOfDevice,
        prepare: command.prepare && preparationOf(placement.name, user ?? '', { ...command.prepare, env }),
      }),
    };
  });
}

function preparationOf(
  placement: string,
  account: string,
  { key, name, argv, env }: RankPreparation,
): JobArgs['prepare-rank'] {
  const texts = Object.entries(env).map(([variable, value]) => [variable, wordsOf([value].flat())] as const);
  return { placement, key, name, account, env: Object.fromEntries(texts), argv: argv.map(wordsOf) };
}

/** The login account occurs only in service files. */
const wordsOf = (text: Text): readonly Word[] =>
  text.flatMap((part) => (typeof part === 'string' || part.kind === 'node-path' ? part : []));

/** Environment with the folders that a service account without a home can write to. */
const accountEnv = (account: string | undefined): RankCommand['env'] =>
  account === undefined
    ? {}
    : Object.fromEntries(Object.entries(accountEnvironment(account)).map(([name, path]) => [name, [path]]));

/** A node's devices on these cables, without cables of which only one end was observed. */
const devicesOf = (links: readonly Link[], node: NodeName, names: SeenNames): readonly string[] =>
  links
    .filter(({ ends }) => ends.every((end) => names.device(end) !== undefined))
    .flatMap(({ ends }) => ends.filter((end) => end.node === node).flatMap((end) => names.device(end) ?? []));

/**
 * Time limit in milliseconds for the token check of a serving placement. It equals the default time limit of an
 * observation, because a probe that is cut off makes the placement unknown instead of hung.
 */
const observedTokenMs = 20_000;

const asJson = ({
  node,
  record: { driver: _driver, tokenCountPointer: _count, requests: _requests, declared: _declared, ...record },
  service,
  request,
  files,
}: UnsealedRank): Json => ({
  node,
  // Changes in how logs and answers are read, or how ranks are stopped, must not change the digest.
  record: { ...record, logPattern: '' },
  service: textJson(service),
  request,
  files: files.filter((file) => file.kind !== 'file' || file.isOptional !== true).map(fileJson),
});

function fileJson(file: RankFile): Json {
  switch (file.kind) {
    case 'link':
      return { name: file.name, to: { ...file.to } };
    case 'file':
      return { name: file.name, content: textJson(file.content) };
    case 'folder':
      return { name: file.name, keeps: file.keeps };
    case 'prepared':
      return { name: file.name, keeps: true };
  }
}

const textJson = (text: Text): Json => text.map((part) => (typeof part === 'string' ? part : { ...part }));

interface RankService {
  readonly placement: string;
  readonly argv: readonly Text[];
  readonly env: Readonly<Record<string, EnvValue>>;
  /** The account it runs as; absent: the ssh user. */
  readonly user?: string;
  /** The time that the rank needs to stop. */
  readonly ending: Pick<RuntimeDriver, 'graceMs' | 'interruptMs'>;
}

const exitTimeOut = ({ graceMs = 0, interruptMs = 0 }: RankService['ending']): number =>
  Math.max(leastExitTimeOut, Math.ceil((graceMs + interruptMs) / 1_000));

/** Minimum time in seconds between SIGTERM and SIGKILL when macOS itself stops a rank, for example at shutdown. */
const leastExitTimeOut = 10;

/** launchd throttles CPU and I/O of a job unless it is Interactive. */
const processType = 'Interactive';

/** launchd's default of 256 is too low for a rank's sockets, model files and libraries. */
const openFiles = 65_535;

/**
 * The property list of a rank's launchd job; equal ranks have equal lists. launchd never starts the job by itself,
 * neither at boot nor after an exit: a single rank is not a mesh, so ranks start only as a group. The log file already
 * exists and belongs to the user.
 *
 * @see launchd.plist(5): StandardOutPath, ExitTimeOut, UserName, ProcessType, SoftResourceLimits
 */
export function serviceFileText({ placement, argv, env, user, ending }: RankService): Text {
  const log = wordElement([rankLog(placement)]);
  const entries: readonly (readonly [string, Text])[] = [
    ['EnvironmentVariables', dictionary(env)],
    ['ExitTimeOut', [`<integer>${exitTimeOut(ending)}</integer>`]],
    ['KeepAlive', ['<false/>']],
    ['Label', [element(rankServiceLabel(placement))]],
    ['ProcessType', [element(processType)]],
    ['ProgramArguments', ['<array>\n', ...argv.flatMap((word) => ['\t\t', ...wordElement(word), '\n']), '\t</array>']],
    ['RunAtLoad', ['<false/>']],
    ['SoftResourceLimits', [`<dict>\n\t\t<key>NumberOfFiles</key>\n\t\t<integer>${openFiles}</integer>\n\t</dict>`]],
    ['StandardErrorPath', log],
    ['StandardOutPath', log],
    ['UserName', wordElement([user ?? { kind: 'login-user' }])],
  ];
  const body = entries.flatMap(([key, value]) => [`\t<key>${key}</key>\n\t`, ...value, '\n']);
  return joinText([plistHead, ...body, '</dict>\n</plist>\n']);
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeXml = (text: string): string => text.replaceAll(/[&<>]/g, (one) => escapes[one] ?? one);

const element = (text: string): string => `<string>${escapeXml(text)}</string>`;

/** Paths inside a property list are escaped like its text. */
const wordElement = (word: Text): Text => ['<string>', ...word.map(escapePart), '</string>'];

function escapePart(part: Text[number]): Text[number] {
  if (typeof part === 'string') return escapeXml(part);
  // An account name contains no character that needs escaping in XML.
  return part.kind === 'login-user' ? part : { ...part, path: escapeXml(part.path) };
}

function dictionary(values: Readonly<Record<string, EnvValue>>): Text {
  const entries = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return ['<dict/>'];
  const lines = entries.flatMap(([key, value]) => [
    `\t\t<key>${escapeXml(key)}</key>\n\t\t`,
    ...wordElement([value].flat()),
    '\n',
  ]);
  return ['<dict>\n', ...lines, '\t</dict>'];
}
