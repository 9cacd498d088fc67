import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { once } from '../../apply/once.ts';
import { fileUrl, ggufVersions, isIncluded, revisionUrl, treeUrl } from '../../desired/hub-source.ts';
import { mirrored } from '../../desired/mirror.ts';
import type { FolderFact } from '../../desired/settle/settle-trees.ts';
import { mostTreeBytes, mostTreeFiles } from '../../desired/tree-paths.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredDownloads, HubSource, UnreadSource } from '../../model/desired.ts';
import { type Digest, digest, jsonObject, parsedJson } from '../../model/digest.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { bytesText } from '../../model/text/units.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import type { ResolvedSecret } from '../../secrets/resolve-secret.ts';
import { httpGet, type NoAnswer, type WebAccess, type WebAnswer } from './http-get.ts';
import { answered, problem } from './list.ts';

export interface HubAccess extends WebAccess {
  readonly downloads: Pick<DesiredDownloads, 'mirror'>;
  readonly token?: TokenReader;
  /** Reports a pause in seconds that the server asked for. */
  readonly onPause?: (seconds: number) => void;
  readonly pauses: Pauses;
}

/** The pauses of a command, which its requests share. */
export interface Pauses {
  seconds: number;
  now?: Promise<void>;
}

/** The token for private and gated repositories, which is read and sent only after the server has refused a request. */
type TokenReader = ReturnType<typeof tokenReader>;

/** Reads the token at most once. */
export function tokenReader(read: () => Promise<ResolvedSecret | undefined>) {
  let current: string | undefined;
  const ask = async (): Promise<string | undefined> => {
    const found = await read();
    if (found?.kind === 'missing') throw new FleetError([found.diagnostic]);
    current = found?.secret.reveal();
    return current;
  };
  return {
    /** The token's text, once it was read. */
    current: () => current,
    /** Undefined without a token. @throws FleetError if it cannot be read or may not be sent */
    ask: once(ask),
  };
}

/** Asks without the token first, and once more with it if the server refuses. */
export async function withToken<T extends WebAnswer | NoAnswer>(
  { token }: Pick<HubAccess, 'token'>,
  ask: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const headers = (): Readonly<Record<string, string>> => {
    const text = token?.current();
    return text === undefined ? {} : { authorization: `Bearer ${text}` };
  };
  const isAnonymous = token?.current() === undefined;
  const answer = await ask(headers());
  const isRefused = 'status' in answer && [401, 403, 404].includes(answer.status);
  return isRefused && isAnonymous && (await token?.ask()) !== undefined ? ask(headers()) : answer;
}

/**
 * The commit of a repository's revision and the files that a model uses, each with its SHA-256. Small files, whose
 * SHA-256 Hugging Face does not publish, are downloaded and compared with their Git hash. Rejects only when aborted.
 * @see https://huggingface.co/docs/hub/api
 */
export function resolveRepository(hub: HubSource, access: HubAccess): Promise<FolderFact> {
  return answered(`hf:${hub.repository}: `, async () => {
    const { commit, ...shown } = await revisionOf(hub, access);
    const all = await listed(hub, commit, access);
    const wanted = all.filter(({ path }) => isIncluded(path, hub.include));
    const several = ggufVersions(wanted.map(({ path }) => path));
    if (hub.include === undefined && several.length > 1) throw severalVersions(hub, several);
    if (wanted.length === 0) throw nothingWanted(hub, all.length);
    if (wanted.length > mostTreeFiles) {
      throw problem(
        `It has ${wanted.length} files to download; the limit is ${mostTreeFiles} files.`,
        'Select fewer files with `include`.',
      );
    }
    const bytes = wanted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (bytes > mostTreeBytes) {
      throw problem(
        `Its files have ${bytesText(bytes)}; the limit is ${bytesText(mostTreeBytes)}.`,
        'Select fewer files with `include`. If `downloads.mirror` is set, compare its list with that of Hugging Face.',
      );
    }
    const files: TreeFile[] = [];
    await forEachLimited(wanted, atOnce, async ({ path, sizeBytes, sha256, gitHash }) => {
      files.push({
        path,
        sizeBytes,
        sha256: sha256 ?? (await hashed({ path, sizeBytes, gitHash }, hub, commit, access)),
      });
    });
    return { kind: 'known', commit, ...shown, files };
  });
}

/** The commit that a repository's revision names now. Rejects only when aborted. */
export const currentCommit = (
  hub: HubSource,
  access: HubAccess,
): Promise<{ readonly kind: 'known'; readonly commit: string } | UnreadSource> =>
  answered(`hf:${hub.repository}: `, async () => ({ kind: 'known', commit: (await revisionOf(hub, access)).commit }));

