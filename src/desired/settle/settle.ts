import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { ClusterLock, LockedShape } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredGateway, DesiredModel, DesiredPlacement } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import type { ShapeFact } from '../../model/model-shape.ts';

import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { KeysByDriver } from '../rules/rule.ts';
import { settlePackages, settleWheels } from './python-packages.ts';
import { settleLinks } from './settle-links.ts';
import { lockedKeys, type SettledRuntime, settleRuntime, versionNames, withVersionKeys } from './settle-runtime.ts';
import { own, type SourceFacts, settleModel } from './settle-trees.ts';

/** Adds nodes to a lock. A node remains in the lock until `forget` removes it. */
export const withNodes = (lock: ClusterLock, names: readonly string[]): ClusterLock => ({
  ...lock,
  nodes: [...new Set([...lock.nodes, ...names])].sort(),
});

/** Adds the Macs' identities to a lock. Known identities remain unchanged. */
export const withIdentities = (lock: ClusterLock, seen: Readonly<Record<string, Digest>>): ClusterLock =>
  Object.keys(seen).length === 0 ? lock : { ...lock, identities: { ...seen, ...lock.identities } };

/** Records that a node is now a different Mac. */
export const withOtherMac = (lock: ClusterLock, name: string, identity: Digest): ClusterLock => ({
  ...withoutWithdrawal(lock, [name]),
  identities: { ...lock.identities, [name]: identity },
});

export const withWithdrawal = (lock: ClusterLock, name: string): ClusterLock => ({
  ...lock,
  withdrawing: [...new Set([...(lock.withdrawing ?? []), name])].sort(),
});

/** Clears that record for nodes that were reached again. */
export const withoutWithdrawal = (
  { withdrawing = [], ...lock }: ClusterLock,
  names: readonly string[],
): ClusterLock => {
  const rest = withdrawing.filter((name) => !names.includes(name));
  return { ...lock, ...(rest.length === 0 ? {} : { withdrawing: rest }) };
};

export const withoutNode = (known: ClusterLock, name: string): ClusterLock => {
  const { identities, ...lock } = withoutWithdrawal(known, [name]);
  const rest = Object.entries(identities ?? {}).filter(([other]) => other !== name);
  return {
    ...lock,
    nodes: lock.nodes.filter((other) => other !== name),
    ...(rest.length === 0 ? {} : { identities: Object.fromEntries(rest) }),
  };
};

/**
 * Removes former networks from a lock, after the caller has observed that no node has an address in them.
 *
 * @param networks as `10.77.0.4/30`
 */
export function withoutFormerNetworks(lock: ClusterLock, networks: readonly string[]): ClusterLock {
  const rest = Object.entries(lock.formerNetworks).filter(([network]) => !networks.includes(network));
  return { ...lock, formerNetworks: Object.fromEntries(rest) };
}

/** A lock with the entries that another one has for one runtime. */
export function withRuntimeOf(lock: ClusterLock, other: ClusterLock, name: string): ClusterLock {
  const isOwn = (key: string): boolean => key === name || key.startsWith(`${name}/`);
  const joined = <T>(all: Readonly<Record<string, T>> = {}, own: Readonly<Record<string, T>> = {}) =>
    Object.fromEntries([
      ...Object.entries(all).filter(([key]) => !isOwn(key)),
      ...Object.entries(own).filter(([key]) => isOwn(key)),
    ]);
  const { releases, runtimeFiles, rolledBack, runtimeKeys, ...rest } = lock;
  return {
    ...rest,
    runtimes: joined(lock.runtimes, other.runtimes),
    ...given({
      releases: unlessEmpty(joined(releases, other.releases)),
      runtimeFiles: unlessEmpty(joined(runtimeFiles, other.runtimeFiles)),
      rolledBack: unlessEmpty(joined(rolledBack, other.rolledBack)),
      runtimeKeys: unlessEmpty(joined(runtimeKeys, other.runtimeKeys)),
    }),
  };
}

