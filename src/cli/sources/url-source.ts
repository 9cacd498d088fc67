import { checksumName, readChecksums } from '../../desired/checksum-list.ts';
import { encodedPath } from '../../desired/hub-source.ts';
import type { FolderFact } from '../../desired/settle/settle-trees.ts';
import { mostTreeBytes, mostTreeFiles } from '../../desired/tree-paths.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { bytesText } from '../../model/text/units.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import { hostRequest, needTrust } from '../cluster/trust.ts';
import { type WebAccess, webAccess } from './http-get.ts';
import { answered, type List, problem, readLists } from './list.ts';
import { request } from './release-source.ts';
import { rehearsalWeb } from './simulated-web.ts';

/** A list of 2,048 files with long paths is shorter. */
const mostListBytes = 2 ** 21;
const atOnce = 8;

export const listServers: List<'url'> = async (run, { path }, places) => {
  const web = await rehearsalWeb(run, path, 'the servers of models');
  const requests = web === undefined ? places.flatMap(({ name, base }) => hostRequest(base, name)) : [];
  await needTrust(run, requests);
  return readLists(run, places, ({ base }) =>
    web !== undefined && 'kind' in web ? web : readServerList(base, webAccess(run, web?.ca)),
  );
};

/**
 * The files that `SHA256SUMS` at a base URL lists, with the sizes that the server reports. Rejects only when aborted.
 * @param base ends in `/`
 */
export const readServerList = (base: string, access: WebAccess): Promise<FolderFact> =>
  answered('', async () => {
    const url = `${base}${checksumName}`;
    const answer = await request(url, { mostBytes: mostListBytes }, access);
    if ('kind' in answer) throw problem(answer.detail, answer.kind === 'no-release' ? toMakeTheList : toTryAgain);
    const { body } = answer;
    const list = readChecksums(body.toString('utf8'));
    if (list.kind === 'garbled')
      throw problem(`${url}: line ${list.line} is not a checksum and a path.`, toMakeTheList);
    if (list.files.length > mostTreeFiles) {
      throw problem(`${url} lists ${list.files.length} files; the limit is ${mostTreeFiles} files.`, toMakeTheList);
    }
    const files: TreeFile[] = [];
    await forEachLimited(list.files, atOnce, async (file) => {
      files.push({ ...file, sizeBytes: await sizeOf(`${base}${encodedPath(file.path)}`, access) });
    });
    return { kind: 'known', files };
  });

const toMakeTheList = `To make the list, run this in the model's folder on the server: \`find . -type f ! -name ${checksumName} -exec shasum -a 256 {} + > ${checksumName}\`. Or list the model's \`files\` in the cluster file.`;

const toTryAgain = 'Check the URL in the cluster file and its server, then run the command again.';

async function sizeOf(url: string, access: WebAccess): Promise<number> {
  const answer = await request(url, { method: 'HEAD' }, access);
  if ('kind' in answer) throw problem(answer.detail, toTryAgain);
  const text = answer.header('content-length') ?? '';
  if (/^\d{1,15}$/.test(text)) {
    if (Number(text) <= mostTreeBytes) return Number(text);
    throw problem(`${url} has ${bytesText(Number(text))}; the limit is ${bytesText(mostTreeBytes)}.`, toTryAgain);
  }
  throw problem(
    `${url}: its server does not report the size of the file.`,
    "Use a server that sends Content-Length, or list the model's `files` in the cluster file.",
  );
}
