import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type {
  DesiredDoorman,
  DesiredFleet,
  DesiredNode,
  DesiredPlacement,
  DesiredRuntime,
} from '../../model/desired.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { lockedKeys, withKeptKeys } from './runtime-keys.ts';
import { settleLinks } from './settle-links.ts';
import { settlePackages } from './settle-packages.ts';
import { type SettledRuntime, settleRuntime } from './settle-runtime.ts';
import { settleShapes } from './settle-shapes.ts';
import { settleModel } from './settle-trees.ts';
import { settleWheels } from './settle-wheels.ts';
import type { SourceFacts } from './source-facts.ts';

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
 */
export function settleFleet(
  fleet: DesiredFleet,
  lock: ClusterLock,
  sources: SourceFacts,
  baseFolder: string,
): SettledFleet {
  const links = settleLinks(fleet.thunderbolt, lock);
  const wheeled = fleet.runtimes.map((one) => settleWheels(one, { lock, sources, baseFolder }));
  const runtimes = wheeled.map((one) => settleRuntime(one.runtime, { lock, sources: one.sources, baseFolder }));
  const listed = runtimes.map((one) => settlePackages(one.wanted, sources));
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
    ...lockedExtras(programs),
    ...lockedTakenBack(programs),
    ...lockedRuntimeKeys(
      listed.map((one) => one.runtime),
      lock,
    ),
    models: lockedByName(models),
    ...(shaped.shapes === undefined ? {} : { shapes: shaped.shapes }),
  };
  return {
    fleet: {
      ...fleet,
      nodes: fleet.nodes.map((node) => ({ ...node, ...identityOf(lock, node.name) })),
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
function withKeyHashes(placement: DesiredPlacement, { keys = {} }: SourceFacts): DesiredPlacement {
  const { name, publication } = placement;
  const keyHashes = Object.hasOwn(keys, name) ? keys[name] : undefined;
  if (publication === undefined || keyHashes === undefined) return placement;
  return { ...placement, publication: { ...publication, keyHashes } };
}

/** `constructor` is a good name for a node. */
function identityOf({ identities = {} }: ClusterLock, name: string): Pick<DesiredNode, 'identity'> {
  const identity = Object.hasOwn(identities, name) ? identities[name] : undefined;
  return identity === undefined ? {} : { identity };
}

/** No section where there is nothing in it: a lock of an older meshwright stays as it is. */
function lockedExtras(all: readonly SettledRuntime[]): Pick<ClusterLock, 'runtimeFiles'> {
  const runtimeFiles = Object.assign({}, ...all.map((one) => one.lockedExtras));
  return Object.keys(runtimeFiles).length === 0 ? {} : { runtimeFiles };
}

function lockedTakenBack(all: readonly SettledRuntime[]): Pick<ClusterLock, 'takenBack'> {
  const entries = all.flatMap(({ wanted, takenBack }) =>
    takenBack === undefined ? [] : [[wanted.name, takenBack] as const],
  );
  return entries.length === 0 ? {} : { takenBack: Object.fromEntries(entries) };
}

function lockedRuntimeKeys(runtimes: readonly DesiredRuntime[], lock: ClusterLock): Pick<ClusterLock, 'runtimeKeys'> {
  const entries = runtimes.map((one) => [one.name, lockedKeys(one, lock)] as const);
  const filled = entries.filter(([, versions]) => versions.length > 0);
  return filled.length === 0 ? {} : { runtimeKeys: Object.fromEntries(filled) };
}

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
