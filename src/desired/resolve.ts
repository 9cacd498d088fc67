import { gatewayAccount, ranksAccount } from '../model/account.ts';
import type { ClusterSpec, Node as NodeSpec } from '../model/cluster-spec.generated.ts';
import type { DesiredFleet, DesiredNode, DesiredWiredLimit, WishedSettings } from '../model/desired.ts';
import { withMinor } from '../model/facts/mac.ts';
import { given } from '../model/given.ts';
import { macModel } from '../model/macs.ts';
import { type Link, type LinkEnd, linkEndText, nodeName } from '../model/node.ts';
import { isDayOver } from '../model/text/units.ts';
import { parseIpv4Network } from './addresses.ts';
import { memoryLabelBytes, sizeBytes } from './amounts.ts';
import { parseLink, parseLinkEnd } from './parse-link.ts';
import { resolveDoorman, resolveModels, resolvePlacements, resolveRuntimes } from './resolve-placements.ts';
import { resolveSecretSource, withHiddenVariables } from './secret-sources.ts';

/** The fleet in which every hold of the file is marked of which the last day was over by this time. */
export function judgeHolds(fleet: DesiredFleet, nowEpochMs: number): DesiredFleet {
  const nodes = fleet.nodes.map((node) => {
    const { hold } = node;
    const isOver = hold?.until !== undefined && isDayOver(hold.until, nowEpochMs);
    return hold === undefined || !isOver ? node : { ...node, hold: { ...hold, isOver } };
  });
  return { ...fleet, nodes };
}

/**
 * The whole file with its defaults filled in. The spec must have passed the schema and the meaning rules: what they
 * refuse is not looked at again.
 */
export function resolveFleet(spec: ClusterSpec): DesiredFleet {
  const nodes = Object.entries(spec.nodes)
    .map(([name, node]) => resolveNode(name, node, spec.ssh ?? {}))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const { wiredLimit, fileVault, keeper } = spec.system ?? {};
  const doorman = resolveDoorman(spec);
  return withHiddenVariables({
    name: spec.name,
    nodes,
    macos: resolveMacos(spec),
    power: resolvePower(spec),
    system: {
      fileVault: fileVault ?? 'any',
      accounts: resolveAccounts(spec),
      ...(keeper === 'none' ? {} : { keeper: 'auto' }),
      ...(wiredLimit === undefined ? {} : { wiredLimit: resolveWiredLimit(wiredLimit) }),
      ...resolveMacSettings(spec),
    },
    thunderbolt: resolveThunderbolt(spec, nodes),
    ...given({ doorman }),
    runtimes: resolveRuntimes(spec),
    models: resolveModels(spec),
    placements: resolvePlacements(spec),
  });
}

type SshSpec = NonNullable<ClusterSpec['ssh']>;

function resolveNode(name: string, node: NodeSpec, ssh: SshSpec): DesiredNode {
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
    hardware: {
      ...given({ model, memoryBytes, serial }),
    },
    labels: { ...node.labels },
    ...(node.hold === undefined ? {} : { hold: { ...node.hold } }),
  };
}

function resolveMacos({ macos }: ClusterSpec): DesiredFleet['macos'] {
  const { updates, version, accept } = macos ?? {};
  return {
    ...(version === undefined ? {} : { version: withMinor(version) }),
    ...given({ accept }),
    ...(updates?.automatic === 'disabled' ? { automaticUpdates: 'disabled' } : {}),
  };
}

/** Those that apply makes, unless the file names others; no gateway needs one where the file has no doorman. */
function resolveAccounts({ system, doorman }: ClusterSpec): DesiredFleet['system']['accounts'] {
  const { ranks = ranksAccount, gateway = doorman && gatewayAccount } = system?.accounts ?? {};
  return {
    ...(ranks === 'login' ? {} : { ranks }),
    ...(gateway === undefined || gateway === 'login' ? {} : { gateway }),
  };
}

/** Settings of which the usual value is to leave the Mac as it is. */
function resolveMacSettings({ system }: ClusterSpec): WishedSettings {
  const { wiredLimit: _limit, fileVault: _vault, accounts: _accounts, keeper: _keeper, ...settings } = system ?? {};
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== 'keep' && value !== 'any'));
}

function resolvePower({ power }: ClusterSpec): DesiredFleet['power'] {
  const sleep = power?.sleep;
  const restart = power?.restartAfterPowerLoss;
  return {
    ...(sleep === undefined ? {} : { sleepMinutes: sleep === 'never' ? 0 : sleep }),
    ...given({ restartAfterPowerLoss: restart }),
  };
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

/** The file's own and the product's receptacles to avoid, each once, by node and number. */
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
  return [...ends.values()].sort((a, b) => compareEnds(a, b));
}

const compareEnds = (a: LinkEnd, b: LinkEnd): number =>
  a.node === b.node ? a.receptacle - b.receptacle : a.node < b.node ? -1 : 1;
