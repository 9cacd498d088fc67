import type { DesiredPlacement } from '../model/desired.ts';

/** That keys of clients cross the network without encryption, as a sentence; undefined where the file rules it out. */
export function clearTextWords({ publication }: DesiredPlacement): string | undefined {
  if (publication?.apiKeys === undefined || publication.proxies !== undefined) return undefined;
  return 'It speaks http: keys and prompts cross the network in clear text.';
}
