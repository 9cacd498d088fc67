import { createHash } from 'node:crypto';
import { mirrored } from '../../desired/mirror.ts';
import { pageEntry } from '../../desired/releases.ts';
import type { ArchiveFact } from '../../desired/settle/settle-trees.ts';
import { mostTreeBytes } from '../../desired/tree-paths.ts';
import type { Release, UnreadArchive } from '../../model/desired.ts';
import { type Digest, digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { bytesText } from '../../model/text/units.ts';
import { withProgress } from '../terminal/console.ts';
import type { Run } from '../verb.ts';
import { type HttpQuestion, httpGet, type WebAccess, type WebAnswer, webAccess } from './http-get.ts';
import type { List } from './list.ts';
import { rehearsalWeb } from './simulated-web.ts';

/** A release page is shorter than this. */
const longestPage = 16_777_216;

/** Finds the digests of releases: in the list of known releases, on the release page or from the archive itself. */
export const listReleases: List<'release'> = async (run, { path }, releases) => {
  let hashedBytes = 0;
  const what = (): string => `resolving releases${hashedBytes === 0 ? '' : `, ${bytesText(hashedBytes)} hashed`}`;
  const facts = await withProgress(run.console, [what, releases], (done) =>
    Promise.all(
      releases.map(async ({ name, release }) => {
        const onHashed = (bytes: number): void => {
          hashedBytes += bytes;
        };
        const fact = isSource(name)
          ? await resolveSource(run, release, path, onHashed)
          : await resolveRelease(release, webAccess(run), onHashed);
        done(name);
        return [name, fact] as const;
      }),
    ),
  );
  return { archives: Object.fromEntries(facts) };
};

/** True for the archive of a commit, whose name has two parts. */
const isSource = (name: string): boolean => name.includes('/');

/** Hashes the archive of a commit. In a rehearsal, the servers of the simulated fleet have every commit. */
async function resolveSource(
  run: Run,
  release: Release,
  clusterFile: string,
  onHashed: (bytes: number) => void,
): Promise<ArchiveFact> {
  const web = await rehearsalWeb(run, clusterFile, 'GitHub');
  if (web === undefined) return resolveRelease(release, webAccess(run), onHashed);
  if ('kind' in web) return web;
  const from = mirrored(release.url, { mirror: web.origin });
  return resolveRelease({ ...release, from }, webAccess(run, web.ca), onHashed);
}

/** @throws only if the run is interrupted */
export async function resolveRelease(
  release: Release,
  access: WebAccess,
  onHashed: (bytes: number) => void,
): Promise<ArchiveFact> {
  const published = release.known ?? (await askPage(release, access));
  if ('kind' in published) return published;
  const { sha256 } = published;
  const sizeBytes = published.sizeBytes ?? (sha256 === undefined ? undefined : await askSize(release, access));
  if (typeof sizeBytes === 'object') return sizeBytes;
  if ((sizeBytes ?? 0) > mostTreeBytes) {
    return unresolved(`${release.from} has ${bytesText(sizeBytes ?? 0)}; the limit is ${bytesText(mostTreeBytes)}.`);
  }
  if (sha256 !== undefined && sizeBytes !== undefined) return { kind: 'known', sha256, sizeBytes };
  const hashed = await hashArchive(release, access, onHashed);
  if (sha256 === undefined || hashed.kind !== 'known' || hashed.sha256 === sha256) return hashed;
  return unresolved(`${release.from} has a different sha256 than its release page reports: ${hashed.sha256}.`);
}

const unresolved = (detail: string): UnreadArchive => ({ kind: 'unresolved', detail });

/** The digest and size on the release page, as far as it has them. */
async function askPage(
  { page }: Release,
  access: WebAccess,
): Promise<{ readonly sha256?: Digest; readonly sizeBytes?: number } | UnreadArchive> {
  if (page === undefined) return {};
  const { url, name } = page;
  const accept = 'application/vnd.github+json, text/plain';
  const answer = await request(url, { accept, mostBytes: longestPage }, access);
  if ('kind' in answer) return answer;
  const entry = pageEntry(page, answer.body.toString('utf8'));
  switch (entry.kind) {
    case 'found':
      return { ...given({ sha256: entry.sha256, sizeBytes: entry.sizeBytes }) };
    case 'garbled':
      return unresolved(`${url} did not return a release page.`);
    case 'missing':
      return { kind: 'no-release', detail: `${url} does not list ${name}.${macFiles(entry.files)}` };
  }
}

function macFiles(files: readonly string[]): string {
  const found = files.filter((name) => /macos|darwin|\.dmg$/i.test(name)).slice(0, 8);
  return found.length === 0 ? '' : ` Its files for Macs: ${found.join(', ')}.`;
}

async function askSize({ from }: Release, access: WebAccess): Promise<number | undefined | UnreadArchive> {
  const answer = await request(from, { method: 'HEAD' }, access);
  return 'kind' in answer ? answer : sizeIn(answer);
}

function sizeIn({ header }: WebAnswer): number | undefined {
  const size = Number(header('content-length') ?? Number.NaN);
  return Number.isSafeInteger(size) && size > 0 ? size : undefined;
}

/** Downloads an archive once to hash it. Keeps none of it. */
async function hashArchive(
  { from }: Release,
  access: WebAccess,
  onHashed: (bytes: number) => void,
): Promise<ArchiveFact> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const onPart = (part: Buffer): void => {
    hash.update(part);
    sizeBytes += part.length;
    onHashed(part.length);
  };
  const answer = await request(from, { onPart }, access);
  if ('kind' in answer) return answer;
  const whole = sizeIn(answer) ?? sizeBytes;
  if (sizeBytes === 0 || sizeBytes !== whole) return unresolved(`${from} ended after ${sizeBytes} of ${whole} bytes.`);
  return { kind: 'known', sha256: digest(hash.digest('hex')), sizeBytes };
}

/** The answer with status 200, or why there is none. */
export async function request(
  url: string,
  { accept = '*/*', ...more }: Omit<HttpQuestion, 'headers'> & { readonly accept?: string },
  access: WebAccess,
): Promise<WebAnswer | UnreadArchive> {
  const answer = await httpGet(url, { headers: { accept }, ...more }, access);
  if ('why' in answer) return unresolved(`${url}: its server ${answer.why}.`);
  return answer.status === 200 ? answer : refusal(url, answer);
}

/**
 * What an error status means.
 *
 * @see GitHub REST API, rate limits: status 403 or 429, with `x-ratelimit-remaining: 0` and the time of the reset in
 *   `x-ratelimit-reset`, in seconds since 1970; or with `retry-after`
 */
function refusal(url: string, { status, header }: WebAnswer): UnreadArchive {
  if (status === 404 || status === 410) {
    return { kind: 'no-release', detail: `${url} does not exist (HTTP ${status}).` };
  }
  const isLimited = status === 429 || (status === 403 && header('x-ratelimit-remaining') === '0');
  if (!isLimited) return unresolved(`${url} returned HTTP ${status}.`);
  const { host } = new URL(url);
  return unresolved(`${host} accepts no more requests from this network for now (HTTP ${status})${untilText(header)}.`);
}

function untilText(header: WebAnswer['header']): string {
  const reset = Number(header('x-ratelimit-reset') ?? Number.NaN);
  if (Number.isSafeInteger(reset) && reset > 0 && reset < 1e11) {
    return `. It accepts them again at ${new Date(reset * 1_000).toISOString().slice(11, 16)} UTC`;
  }
  const after = Number(header('retry-after') ?? Number.NaN);
  return after > 0 ? `. It accepts them again in ${after} s` : '';
}
