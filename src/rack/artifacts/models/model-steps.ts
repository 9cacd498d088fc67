import type { DesiredModel } from '../../../model/desired.ts';
import { given } from '../../../model/given.ts';
import { totalBytes } from '../../../model/model-bytes.ts';
import type { DownloadHours, FetchSource, PeerPlan, TreeFile } from '../../../model/node-script.ts';
import type { Step } from '../../../model/step.ts';
import { nodePath } from '../../../node/paths/node-paths.ts';
import { stagedFile } from '../../../node/paths/own-paths.ts';
import { buildStep } from '../../build-step.ts';
import { type AdoptedCopy, isSharedLayout } from '../sources/adopted-copy.ts';
import { jobAct, prepareStep, publishStep, type TreeWork, transferDeadlineMs, treeGate } from '../trees/tree-steps.ts';

/** The node clones what a folder on it has. The model's own source then provides what is missing. */
function adoptStep({ property, tree }: TreeWork, { layout, folder, fence, files, bytes }: AdoptedCopy): Step {
  const path = (text: string) => nodePath(text as `/${string}`);
  const args = {
    tree,
    files,
    folder: path(folder),
    fence: path(fence),
    ...(isSharedLayout(layout) ? { isShared: true as const } : {}),
  };
  return buildStep({
    name: `${property.address}/adopt`,
    class: 'job',
    act: jobAct(tree, { name: 'adopt-model', args }),
    towards: [property],
    deadlineMs: transferDeadlineMs(bytes),
  });
}

/** The node fetches the files, however long that takes, and needs no connection to the controller meanwhile. */
function fetchSteps(
  work: TreeWork,
  files: readonly TreeFile[],
  source: FetchSource,
  use: Partial<Pick<NetworkUse, 'peers' | 'isPrepared'>> = {},
): readonly Step[] {
  const { property, tree } = work;
  const prepare = prepareStep(work);
  const fetch = buildStep({
    name: `${property.address}/fetch`,
    class: 'job',
    act: jobAct(tree, { name: 'fetch-model', args: { tree, files, source, ...given(use) } }),
    towards: [property],
    needs: [prepare],
    deadlineMs: transferDeadlineMs(totalBytes(files)),
  });
  return [prepare, fetch];
}

/**
 * Sends one file at a time, so that each gets the whole bandwidth; the node verifies them afterwards. If other Macs get
 * the files from this one, the job that verifies them is launched first, and serves them while they arrive.
 */
function sendSteps(
  work: TreeWork,
  files: readonly TreeFile[],
  folder: string,
  peers: PeerPlan | undefined,
): readonly Step[] {
  const { property, tree } = work;
  const act = jobAct(tree, { name: 'verify-model', args: { tree, files, ...given({ peers }) } });
  const verifyMs = transferDeadlineMs(totalBytes(files));
  const steps: Step[] = [prepareStep(work)];
  if (peers !== undefined) {
    const serve = buildStep({
      name: `${property.address}/serve`,
      class: 'job',
      towards: [property],
      act: act.kind === 'job' ? { ...act, isDetached: true } : act,
      needs: steps.slice(-1),
      deadlineMs: verifyMs,
    });
    steps.push(serve);
  }
  for (const { path, sha256, sizeBytes } of files) {
    const send = { kind: 'send', source: `${folder}/${path}`, to: stagedFile(tree, path), sha256, sizeBytes } as const;
    const name = `${property.address}/send/${path}`;
    const deadlineMs = transferDeadlineMs(sizeBytes);
    steps.push(
      buildStep({ name, class: 'converge', act: send, towards: [property], needs: steps.slice(-1), deadlineMs }),
    );
  }
  const verify = buildStep({
    name: `${property.address}/verify`,
    class: 'job',
    towards: [property],
    act,
    needs: steps.slice(-1),
    deadlineMs: verifyMs,
  });
  return [...steps, verify];
}

/** True if not everybody may read the files, as far as the lock shows. */
export const isPrivate = ({ secret, access }: Extract<DesiredModel['source'], { kind: 'url' }>): boolean =>
  secret === true && access !== 'public';

function stagingSteps(
  work: TreeWork,
  { files, source }: DesiredModel,
  { account, peers, isPrepared, maxBytesPerSecond, hours }: NetworkUse,
): readonly Step[] {
  switch (source.kind) {
    case 'controller':
      if (peers?.role === 'receive') return fetchSteps(work, files, { kind: 'peers' }, { peers });
      return sendSteps(work, files, source.folder, peers);
    case 'node':
      return fetchSteps(work, files, { kind: 'folder', folder: { kind: 'node-path', path: source.folder } });
    case 'hub':
      throw new Error(`the commit of ${work.tree.name} is not settled`);
    case 'url': {
      const { access: _, secret, ...url } = source;
      // Only a Mac that downloads gets the token.
      const isWithheld = peers?.role === 'receive' || isPrepared === true;
      const token = isWithheld ? { isWithheld: isPrivate(source) || undefined } : { secret };
      return fetchSteps(
        work,
        files,
        { ...url, ...given({ ...token, account, maxBytesPerSecond, hours }) },
        { peers, isPrepared },
      );
    }
  }
}

/** How a Mac gets a model from the network: the account that does it (undefined means root), and the other Macs. */
interface NetworkUse {
  readonly maxBytesPerSecond: number | undefined;
  readonly hours: DownloadHours | undefined;
  readonly account: string | undefined;
  readonly peers: PeerPlan | undefined;
  /** True if an earlier job has verified every file. */
  readonly isPrepared: true | undefined;
}

/**
 * The steps from a model's source to the published model, which is used only after the node has verified every file.
 * What `copy` has is cloned first.
 */
export function modelSteps(
  work: TreeWork,
  wanted: DesiredModel,
  copy: AdoptedCopy | undefined,
  use: NetworkUse,
): readonly Step[] {
  const staging = stagingSteps(work, wanted, use);
  const adopt = copy === undefined ? [] : [adoptStep(work, copy)];
  const first = staging.slice(0, 1).map((one) => ({ ...one, needs: [...one.needs, ...adopt.map(({ id }) => id)] }));
  const publish = publishStep(work, staging.slice(-1));
  return [...adopt, ...first, ...staging.slice(1), publish, treeGate(work.property, [publish])];
}
