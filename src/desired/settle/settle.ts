import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { ClusterLock, LockedShape } from '../../model/cluster-lock.ts';
import type { DesiredDoorman, DesiredFleet, DesiredModel, DesiredPlacement } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import type { ShapeFact } from '../../model/model-shape.ts';

import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { KeysByDriver } from '../rules/rule.ts';
import { settlePackages, settleWheels } from './python-packages.ts';
import { settleLinks } from './settle-links.ts';
import { lockedKeys, type SettledRuntime, settleRuntime, withKeptKeys } from './settle-runtime.ts';
import { own, type SourceFacts, settleModel } from './settle-trees.ts';

/** A lock that knows these nodes too; a node stays in it until it is forgotten. */
export const withNodes = (lock: ClusterLock, names: readonly string[]): ClusterLock => ({
  ...lock,
  nodes: [...new Set([...lock.nodes, ...names])].sort(),
});

/** A lock that also says which Mac these nodes are; of a node that it knows already nothing changes. */
export const withIdentities = (lock: ClusterLock, seen: Readonly<Record<string, Digest>>): ClusterLock =>
  Object.keys(seen).length === 0 ? lock : { ...lock, identities: { ...seen, ...lock.identities } };

/** A lock by which this node is another Mac than before. */
export const withOtherMac = (lock: ClusterLock, name: string, identity: Digest): ClusterLock => ({
  ...withoutWithdrawal(lock, [name]),
  identities: { ...lock.identities, [name]: identity },
});

/** A lock by which the way into a node is being taken away. */
export const withWithdrawal = (lock: ClusterLock, name: string): ClusterLock => ({
  ...lock,
  withdrawing: [...new Set([...(lock.withdrawing ?? []), name])].sort(),
});

/** A lock for nodes that somebody got into again. */
export const withoutWithdrawal = (
  { withdrawing = [], ...lock }: ClusterLock,
  names: readonly string[],
): ClusterLock => {
  const kept = withdrawing.filter((name) => !names.includes(name));
  return { ...lock, ...(kept.length === 0 ? {} : { withdrawing: kept }) };
};

/** A lock that has forgotten a node. */
export const withoutNode = (known: ClusterLock, name: string): ClusterLock => {
  const { identities, ...lock } = withoutWithdrawal(known, [name]);
  const kept = Object.entries(identities ?? {}).filter(([other]) => other !== name);
  return {
    ...lock,
    nodes: lock.nodes.filter((other) => other !== name),
    ...(kept.length === 0 ? {} : { identities: Object.fromEntries(kept) }),
  };
};

/**
 * A lock without these former networks: whoever has seen that no node has an address of them any more says so here.
 *
 * @param networks as `10.77.0.4/30`
 */
export function withoutFormerNetworks(lock: ClusterLock, networks: readonly string[]): ClusterLock {
  const kept = Object.entries(lock.formerNetworks).filter(([network]) => !networks.includes(network));
  return { ...lock, formerNetworks: Object.fromEntries(kept) };
}

