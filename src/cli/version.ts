import { readFileSync } from 'node:fs';

/** The version in package.json, which is two folders above this file in both the source tree and the package. */
export function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
