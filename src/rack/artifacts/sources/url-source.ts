import type { ModelSource } from '../../../model/desired.ts';
import { given } from '../../../model/given.ts';
import { type Fetch, fetchFiles } from './fetch.ts';

/** True if not everybody may read the files, as far as the lock shows. */
export const isPrivate = (source: ModelSource): boolean =>
  source.kind === 'url' && source.secret === true && source.access !== 'public';

/** Downloads the files from a server, or gets them from other Macs that do. */
export const downloadFiles: Fetch<'url'> = (work, { files, ...source }, use) => {
  const { access: _, secret, ...url } = source;
  const { account, maxBytesPerSecond, hours, ...rest } = use;
  // Only a Mac that downloads gets the token.
  const isWithheld = use.peers?.role === 'receive' || use.isPrepared === true;
  const token = isWithheld ? { isWithheld: isPrivate(source) || undefined } : { secret };
  const from = { ...url, ...given({ ...token, account, maxBytesPerSecond, hours }) };
  return fetchFiles(work, files, from, rest);
};
