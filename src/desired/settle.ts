import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { ClusterLock } from '../model/cluster-lock.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import { settleLinks } from './settle-links.ts';
import { settleModel, settleRuntime } from './settle-trees.ts';
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
  const runtimes = fleet.runtimes.map((one) => settleRuntime(one, { lock, sources, baseFolder }));
  const models = fleet.models.map((one) => settleModel(one, { lock, sources, baseFolder }));
  const newLock: ClusterLock = {
    ...lock,
    links: links.links,
    formerNetworks: links.formerNetworks,
    runtimes: lockedByName(runtimes),
    models: lockedByName(models),
  };
  return {
    fleet: {
      ...fleet,
      nodes: fleet.nodes.map((node) => ({ ...node, ...identityOf(lock, node.name) })),
      thunderbolt: links.thunderbolt,
      runtimes: runtimes.map((one) => one.wanted),
      models: models.map((one) => one.wanted),
    },
    lock: newLock,
    additions: [links, ...runtimes, ...models].flatMap((one) => one.additions),
    diagnostics: [
      ...lock.nodes.filter((name) => !fleet.nodes.some((node) => node.name === name)).map(leftFile),
      ...[links, ...runtimes, ...models].flatMap((one) => one.diagnostics),
      ...tooLarge(newLock),
    ],
  };
}

/** `constructor` is a good name for a node. */
function identityOf({ identities = {} }: ClusterLock, name: string): Pick<DesiredNode, 'identity'> {
  const identity = Object.hasOwn(identities, name) ? identities[name] : undefined;
  return identity === undefined ? {} : { identity };
}

function lockedByName<Locked>(
  all: readonly { readonly wanted: { readonly name: string }; readonly locked?: Locked }[],
): Readonly<Record<string, Locked>> {
  return Object.fromEntries(
    all.flatMap(({ wanted, locked }) => (locked === undefined ? [] : [[wanted.name, locked] as const])),
  );
}

const leftFile = (name: string): Diagnostic =>
  diagnose('lock/node-left-file', {
    detail: `${name} was set up once, and the file has no such node any more.`,
    hint: `Put it back under \`nodes\`; or, if it is gone for good: meshwright forget ${name}`,
    subject: `node ${name}`,
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