/** A fleet to which nothing is left to be resolved, and the lock that says how it was. */
export interface SettledFleet {
  readonly fleet: DesiredFleet;
  /** As it should be written: it may differ from the old one without an addition, where something left the file. */
  readonly lock: ClusterLock;
  /** What the old lock lacked or had differently, one line each; nobody may agree to it without having seen it. */
  readonly additions: readonly string[];
  /** With an error the fleet is incomplete and must not be planned. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Adds to a resolved fleet what stands in its lock or has to: which Mac each node is, the /30 of each link, the digest of each archive, the
 * files of each model; paths of this machine become absolute. Pure: what lies on the disk is an argument, read by the
 * caller as `sourcesToRead` says.
 *
 * @param baseFolder the folder of the cluster file, absolute
 * @param drivers the keys of every driver, from the list of drivers
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
  const doorman = fleet.doorman === undefined ? undefined : settleRuntime(fleet.doorman, { lock, sources, baseFolder });
  const programs = [...runtimes, ...(doorman === undefined ? [] : [needed(doorman)])];
  const models = fleet.models.map((one) => settleModel(one, { lock, sources, baseFolder }));
  const shaped = settleShapes(
    models.map((one) => one.wanted),
    lock,
  );
  const { runtimeFiles: _, shapes: __, takenBack: ___, runtimeKeys: ____, ...kept } = lock;
  const newLock: ClusterLock = {
    ...kept,
    links: links.links,
    formerNetworks: links.formerNetworks,
    runtimes: lockedByName(programs),
    models: lockedByName(models),
    ...given({
      runtimeFiles: unlessEmpty(Object.assign({}, ...programs.map((one) => one.lockedExtras))),
      takenBack: unlessEmpty(
        lockedByName(programs.map(({ wanted, takenBack: locked }) => ({ wanted, ...given({ locked }) }))),
      ),
      runtimeKeys: unlessEmpty(
        Object.fromEntries(
          listed
            .map(({ runtime }) => [runtime.name, lockedKeys(runtime, lock, drivers)] as const)
            .filter(([, versions]) => versions.length > 0),
        ),
      ),
      shapes: shaped.shapes,
    }),
  };
  return {
    fleet: {
      ...fleet,
      nodes: fleet.nodes.map((node) => ({ ...node, ...given({ identity: own(lock.identities, node.name) }) })),
      thunderbolt: links.thunderbolt,
      ...(doorman === undefined ? {} : { doorman: doorman.wanted }),
      runtimes: listed.map((one) => withKeptKeys(one.runtime, lock)),
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

/** A published placement with the hashes of its keys, where somebody has read them. */
function withKeyHashes(placement: DesiredPlacement, { keys }: SourceFacts): DesiredPlacement {
  const { name, publication } = placement;
  const keyHashes = own(keys, name);
  if (publication === undefined || keyHashes === undefined) return placement;
  return { ...placement, publication: { ...publication, keyHashes } };
}

/** No section where there is nothing in it: a lock of an older meshwright stays as it is. */
const unlessEmpty = <T>(section: Readonly<Record<string, T>>): Readonly<Record<string, T>> | undefined =>
  Object.keys(section).length === 0 ? undefined : section;

function lockedByName<Locked>(
  all: readonly { readonly wanted: { readonly name: string }; readonly locked?: Locked }[],
): Readonly<Record<string, Locked>> {
  return Object.fromEntries(
    all.flatMap(({ wanted, locked }) => (locked === undefined ? [] : [[wanted.name, locked] as const])),
  );
}

/** Every published placement needs it, so nothing is planned without it. */
const needed = (doorman: SettledRuntime<DesiredDoorman>): SettledRuntime<DesiredDoorman> => ({
  ...doorman,
  diagnostics: doorman.diagnostics.map((one) => ({ ...one, severity: 'error' })),
});

const leftFile = (name: string): Diagnostic =>
  diagnose('lock/node-left-file', {
    detail: prose`${named(name)} was set up once, and the file has no such node any more.`,
    hint: prose`Put it back under \`nodes\`; or, if it is gone for good: ${meshwright('forget', name)}`,
    subject: nodeSubject(name),
  });

/** Characters that the lists of all models may take, well below what a lock file may have (512 KiB). */
const mostListCharacters = 400_000;
const charactersBesidePath = 100;

function tooLarge({ models }: ClusterLock): readonly Diagnostic[] {
  const all = Object.values(models).flatMap(({ files }) => files);
  const characters = all.reduce((sum, file) => sum + file.path.length + charactersBesidePath, 0);
  if (characters <= mostListCharacters) return [];
  const detail = `All models together have ${all.length} files in the lock, with ${characters} characters.`;
  return [diagnose('model/too-many-files', { detail })];
}

/** What was read of the headers of models, by name. */
export type ShapeFacts = Readonly<Record<string, ShapeFact>>;

/** Models with their shapes, and what the lock keeps of them. */
interface SettledShapes {
  readonly models: readonly DesiredModel[];
  /** Absent when no shape is known. */
  readonly shapes?: Readonly<Record<string, LockedShape>>;
}

/**
 * Adds to models the shapes that were read, else those that the lock has of the very same files. A shape follows from
 * the files, so that nobody has to agree to it.
 */
export function settleShapes(
  models: readonly DesiredModel[],
  { shapes = {} }: Pick<ClusterLock, 'shapes'>,
  read: ShapeFacts = {},
): SettledShapes {
  const settled = models.map((model) => withShape(model, own(shapes, model.name), own(read, model.name)));
  const kept = settled.flatMap(({ name, digest, shape }) =>
    digest === undefined || shape === undefined ? [] : [[name, { of: digest, shape }] as const],
  );
  return { models: settled, ...(kept.length === 0 ? {} : { shapes: Object.fromEntries(kept) }) };
}

function withShape(model: DesiredModel, locked: LockedShape | undefined, read: ShapeFact | undefined): DesiredModel {
  const { shapeUnknown: _, ...rest } = model;
  if (read?.kind === 'known') return { ...rest, shape: read.shape };
  if (locked !== undefined && locked.of === model.digest) return { ...rest, shape: locked.shape };
  return read === undefined ? model : { ...rest, shapeUnknown: read.why };
}
