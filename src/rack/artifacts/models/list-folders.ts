import type { DesiredFleet, DesiredModel } from '../../../model/desired.ts';
import { type Digest, digest, digestOf } from '../../../model/digest.ts';
import { compareText, listText } from '../../../model/lists.ts';
import type { NodeName } from '../../../model/node.ts';
import type { TreeFile } from '../../../model/node-script.ts';
import type { NodePath } from '../../../model/probe.ts';
import { addressed } from '../../../model/subject.ts';
import { below, pathWord, rootLine, shellCommand, tool } from '../../../node/paths/node-paths.ts';
import { jobFolder } from '../../../node/paths/own-paths.ts';
import { usedModels } from './model-resource.ts';

/** The list that the job writes into its own folder. */
const folderListName = 'list';

export const filesAddress = ({ name }: Pick<DesiredModel, 'name'>) => addressed({ kind: 'model', name, part: 'files' });

/** The folder on each node that a model's files come from; undefined for other sources. */
export const nodeFolder = ({ source }: Pick<DesiredModel, 'source'>): NodePath | undefined =>
  source.kind === 'node' ? { kind: 'node-path', path: source.folder } : undefined;

/** The key of the job that lists a model's folder; undefined for other sources. */
export function listJobKey(model: Pick<DesiredModel, 'name' | 'source'>): Digest | undefined {
  const folder = nodeFolder(model);
  return folder && digestOf({ address: filesAddress(model).address, folder: folder.path, name: 'list-folder' });
}

export const readingNodes = (fleet: DesiredFleet, { name }: Pick<DesiredModel, 'name'>): readonly NodeName[] =>
  fleet.nodes
    .filter((desired) => usedModels(fleet, { desired }).some((one) => one.name === name))
    .map((one) => one.name);

/** The command that prints the list of a finished job, as the SSH user; {@link parseFolderList} parses the answer. */
export const folderListCommand = (key: Digest, rootPrefix: string): string =>
  shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
${pathWord(tool.cat)} ${pathWord(below(jobFolder(key), folderListName))} && printf 'end\\n'`);

const line = /^([0-9a-f]{64}) \d+ \d+ (\d{1,15}) \d+ \d+ (\/.*)$/;

/** The files in the answer of {@link folderListCommand}, sorted by path; undefined if it is incomplete or malformed. */
export function parseFolderList(stdout: string): readonly TreeFile[] | undefined {
  const lines = stdout.split('\n');
  if (lines.pop() !== '' || lines.pop() !== 'end') return undefined;
  const files: TreeFile[] = [];
  for (const text of lines) {
    const [, sha256, size, whole = ''] = line.exec(text) ?? [];
    // find(1) began at `folder/.`; no part of the folder's own path is a dot.
    const at = whole.indexOf('/./');
    if (sha256 === undefined || at === -1) return undefined;
    files.push({ path: whole.slice(at + 3), sha256: digest(sha256), sizeBytes: Number(size) });
  }
  return files.toSorted((a, b) => compareText(a.path, b.path));
}

/** How the lists of several nodes differ from that of the first one, one text per path; empty if they are equal. */
export function folderDifferences(
  lists: readonly { readonly node: NodeName; readonly files: readonly TreeFile[] }[],
): readonly string[] {
  const paths = [...new Set(lists.flatMap(({ files }) => files.map(({ path }) => path)))].toSorted(compareText);
  const byNode = lists.map(({ node, files }) => ({ node, files: new Map(files.map((one) => [one.path, one])) }));
  const [first] = byNode;
  return paths.flatMap((path) => {
    const own = first?.files.get(path);
    const lacking = byNode.filter(({ files }) => !files.has(path)).map(({ node }) => node);
    const others = byNode.filter(({ files }) => {
      const one = files.get(path);
      return own !== undefined && one !== undefined && (one.sha256 !== own.sha256 || one.sizeBytes !== own.sizeBytes);
    });
    const missing = lacking.length === 0 ? [] : [`${path} is missing on ${listText(lacking)}`];
    if (others.length === 0) return missing;
    return [...missing, `${path} on ${listText(others.map(({ node }) => node))} differs from ${first?.node}`];
  });
}
