import { everyNode } from '../../desired/layouts.ts';
import { codes, type DiagnosticCode } from '../../diagnostics/diagnose.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import { type Digest, digestOf } from '../../model/digest.ts';
import type { NodeName } from '../../model/node.ts';
import type { JobCall, JobName, TreeId } from '../../model/node-script.ts';
import type { Act, Step } from '../../model/step.ts';
import { mapWords, prose } from '../../model/text/prose.ts';
import { gateStep, scriptStep } from '../build-step.ts';
import { treeAddress } from '../records/trees.ts';
import { type Blocker, type ObservedTarget, type Property, patchesOf } from '../resource.ts';

/** The placements that have this node among their members, or would have it with their fallback. */
export const placementsOn = (
  { placements }: DesiredFleet,
  { desired: { name } }: ObservedTarget,
): readonly DesiredPlacement[] => placements.filter((one) => everyNode(one).includes(name));

/** What a property of a tree is while there is none, or while its files are not those that were published. */
export const treeStates = { absent: 'absent', changed: 'changed' } as const;

/** `version 0123456789abcdef`, or what is the matter with it. */
export function treeWords(value: string): string {
  switch (value) {
    case treeStates.absent:
      return 'not there';
    case treeStates.changed:
      return 'changed since it was published';
    default:
      return `version ${value}`;
  }
}

/** A job is kept under the key of what it makes: whoever comes next finds it on the node by that. */
const jobKey = ({ kind, name, digest }: TreeId, job: JobName): Digest =>
  digestOf({ address: treeAddress(kind, name).address, digest, name: job });

/** A job under its key. */
export const jobAct = (tree: TreeId, call: JobCall): Act => ({ kind: 'job', key: jobKey(tree, call.name), ...call });

/** Jobs that can make a tree ready; which one does depends on where the file takes it from. */
const jobsOfKind: Readonly<Record<TreeId['kind'], readonly JobName[]>> = {
  runtime: ['unpack-runtime', 'build-python'],
  model: ['fetch-model', 'verify-model'],
};

/** The keys of all jobs that can have made a tree ready. */
export const jobKeys = (tree: TreeId): readonly Digest[] => jobsOfKind[tree.kind].map((job) => jobKey(tree, job));

/** What keeps the placements of a node waiting for one of its trees. */
export const treeBlocker = (
  kind: TreeId['kind'],
  name: string,
  { code, node, action }: Pick<Blocker, 'node' | 'action'> & { readonly code: DiagnosticCode },
): Blocker => ({
  code,
  node,
  resource: kind,
  property: treeAddress(kind, name),
  action,
  isHands: false,
  peers: [],
  blocks: [],
});

/** Those of these sources that this computer could not read, and whose digest is not known either. */
export const unreadBlockers = (
  kind: TreeId['kind'],
  sources: readonly (DesiredModel | DesiredRuntime)[],
  node: NodeName,
): readonly Blocker[] =>
  sources.flatMap(({ name, digest, unread }) => {
    if (digest !== undefined || unread === undefined) return [];
    const code =
      kind === 'model' ? (`model/folder-${unread.kind}` as const) : (`runtime/archive-${unread.kind}` as const);
    const action = mapWords(prose`${kind} ${name}: ${unread.detail} ${codes[code].hint}`, escapeText);
    return [treeBlocker(kind, name, { node, code, action })];
  });

/** For everything that moves bytes: ten minutes, and what 5 MB/s take. */
export const transferDeadlineMs = (bytes: number): number => 600_000 + Math.ceil(bytes / 5_000);

/** Whose tree is being brought to a node, and under which name its steps stand. */
export interface TreeWork {
  readonly target: ObservedTarget;
  readonly property: Property;
  readonly tree: TreeId;
}

/** The first step of a tree that is not published yet. */
export const prepareStep = ({ target, property, tree }: TreeWork): Step =>
  scriptStep({
    node: property.node,
    resource: tree.kind,
    name: `${property.address}/prepare`,
    call: { name: 'prepare-staging', args: { tree, user: target.desired.user ?? '' } },
    towards: [property],
    deadlineMs: 60_000,
  });

/** The last step of a tree: from then on it can be used. A model needs nothing more; a runtime is still tried. */
export const publishStep = ({ property, tree }: TreeWork, needs: readonly Step[]): Step =>
  scriptStep({
    node: property.node,
    resource: tree.kind,
    name: `${property.address}/publish`,
    call: { name: 'publish-tree', args: { tree, jobs: jobKeys(tree) } },
    ...(tree.kind === 'model' ? { makes: [property] } : { towards: [property] }),
    needs,
    deadlineMs: 120_000,
  });

/** Waits until a node shows that a tree is as it is to be. */
export const treeGate = ({ property, tree }: Omit<TreeWork, 'target'>, needs: readonly Step[]): Step =>
  gateStep({
    node: property.node,
    resource: tree.kind,
    name: `${property.address}/gate`,
    needs,
    expect: patchesOf([property]),
    deadlineMs: 120_000,
  });