export interface SettledFleet {
  readonly fleet: DesiredFleet;
  /** The lock to write. Even without additions it differs from the old lock if something was removed from the file. */
  readonly lock: ClusterLock;
  /** New or changed lock entries, one line each. They must be shown before a person consents to them. */
  readonly additions: readonly string[];
  /** If one of them is an error, the fleet is incomplete and must not be planned. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Adds the lock's values, existing or new, to a resolved fleet: node identities, link networks, archive digests and
 * model files. Local paths become absolute. Pure: the caller reads the files that `sourcesToRead` lists.
 *
 * @param baseFolder the folder of the cluster file, absolute
 * @param drivers every driver's keys, from the list of drivers
 */
export function settleFleet(
  fleet: DesiredFleet,
  lock: ClusterLock,
  sources: SourceFacts,
  baseFolder: string,
  drivers: KeysByDriver,
): SettledFleet {
  const links = settleLinks(fleet.thunderbolt, lock);
  const wheeled = fleet.runtimes.map((one) => settleWheels(one, { lock, sources, baseFolder }));
  const runtimes = wheeled.map((one) => settleRuntime(one.runtime, { lock, sources: one.sources, baseFolder }));
  const listed = runtimes.map((one) => settlePackages(one.wanted, sources, drivers));
  const gateway = fleet.gateway === undefined ? undefined : settleRuntime(fleet.gateway, { lock, sources, baseFolder });
  const programs = [...runtimes, ...(gateway === undefined ? [] : [needed(gateway)])];
  const models = fleet.models.map((one) => settleModel(one, { lock, sources, baseFolder, downloads: fleet.downloads }));
  const shaped = settleShapes(
    models.map((one) => one.wanted),
    lock,
  );
  const versions = listed.map(({ runtime }) => [runtime.name, lockedKeys(runtime, lock, drivers)] as const);
  const { releases: _____, runtimeFiles: _, shapes: __, rolledBack: ___, runtimeKeys: ____, ...rest } = lock;
  const newLock: ClusterLock = {
    ...rest,
    links: links.links,
    formerNetworks: links.formerNetworks,
    runtimes: lockedByName(programs),
    models: lockedByName(models),
    ...given({
      releases: unlessEmpty(
        lockedByName(programs.map(({ wanted, lockedRelease: locked }) => ({ wanted, ...given({ locked }) }))),
      ),
      runtimeFiles: unlessEmpty(Object.assign({}, ...programs.map((one) => one.lockedExtras))),
      rolledBack: unlessEmpty(
        lockedByName(programs.map(({ wanted, rolledBack: locked }) => ({ wanted, ...given({ locked }) }))),
      ),
      runtimeKeys: unlessEmpty(Object.fromEntries(versions.filter(([, all]) => all.length > 0))),
      shapes: shaped.shapes,
    }),
  };
  return {
    fleet: {
      ...fleet,
      nodes: fleet.nodes.map((node) => ({ ...node, ...given({ identity: own(lock.identities, node.name) }) })),
      thunderbolt: links.thunderbolt,
      ...(gateway === undefined ? {} : { gateway: gateway.wanted }),
      runtimes: listed.map((one) => withVersionKeys(one.runtime, lock)),
      ...given({
        versions: unlessEmpty(
          versionNames([...Object.values(lock.runtimeKeys ?? {}), ...versions.map(([, all]) => all)].flat()),
        ),
      }),
      models: shaped.models,
      placements: fleet.placements.map((one) => withKeyHashes(one, sources)),
    },
    lock: newLock,
    additions: [links, ...programs, ...models].flatMap((one) => one.additions),
    diagnostics: [
      ...lock.nodes.filter((name) => !fleet.nodes.some((node) => node.name === name)).map(leftFile),
      ...[links, ...programs, ...wheeled, ...listed, ...models].flatMap((one) => one.diagnostics),
      ...tooLarge(newLock),
    ],
  };
}

/** Adds the hashes of the API keys to a published placement, if the keys were read. */
function withKeyHashes(placement: DesiredPlacement, { keys }: SourceFacts): DesiredPlacement {
  const { name, publication } = placement;
  const keyHashes = own(keys, name);
  if (publication === undefined || keyHashes === undefined) return placement;
  return { ...placement, publication: { ...publication, keyHashes } };
}

/** Omits empty sections, so that a lock from an older meshwright remains unchanged. */
const unlessEmpty = <T>(section: Readonly<Record<string, T>>): Readonly<Record<string, T>> | undefined =>
  Object.keys(section).length === 0 ? undefined : section;

function lockedByName<Locked>(
  all: readonly { readonly wanted: { readonly name: string }; readonly locked?: Locked }[],
): Readonly<Record<string, Locked>> {
  return Object.fromEntries(
    all.flatMap(({ wanted, locked }) => (locked === undefined ? [] : [[wanted.name, locked] as const])),
  );
}

/** Every published placement needs the gateway, so its warnings become errors that prevent a plan. */
const needed = (gateway: SettledRuntime<DesiredGateway>): SettledRuntime<DesiredGateway> => ({
  ...gateway,
  diagnostics: gateway.diagnostics.map((one) => ({ ...one, severity: 'error' })),
});

const leftFile = (name: string): Diagnostic =>
  diagnose('lock/node-left-file', {
    detail: prose`${named(name)} was set up earlier, but is no longer in the file.`,
    hint: prose`Add it to \`nodes\` again. If the Mac is gone for good: ${meshwright('forget', name)}`,
    subject: nodeSubject(name),
  });

/** The maximum number of characters in all model lists together, well below the limit of a lock file (512 KiB). */
const mostListCharacters = 400_000;
const charactersBesidePath = 100;

function tooLarge({ models }: ClusterLock): readonly Diagnostic[] {
  const all = Object.values(models).flatMap(({ files }) => files);
  const characters = all.reduce((sum, file) => sum + file.path.length + charactersBesidePath, 0);
  if (characters <= mostListCharacters) return [];
  const detail = `All models together have ${all.length} files, which need ${characters} characters in the lock (limit ${mostListCharacters}).`;
  return [diagnose('model/too-many-files', { detail })];
}

/** The shapes read from model headers, keyed by model name. */
export type ShapeFacts = Readonly<Record<string, ShapeFact>>;

/** Adds shapes to models: those read now, or those in the lock for the same files, which determine the shape. */
export function settleShapes(
  models: readonly DesiredModel[],
  { shapes = {} }: Pick<ClusterLock, 'shapes'>,
  read: ShapeFacts = {},
) {
  const settled = models.map((model) => withShape(model, own(shapes, model.name), own(read, model.name)));
  const entries = settled.flatMap(({ name, digest, shape }) =>
    digest === undefined || shape === undefined ? [] : [[name, { of: digest, shape }] as const],
  );
  return { models: settled, ...given({ shapes: unlessEmpty<LockedShape>(Object.fromEntries(entries)) }) };
}

function withShape(model: DesiredModel, locked: LockedShape | undefined, read: ShapeFact | undefined): DesiredModel {
  const { shapeUnknown: _, ...rest } = model;
  if (read?.kind === 'known') return { ...rest, shape: read.shape };
  if (locked !== undefined && locked.of === model.digest) return { ...rest, shape: locked.shape };
  return read === undefined ? model : { ...rest, shapeUnknown: read.why };
}
