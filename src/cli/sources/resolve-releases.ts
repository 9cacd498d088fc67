import { createHash } from 'node:crypto';
import { pageEntry } from '../../desired/releases.ts';
import type { ArchiveFact, ReleasePlace } from '../../desired/settle/settle-trees.ts';
import { messageOf, systemCode } from '../../diagnostics/diagnostic.ts';
import type { Release, UnreadArchive } from '../../model/desired.ts';
import { type Digest, digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { bytesText } from '../../model/text/units.ts';
import { withProgress } from '../terminal/console.ts';
import type { Run } from '../verb.ts';
import { nextAddress } from './http-get.ts';

/** Time for a page, and for the next bytes of an archive. */
const deadlineMs = 30_000;
/** A release page is shorter than this. */
const longestPage = 16_777_216;

/** The digests of releases, by runtime: from the list of known releases, the release page or the archive itself. */
export async function resolveReleases(
  run: Run,
  releases: readonly ReleasePlace[],
): Promise<Readonly<Record<string, ArchiveFact>>> {
  let hashedBytes = 0;
  const what = (): string => `resolving releases${hashedBytes === 0 ? '' : `, ${bytesText(hashedBytes)} hashed`}`;
  const facts = await withProgress(run.console, [what, releases], (done) =>
    Promise.all(
      releases.map(async ({ name, release }) => {
        const fact = await resolveRelease(release, run.signal, (bytes) => {
          hashedBytes += bytes;
        });
        done(name);
        return [name, fact] as const;
      }),
    ),
  );
  return Object.fromEntries(facts);
}

/** @throws only if the run is interrupted */
export async function resolveRelease(
  release: Release,
  signal: AbortSignal,
  onHashed: (bytes: number) => void,
): Promise<ArchiveFact> {
  const published = release.known ?? (await askPage(release, signal));
  if ('kind' in published) return published;
  const { sha256 } = published;
  const sizeBytes = published.sizeBytes ?? (sha256 === undefined ? undefined : await askSize(release, signal));
  if (typeof sizeBytes === 'object') return sizeBytes;
  if (sha256 !== undefined && sizeBytes !== undefined) return { kind: 'known', sha256, sizeBytes };
  const hashed = await hashArchive(release, signal, onHashed);
  if (sha256 === undefined || hashed.kind !== 'known' || hashed.sha256 === sha256) return hashed;
  return unresolved(`${release.from} has a different sha256 than its release page reports: ${hashed.sha256}.`);
}

const unresolved = (detail: string): UnreadArchive => ({ kind: 'unresolved', detail });

/** The digest and size on the release page, as far as it has them. */
async function askPage(
  { page }: Release,
  signal: AbortSignal,
): Promise<{ readonly sha256?: Digest; readonly sizeBytes?: number } | UnreadArchive> {
  if (page === undefined) return {};
  const { url, name } = page;
  const text = await request(url, { signal, accept: 'application/vnd.github+json, text/plain' }, pageText);
  if (typeof text !== 'string') return text;
  const entry = pageEntry(page, text);
  switch (entry.kind) {
    case 'found':
      return { ...given({ sha256: entry.sha256, sizeBytes: entry.sizeBytes }) };
    case 'garbled':
      return unresolved(`${url} did not return a release page.`);
    case 'missing':
      return { kind: 'no-release', detail: `${url} does not list ${name}.${macFiles(entry.files)}` };
  }
}

/** A sentence with the files of a release that are for Macs. */
function macFiles(files: readonly string[]): string {
  const found = files.filter((name) => /macos|darwin|\.dmg$/i.test(name)).slice(0, 8);
  return found.length === 0 ? '' : ` Its files for Macs: ${found.join(', ')}.`;
}

async function pageText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body ?? []) {
    size += part.length;
    if (size > longestPage) return '';
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The size of an archive from its headers; undefined if the server does not report it. */
function askSize({ from }: Release, signal: AbortSignal): Promise<number | undefined | UnreadArchive> {
  return request(from, { signal, method: 'HEAD' }, async ({ headers }) => sizeIn(headers));
}

function sizeIn(headers: Headers): number | undefined {
  const size = Number(headers.get('content-length') ?? Number.NaN);
  return Number.isSafeInteger(size) && size > 0 ? size : undefined;
}

/** Downloads an archive once to hash it. Keeps none of it. */
function hashArchive({ from }: Release, signal: AbortSignal, onHashed: (bytes: number) => void): Promise<ArchiveFact> {
  return request(from, { signal }, async ({ body, headers }, gotBytes): Promise<ArchiveFact> => {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const part of body ?? []) {
      gotBytes();
      hash.update(part);
      sizeBytes += part.length;
      onHashed(part.length);
    }
    const whole = sizeIn(headers) ?? sizeBytes;
    if (sizeBytes === 0 || sizeBytes !== whole)
      return unresolved(`${from} ended after ${sizeBytes} of ${whole} bytes.`);
    return { kind: 'known', sha256: digest(hash.digest('hex')), sizeBytes };
  });
}

