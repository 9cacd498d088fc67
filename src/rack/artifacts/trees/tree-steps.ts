import { everyNode } from '../../../desired/layouts.ts';
import { archiveCode } from '../../../desired/settle/settle-runtime.ts';
import { unreadModelCode } from '../../../desired/settle/settle-trees.ts';
import { codes, type GeneralCode } from '../../../diagnostics/diagnose.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement, DesiredRuntime } from '../../../model/desired.ts';
import { type Digest, digestOf } from '../../../model/digest.ts';
import type { NodeName } from '../../../model/node.ts';
import type { JobCall, JobName, TreeId } from '../../../model/node-script.ts';
import type { Act, Step } from '../../../model/step.ts';
import { mapWords, prose } from '../../../model/text/prose.ts';
import { gateStep, scriptStep } from '../../build-step.ts';
import { treeAddress } from '../../records/trees-reading.ts';
import { type Blocker, blocker, type ObservedTarget, type Property } from '../../resource.ts';

/** The placements that use this node, or would use it on their fallback. */
export const placementsOn = (
  { placements }: DesiredFleet,
  { desired: { name } }: Pick<ObservedTarget, 'desired'>,
): readonly DesiredPlacement[] => placements.filter((one) => everyNode(one).includes(name));

const problems: Readonly<Record<string, string>> = { absent: 'missing', changed: 'changed since publication' };

/** `version 0123456789abcdef`, or the problem. */
export const treeWords = (value: string): string => problems[value] ?? `version ${value}`;

/** A job's key is derived from what the job makes, so that the next run finds the job on the node. */
export const jobKey = ({ kind, name, digest }: TreeId, job: JobName): Digest =>
  digestOf({ address: treeAddress(kind, name).address, digest, name: job });

export const jobAct = (tree: TreeId, call: JobCall): Act => ({ kind: 'job', key: jobKey(tree, call.name), ...call });

/** Jobs that can prepare a tree; the source in the file decides which one runs. */
const jobsOfKind: Readonly<Record<TreeId['kind'], readonly JobName[]>> = {
  runtime: ['fetch-archive', 'unpack-runtime', 'build-python'],
  model: ['fetch-model', 'verify-model', 'adopt-model'],
};

export const jobKeys = (tree: TreeId): readonly Digest[] => jobsOfKind[tree.kind].map((job) => jobKey(tree, job));

export const treeBlocker = (
  kind: TreeId['kind'],
  name: string,
  { code, node, action }: Pick<Blocker, 'node' | 'action'> & { readonly code: GeneralCode },
): Blocker => blocker({ code, node, resource: kind, property: treeAddress(kind, name), action });

/** Blockers for sources that this computer could not read and whose digest is unknown. */
export const unreadBlockers = (
  kind: TreeId['kind'],
  sources: readonly (DesiredModel | DesiredRuntime)[],
  node: NodeName,
): readonly Blocker[] =>
  sources.flatMap(({ name, digest, unread }) => {
    if (digest !== undefined || unread === undefined) return [];
    const { kind: why } = unread;
    // apply does this itself: it is a change.
    if (why === 'to-list' || why === 'to-build') return [];
    const isOfRuntimes = why === 'no-release' || why === 'unlisted' || why === 'unbuilt';
    const code = kind === 'model' && !isOfRuntimes ? unreadModelCode({ kind: why }) : archiveCode(why);
    const action = mapWords(prose`${kind} ${name}: ${unread.detail} ${unread.hint ?? codes[code].hint}`, escapeText);
    return [treeBlocker(kind, name, { node, code, action })];
  });

/** Deadline of a transfer: ten minutes plus the time at 5 MB/s. */
export const transferDeadlineMs = (bytes: number): number => 600_000 + Math.ceil(bytes / 5_000);

/** A tree to install on a node, and the property that its steps change. */
export interface TreeWork {
  readonly target: ObservedTarget;
  readonly property: Property;
  readonly tree: TreeId;
}

export const prepareStep = ({ target, property, tree }: TreeWork): Step =>
  scriptStep({
    name: `${property.address}/prepare`,
    call: { name: 'prepare-staging', args: { tree, user: target.desired.user ?? '' } },
    towards: [property],
    deadlineMs: 60_000,
  });

/** The step after which a tree is on the disk. A model is then complete; a runtime to use must still be switched to. */
export const publishStep = ({ property, tree }: TreeWork, needs: readonly Step[]): Step =>
  scriptStep({
    name: `${property.address}/publish`,
    call: { name: 'publish-tree', args: { tree, jobs: jobKeys(tree) } },
    ...(tree.kind === 'model' || property.about.part === 'installed' ? { makes: [property] } : { towards: [property] }),
    needs,
    deadlineMs: 120_000,
  });

export const treeGate = (property: Property, needs: readonly Step[]): Step =>
  gateStep({ name: `${property.address}/gate`, needs, awaits: [property], deadlineMs: 120_000 });
