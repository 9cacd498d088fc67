import { isDone } from '../../apply/execute.ts';
import { leaseHeld } from '../../apply/lease/lease-keeper.ts';
import { type PlaybookReport, stepsOf } from '../../apply/playbook-report.ts';
import type { FolderFact, PlaceOf } from '../../desired/settle/settle-trees.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet, UnreadSource } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { subjectNodes } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';
import {
  folderDifferences,
  folderListCommand,
  listJobKey,
  parseFolderList,
  readingNodes,
} from '../../rack/artifacts/models/list-folders.ts';
import { actOn, type CommandSpec } from '../apply/act-on.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { lockBefore, lockedFleet } from '../cluster/settle-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { answerText, askNodes, isAnswered } from '../look/observe-fleet.ts';
import { createConsent } from '../plan/consent.ts';
import type { Run } from '../verb.ts';

type NodePlace = PlaceOf<'node'>;

type NodeList =
  | { readonly kind: 'listed'; readonly node: NodeName; readonly files: readonly TreeFile[] }
  | { readonly kind: 'failed'; readonly node: NodeName; readonly why: string; readonly hint?: Prose };

/** The folders of models on their nodes, by model name, and whether another run has the lease of a node. */
export interface ListedFolders {
  readonly folders: Readonly<Record<string, FolderFact>>;
  readonly isLeased: boolean;
}

/**
 * Lists the folders of these models on every node that reads them: each node hashes its own files in a job that survives
 * the connection. Files that did not change since the last list are not read again.
 */
export async function listNodeFolders(
  run: Run,
  opened: OpenedCluster,
  models: readonly NodePlace[],
): Promise<ListedFolders> {
  const fleet = lockedFleet(run, opened);
  const nodesOf = new Map(models.map((model) => [model.name, readingNodes(fleet, model)]));
  const targets = fleet.nodes.map(({ name }) => name).filter((name) => [...nodesOf.values()].flat().includes(name));
  if (targets.length === 0) return { folders: foldersOf(models, nodesOf, []), isLeased: false };
  const ways = openTargets(run, opened);
  const command: CommandSpec = {
    verb: 'models lock',
    goal: { kind: 'list-folders', names: models.map(({ name }) => name) },
    scope: { desired: fleet, targets },
    // Reading disturbs nothing, so that nothing is shown before it and no question is asked.
    consent: createConsent(run, { isAgreed: true }),
    texts: { show: () => {} },
  };
  const { report } = (await actOn(run, command, { opened, ...lockBefore(run, opened) }, ways)).outcome;
  run.signal.throwIfAborted();
  const isLeased = report.works.some(({ refusals }) => refusals.length > 0);
  const lists = await Promise.all(
    models.map(async (model) => [model.name, await listsOf(run, { fleet, ways, report }, model, targets)] as const),
  );
  return { folders: foldersOf(models, nodesOf, lists), isLeased };
}

interface Listing {
  readonly fleet: DesiredFleet;
  readonly ways: SshTargets;
  readonly report: PlaybookReport;
}

/** The lists of a model on these nodes, after the jobs have ended. */
async function listsOf(
  run: Run,
  { fleet, ways, report }: Listing,
  model: NodePlace,
  targets: readonly NodeName[],
): Promise<readonly NodeList[]> {
  const key = listJobKey(model);
  const nodes = fleet.nodes.filter(({ name }) => targets.includes(name));
  const steps = stepsOf(report).filter(({ step: { act } }) => act.kind === 'job' && act.key === key);
  const isListed = ({ name }: { readonly name: NodeName }): boolean =>
    steps.some((one) => one.step.node === name && isDone(one));
  const read = key === undefined ? [] : await readLists(run, ways, nodes.filter(isListed), key);
  const failed = nodes.filter((node) => !isListed(node)).map(({ name }) => failureOn(name, steps, report));
  return [...read, ...failed];
}

async function readLists(
  run: Run,
  ways: SshTargets,
  nodes: DesiredFleet['nodes'],
  key: Digest,
): Promise<readonly NodeList[]> {
  const command = (_node: NodeName, rootPrefix: string) => ({
    name: 'folder-list',
    command: folderListCommand(key, rootPrefix),
  });
  const outcomes = await askNodes(run, { nodes, ways }, command);
  return outcomes.map((outcome): NodeList => {
    const { node } = outcome;
    const files = isAnswered(outcome) ? parseFolderList(answerText(outcome)) : undefined;
    return files === undefined
      ? { kind: 'failed', node, why: 'its list could not be read' }
      : { kind: 'listed', node, files };
  });
}

/** Why a node has no list: its step failed, another run has its lease, something blocks it, or it was not reached. */
function failureOn(node: NodeName, steps: ReturnType<typeof stepsOf>, { works }: PlaybookReport): NodeList {
  const own = steps.filter(({ step }) => step.node === node).flatMap(({ diagnostics }) => diagnostics);
  const refused = works.flatMap(({ refusals }) => refusals.filter((one) => one.node === node).map(leaseHeld));
  const found = works.flatMap(({ diagnostics, plan }) => [...diagnostics, ...(plan?.diagnostics ?? [])]);
  const [problem] = [...own, ...refused, ...found.filter(({ subject }) => subjectNodes(subject).includes(node))];
  const blocker = works.flatMap(({ plan }) => plan?.blockers ?? []).find((one) => one.node === node);
  if (problem !== undefined)
    return { kind: 'failed', node, why: plainText(problem.detail).replace(/\.$/, ''), hint: problem.hint };
  if (blocker !== undefined)
    return { kind: 'failed', node, why: 'something has to be done first', hint: blocker.action };
  return { kind: 'failed', node, why: 'it was not reached' };
}

function foldersOf(
  models: readonly NodePlace[],
  nodesOf: ReadonlyMap<string, readonly NodeName[]>,
  lists: readonly (readonly [string, readonly NodeList[]])[],
): Readonly<Record<string, FolderFact>> {
  // Without a prototype, because `constructor` is a valid model name.
  const folders: Record<string, FolderFact> = Object.create(null);
  for (const { name, source } of models) {
    const nodes = nodesOf.get(name) ?? [];
    const own = lists.find(([model]) => model === name)?.[1] ?? [];
    folders[name] = folderOf(
      source.folder,
      own.filter(({ node }) => nodes.includes(node)),
    );
  }
  return folders;
}

const shownAtMost = 8;

/** The common list of all nodes, or why there is none. */
function folderOf(folder: string, lists: readonly NodeList[]): FolderFact {
  const unread = (detail: string, hint?: Prose): UnreadSource => ({ kind: 'unreadable', detail, ...given({ hint }) });
  const failed = lists.flatMap((one) => (one.kind === 'failed' ? [one] : []));
  const listed = lists.flatMap((one) => (one.kind === 'listed' ? [one] : []));
  if (failed.length > 0) {
    const reasons = failed.map(({ node, why }) => `${node}: ${why}.`);
    const [first] = failed;
    return unread(`${folder} could not be listed on every node that reads it. ${reasons.join(' ')}`, first?.hint);
  }
  const [first] = listed;
  if (first === undefined) {
    return unread(
      `No placement reads the model, so that no node has to have ${folder}.`,
      'Add a placement with this model.',
    );
  }
  const differences = folderDifferences(listed);
  if (differences.length === 0) return { kind: 'known', files: first.files };
  const more = differences.length - shownAtMost;
  const shown = listText([...differences.slice(0, shownAtMost), ...(more > 0 ? [`${more} more files`] : [])]);
  return unread(
    `${folder} is not the same on every node: ${shown}.`,
    'Copy the right files to every node, and run the command again.',
  );
}