const atOnce = 8;
const mostListBytes = 16 * 2 ** 20;
/** Git files on the Hub are smaller than this; larger ones have an LFS entry with a SHA-256. */
const mostSmallBytes = 64 * 2 ** 20;
/** More pages than any list that can be used. */
const mostPages = 100;

/** The commit of a revision, and whether everybody may download it. */
async function revisionOf(hub: HubSource, access: HubAccess) {
  const { body } = await get(revisionUrl(hub), mostListBytes, hub, access);
  const { sha, private: isPrivate, gated } = jsonObject(parsedJson(body.toString('utf8'))) ?? {};
  if (typeof sha !== 'string' || !/^[0-9a-f]{40}$/.test(sha)) throw unexpected('the commit of the revision');
  return { commit: sha, ...(isPrivate === false && gated === false ? { access: 'public' as const } : {}) };
}

/** A file in a commit; either its SHA-256 or its Git hash is known. */
interface ListedFile extends Pick<TreeFile, 'path' | 'sizeBytes'> {
  readonly sha256?: Digest;
  readonly gitHash: string;
}

/** Reads all pages of a commit's file list. @see https://huggingface.co/docs/hub/api: `Link` names the next page */
async function listed(hub: HubSource, commit: string, access: HubAccess): Promise<readonly ListedFile[]> {
  const files: ListedFile[] = [];
  const first = treeUrl(hub.repository, commit);
  let url: string | undefined = first;
  for (let page = 0; url !== undefined; page++) {
    if (page === mostPages) throw unexpected('the list of files');
    const answer: WebAnswer = await get(url, mostListBytes, hub, access);
    const entries = parsedJson(answer.body.toString('utf8'));
    if (!Array.isArray(entries)) throw unexpected('the list of files');
    files.push(...entries.flatMap(fileOf));
    url = nextPage(answer.header('link'), first);
  }
  return files;
}

/** The next page, on the same path as the first one. A mirror may name itself or the Hub, so only the query counts. */
function nextPage(link: string | undefined, first: string): string | undefined {
  const part = (link ?? '').split(',').find((one) => /;\s*rel="?next"?/.test(one));
  if (part === undefined) return undefined;
  const place = part.slice(part.indexOf('<') + 1, part.indexOf('>'));
  if (!URL.canParse(place, first)) throw unexpected('the list of files');
  const next = new URL(first);
  next.search = new URL(place, first).search;
  return next.href;
}

function fileOf(entry: unknown): readonly ListedFile[] {
  const object = jsonObject(entry);
  if (object?.['type'] === 'directory') return [];
  const { type, path, size, oid } = object ?? {};
  const lfs = jsonObject(object?.['lfs']);
  const sizeBytes = lfs?.['size'] ?? size;
  if (type !== 'file' || typeof path !== 'string' || !Number.isSafeInteger(sizeBytes) || Number(sizeBytes) < 0) {
    throw unexpected('the list of files');
  }
  const about = { path, sizeBytes: Number(sizeBytes) };
  if (lfs === undefined) {
    if (typeof oid !== 'string' || !/^[0-9a-f]{40}$/.test(oid)) throw unexpected('the list of files');
    return [{ ...about, gitHash: oid }];
  }
  const sha256 = String(lfs['oid']).replace(/^sha256:/, '');
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw unexpected('the list of files');
  return [{ ...about, gitHash: '', sha256: digest(sha256) }];
}

/** Downloads a small file and compares it with its Git hash: the SHA-1 of `blob <size>`, a zero byte and the content. */
async function hashed(
  { path, sizeBytes, gitHash }: ListedFile,
  hub: HubSource,
  commit: string,
  access: HubAccess,
): Promise<Digest> {
  if (sizeBytes > mostSmallBytes) throw unexpected(`a SHA-256 for ${escapeText(path)}`);
  const { body } = await get(fileUrl(hub.repository, commit, path), mostSmallBytes, hub, access);
  const git = createHash('sha1').update(`blob ${body.length}\0`).update(body).digest('hex');
  if (git !== gitHash || body.length !== sizeBytes) {
    throw problem(
      `${escapeText(path)} does not have the content in the list of files.`,
      'Run the command again. If the problem persists, ask the owner of the server or mirror.',
    );
  }
  return digest(createHash('sha256').update(body).digest('hex'));
}

const mostTries = 3;
/** The server's window for its rate limit. @see https://huggingface.co/docs/hub/rate-limits */
const longestPauseSeconds = 300;
const mostPauseSeconds = 3 * longestPauseSeconds;