/** A request, and how long its server may be silent: each call of `gotBytes` starts the time again. */
async function request<T>(
  url: string,
  { signal, method = 'GET', accept = '*/*' }: { signal: AbortSignal; method?: string; accept?: string },
  read: (answer: Response, gotBytes: () => void) => Promise<T>,
): Promise<T | UnreadArchive> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), deadlineMs);
  try {
    const headers = { accept, 'accept-encoding': 'identity', 'user-agent': 'meshwright' };
    const limits = { signal: AbortSignal.any([signal, silence.signal]) };
    const answer = await follow(new URL(url), { method, headers, ...limits });
    if (answer === undefined) return unresolved(`${url} is redirected too often or away from https.`);
    if (answer.ok) return await read(answer, () => timer.refresh());
    await answer.body?.cancel();
    return refusal(url, answer);
  } catch (error) {
    signal.throwIfAborted();
    if (silence.signal.aborted) return unresolved(`${url} did not answer within ${deadlineMs / 1_000} s.`);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return unresolved(`${url} cannot be reached: ${messageOf(cause) || systemCode(cause) || 'unknown error'}.`);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What an error status means.
 *
 * @see GitHub REST API, rate limits: status 403 or 429, with `x-ratelimit-remaining: 0` and the time of the reset in
 *   `x-ratelimit-reset`, in seconds since 1970; or with `retry-after`
 */
function refusal(url: string, { status, headers }: Response): UnreadArchive {
  if (status === 404 || status === 410) {
    return { kind: 'no-release', detail: `${url} does not exist (HTTP ${status}).` };
  }
  const isLimited = status === 429 || (status === 403 && headers.get('x-ratelimit-remaining') === '0');
  if (!isLimited) return unresolved(`${url} returned HTTP ${status}.`);
  const { host } = new URL(url);
  return unresolved(
    `${host} accepts no more requests from this network for now (HTTP ${status})${untilText(headers)}.`,
  );
}

function untilText(headers: Headers): string {
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
  if (Number.isSafeInteger(reset) && reset > 0 && reset < 1e11) {
    return `. It accepts them again at ${new Date(reset * 1_000).toISOString().slice(11, 16)} UTC`;
  }
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  return after > 0 ? `. It accepts them again in ${after} s` : '';
}

const mostRedirects = 5;

/** The answer after redirects; undefined after too many redirects, or if one leaves https. */
async function follow(
  start: URL,
  options: { readonly method: string; readonly headers: Record<string, string>; readonly signal: AbortSignal },
): Promise<Response | undefined> {
  let url = start;
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const answer = await fetch(url.href, { ...options, redirect: 'manual' });
    const place = answer.headers.get('location');
    if (answer.status < 300 || answer.status > 399 || place === null) return answer;
    await answer.body?.cancel();
    const next = nextAddress(url, place);
    if (next === undefined) return undefined;
    url = next;
  }
  return undefined;
}
