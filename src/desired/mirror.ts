import type { DesiredDownloads } from '../model/desired.ts';

/**
 * The address from which a URL is fetched: with `downloads.mirror`, the mirror's address followed by the URL's host and
 * path, such as `https://mirror.lan/huggingface.co/api/models/org/name`.
 */
export function mirrored(url: string, { mirror }: Pick<DesiredDownloads, 'mirror'> = {}): string {
  if (mirror === undefined) return url;
  return `${mirror.endsWith('/') ? mirror : `${mirror}/`}${url.replace(/^https?:\/\//, '')}`;
}