/** The answer with status 200. Waits for the rate limit; tries again after a server error. */
async function get(url: string, mostBytes: number, hub: HubSource, access: HubAccess): Promise<WebAnswer> {
  const place = mirrored(url, access.downloads);
  let tries = 0;
  for (;;) {
    await access.pauses.now;
    const answer = await withToken(access, (headers) => httpGet(place, { headers, mostBytes }, access));
    if ('status' in answer && answer.status === 429) {
      await pause(place, pauseSeconds(answer), access);
      continue;
    }
    if ('status' in answer && answer.status === 200) return answer;
    tries += 1;
    if ('why' in answer) {
      if (tries === mostTries) throw unreached(place, answer.why);
    } else if (answer.status < 500 || tries === mostTries) {
      throw refusal(answer, hub, access);
    }
    await sleep(tries * 1_000, undefined, { signal: access.signal });
  }
}

/** Begins a pause, unless a different request has begun one meanwhile. */
async function pause(place: string, seconds: number, { pauses, onPause, signal }: HubAccess): Promise<void> {
  if (pauses.now === undefined) {
    if (pauses.seconds + seconds > mostPauseSeconds) {
      throw problem(
        `${hostOf(place)} still limits the rate of requests, after pauses of ${pauses.seconds} s.`,
        'Run the command again later.',
      );
    }
    pauses.seconds += seconds;
    onPause?.(seconds);
    pauses.now = sleep(seconds * 1_000, undefined, { signal }).finally(() => {
      delete pauses.now;
    });
  }
  await pauses.now;
}

/** `RateLimit: "api";r=0;t=52` asks for a pause of 52 s; `Retry-After` is its older form. */
function pauseSeconds({ header }: WebAnswer): number {
  const [, text] =
    /;\s*t=(\d{1,6})/.exec(header('ratelimit') ?? '') ?? /^(\d{1,6})$/.exec(header('retry-after') ?? '') ?? [];
  return Math.min(Math.max(Number(text ?? 60), 1), longestPauseSeconds);
}

const hostOf = (url: string): string => new URL(url).host;

const unreached = (url: string, why: string): FleetError =>
  problem(
    `${hostOf(url)} ${why}.`,
    'Check the network of this computer, or set `downloads.mirror` to a server that it reaches.',
  );

const unexpected = (what: string): FleetError =>
  problem(
    `The answer does not contain ${what} in a known form.`,
    'If `downloads.mirror` is set, its server may not offer the API of Hugging Face.',
  );

/** @see X-Error-Code: RepoNotFound, RevisionNotFound, EntryNotFound, GatedRepo */
function refusal(answer: WebAnswer, { repository, revision }: HubSource, access: HubAccess): FleetError {
  const { status } = answer;
  const token = access.token?.current();
  const code = answer.header('x-error-code') ?? '';
  const noToken = 'Set `secrets: { huggingface: { env: HF_TOKEN } }` with a token that may read it.';
  if (code === 'RevisionNotFound') {
    return problem(`It has no revision ${revision}.`, 'Correct the revision after the @ in `source`.');
  }
  if (code === 'GatedRepo' || status === 403) {
    return problem(
      'Its terms have not been accepted, or the token may not read it.',
      `Accept the terms at https://huggingface.co/${repository}.${token === undefined ? ` ${noToken}` : ''}`,
    );
  }
  if (status === 401) {
    return token === undefined
      ? problem('It does not exist, or it is private.', `Correct the name. ${noToken}`)
      : problem('The token was refused (401).', 'Make a new token at https://huggingface.co/settings/tokens.');
  }
  if (status === 404) {
    return problem(
      'It does not exist, or the token may not see it.',
      `Correct the name.${token === undefined ? ` If it is private: ${noToken}` : ''}`,
    );
  }
  return problem(`The server answered with HTTP ${status}.`, 'Run the command again later.');
}

const severalVersions = ({ repository }: HubSource, versions: readonly string[]): FleetError => {
  const shown = versions.slice(0, 6).map((one) => escapeText(one));
  const more = versions.length > shown.length ? ` and ${versions.length - shown.length} more` : '';
  const last = shown[0]?.split('/').at(-1) ?? repository;
  return problem(
    `It has ${versions.length} GGUF versions: ${shown.join(', ')}${more}.`,
    `Select one, such as \`include: ["*${last}*"]\`.`,
  );
};

const nothingWanted = ({ include }: HubSource, count: number): FleetError =>
  include === undefined
    ? problem(`None of its ${count} files is one that runtimes read.`, 'Correct the name, or set `include`.')
    : problem(`None of its ${count} files matches \`include\`.`, 'Correct the patterns in `include`.');
