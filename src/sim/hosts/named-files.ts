import { readFile, stat } from 'node:fs/promises';

/** No list of addresses is longer. */
const largestBytes = 65_536;

async function textOf(path: string): Promise<string> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size <= largestBytes ? await readFile(path, 'utf8') : '';
  } catch {
    return '';
  }
}

/** What stands in the files that the texts of a job name below this folder: a job may have its addresses there. */
export async function textsOfFiles(root: string, texts: readonly string[]): Promise<readonly string[]> {
  const paths = texts.filter((text) => text.startsWith(`${root}/`) && !text.split('/').includes('..'));
  return Promise.all([...new Set(paths)].map(textOf));
}
