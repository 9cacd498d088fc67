import { createHash, createHmac, randomBytes } from 'node:crypto';
import { jsonAnswer, type ServedAnswer, type Site, type WebCall } from './web-server.ts';

/** A file of a repository. Large files are in the Hub's object storage; git has a pointer in their place. */
export interface HubFile {
  readonly path: string;
  readonly content: Buffer;
  /** The git blob's SHA-1; of a large file, the SHA-1 of its pointer. */
  readonly oid: string;
  readonly large?: { readonly sha256: string; readonly pointer: string };
  /** Xet's keyed hash; it is not a SHA-256. */
  readonly xetHash?: string;
}

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

/** @see git, Documentation: the hash of a blob covers the word blob, its size and a zero byte */
const gitBlobSha1 = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/** @see git-lfs, docs/spec.md */
const pointerText = (content: Buffer): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${content.length}\n`;

/** File names that repositories of models store as large files, as in the Hub's default `.gitattributes`. */
const largeNames = /\.(?:safetensors|gguf|bin|npz|pt|model)$/;

export function hubFile(path: string, content: Buffer, isInXet = true): HubFile {
  if (!largeNames.test(path)) return { path, content, oid: gitBlobSha1(content) };
  const pointer = pointerText(content);
  const oid = gitBlobSha1(Buffer.from(pointer));
  const large = { sha256: sha256(content), pointer };
  return { path, content, oid, large, ...(isInXet && { xetHash: sha256(`xet ${sha256(content)}`) }) };
}

export interface HubRevision {
  readonly commit: string;
  readonly files: readonly HubFile[];
}

export interface HubRepository {
  readonly kind: 'repository';
  readonly isPrivate: boolean;
  readonly gated: false | 'auto' | 'manual';
  /** Whether this client may download files of a gated repository. */
  readonly isOpen: boolean;
  /** The revision of a branch or a whole commit id; undefined if there is none. */
  readonly revision: (name: string) => HubRevision | undefined;
}

/** Why a client does not see a repository: it does not exist for this client, or the token itself is wrong. */
export type HubRefusal = { readonly kind: 'missing' } | { readonly kind: 'bad-token'; readonly isGated: boolean };

interface HubOptions {
  readonly find: (id: string, token: string | undefined) => HubRepository | HubRefusal;
  readonly nowMs: () => number;
  /** Entries per page of a listing (default 1,000). */
  readonly pageSize?: number;
  /** How long the link to a large file is valid (default one hour). */
  readonly signatureSeconds?: number;
}

export const hubHost = 'huggingface.co';
export const cdnHost = 'us.aws.cdn.hf.co';

const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

const tokenOf = ({ headers }: WebCall): string | undefined => /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];

const refused = (status: number, code: string | undefined, error: string): ServedAnswer =>
  jsonAnswer(status, { error }, { 'x-error-message': error, ...(code === undefined ? {} : { 'x-error-code': code }) });

/** Without a token, the Hub does not reveal whether a repository exists. */
const missing = (token: string | undefined): ServedAnswer =>
  token === undefined
    ? refused(401, 'RepoNotFound', 'Invalid username or password.')
    : refused(404, 'RepoNotFound', 'Repository not found');

const badToken = refused(401, undefined, 'Invalid credentials in Authorization header');

/** @see X-Error-Code of huggingface.co, seen in July and August 2026: 401 without a valid token, 403 with one */
const gatedAnswer = (id: string, token: string | undefined): ServedAnswer =>
  token === undefined
    ? refused(
        401,
        'GatedRepo',
        `Access to model ${id} is restricted. You must have access to it and be authenticated to access it. Please log in.`,
      )
    : refused(
        403,
        'GatedRepo',
        `Access to model ${id} is restricted and you are not in the authorized list. Visit https://huggingface.co/${id} to ask for access.`,
      );

const noRevision = (name: string): ServedAnswer => refused(404, 'RevisionNotFound', `Invalid rev id: ${name}`);

interface Found {
  readonly id: string;
  readonly repository: HubRepository;
  readonly revision: HubRevision;
  readonly path: string;
}

const infoOf = ({ id, repository, revision }: Found): ServedAnswer =>
  jsonAnswer(200, {
    _id: sha256(id).slice(0, 24),
    id,
    modelId: id,
    sha: revision.commit,
    private: repository.isPrivate,
    gated: repository.gated,
    disabled: false,
    siblings: revision.files.map(({ path }) => ({ rfilename: path })),
  });

const foldersOf = (path: string): readonly string[] =>
  path.split('/').flatMap((_, index, parts) => (index === 0 ? [] : [parts.slice(0, index).join('/')]));

/** The entries of a listing below a folder, sorted by path. */
function entriesOf({ revision, path: below }: Found, isRecursive: boolean) {
  const folders = [...new Set(revision.files.flatMap(({ path }) => foldersOf(path)))];
  const entries = [
    ...folders.map((path) => ({ type: 'directory', path, size: 0, oid: sha256(path).slice(0, 40) })),
    ...revision.files.map(({ path, content, oid, large, xetHash }) => ({
      ...{ type: 'file', path, size: content.length, oid },
      ...(large === undefined
        ? {}
        : { lfs: { oid: large.sha256, size: content.length, pointerSize: large.pointer.length }, xetHash }),
    })),
  ];
  const start = below === '' ? '' : `${below}/`;
  return entries
    .filter(({ path }) => path.startsWith(start) && (isRecursive || !path.slice(start.length).includes('/')))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** One page of a listing. `Link` has the URL of the next page. */
function treeOf(found: Found, call: WebCall, pageSize: number): ServedAnswer {
  const { query } = call;
  const entries = entriesOf(found, query.get('recursive') === 'true');
  const start = Number(Buffer.from(query.get('cursor') ?? '', 'base64url').toString() || 0);
  const size = Math.min(Number(query.get('limit') ?? pageSize) || pageSize, pageSize);
  const end = start + size;
  if (end >= entries.length) return jsonAnswer(200, entries.slice(start));
  const next = new URLSearchParams(query);
  next.set('limit', String(size));
  next.set('cursor', Buffer.from(String(end)).toString('base64url'));
  const url = call.urlOf(hubHost, `${encodedPath(call.path)}?${next.toString()}`);
  return jsonAnswer(200, entries.slice(start, end), { link: `<${url}>; rel="next"` });
}

interface Signer {
  readonly secret: string;
  readonly expires: number;
}

const signatureOf = (path: string, { secret, expires }: Signer): string =>
  createHmac('sha256', secret).update(`${path} ${expires}`).digest('base64url');

/** The redirect to a file: to a signed link for a large file, to a page of the Hub for others. */
function redirectTo({ id, revision, path }: Found, call: WebCall, signer: Signer): ServedAnswer {
  const file = revision.files.find((one) => one.path === path);
  if (file === undefined) return refused(404, 'EntryNotFound', 'Entry not found');
  const { oid, large, xetHash, content } = file;
  const shared = { 'x-repo-commit': revision.commit, 'accept-ranges': 'bytes' };
  if (large === undefined) {
    const page = `/api/resolve-cache/models/${id}/${revision.commit}/${encodedPath(path)}`;
    const location = `${page}?${encodeURIComponent(call.path)}=&etag=${encodeURIComponent(`"${oid}"`)}`;
    return { status: 307, headers: { ...shared, etag: `"${oid}"`, location: call.urlOf(hubHost, location) } };
  }
  const page = `/xet-bridge-us/${sha256(id).slice(0, 24)}/${large.sha256}`;
  const signature = signatureOf(page, signer);
  const query = `Expires=${signer.expires}&Signature=${signature}&Key-Pair-Id=SIMULATED`;
  const api = `/api/models/${id}/xet-read-token/${revision.commit}`;
  return {
    status: 302,
    headers: {
      ...shared,
      'x-linked-size': String(content.length),
      'x-linked-etag': `"${large.sha256}"`,
      ...(xetHash && { 'x-xet-hash': xetHash, link: `<${call.urlOf(hubHost, api)}>; rel="xet-auth"` }),
      location: call.urlOf(cdnHost, `${page}?${query}`),
    },
  };
}

function smallFile({ revision, path }: Found): ServedAnswer {
  const file = revision.files.find((one) => one.path === path && one.large === undefined);
  if (file === undefined) return refused(404, 'EntryNotFound', 'Entry not found');
  const headers = { etag: `"${file.oid}"`, 'x-repo-commit': revision.commit };
  return { status: 200, headers, body: file.content, isRanged: true };
}

const denied = (status: number, code: string): ServedAnswer => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`),
});

const resolvePattern = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/;
const cachePattern = /^\/api\/resolve-cache\/models\/([^/]+\/[^/]+)\/([^/]+)\/(.+)$/;
const treePattern = /^\/api\/models\/([^/]+\/[^/]+)\/tree\/([^/]+)(?:\/(.*))?$/;
const infoPattern = /^\/api\/models\/([^/]+\/[^/]+)(?:\/revision\/([^/]+))?$/;

/** Answers as huggingface.co and its content network do for models: information, listings and downloads. */
export function createHub(options: HubOptions): ReadonlyMap<string, Site> {
  const { find, nowMs, pageSize = 1_000, signatureSeconds = 3_600 } = options;
  const secret = randomBytes(16).toString('hex');
  /** Large files whose links were given out. */
  const stored = new Map<string, HubFile>();
  const open = (call: WebCall, [, id = '', name = 'main', path = '']: RegExpExecArray): Found | ServedAnswer => {
    const token = tokenOf(call);
    const repository = find(id, token);
    const isDownload = !call.path.startsWith('/api/models/');
    if (repository.kind === 'missing') return missing(token);
    if (repository.kind === 'bad-token') {
      return repository.isGated && isDownload ? gatedAnswer(id, undefined) : badToken;
    }
    if (!repository.isOpen && isDownload) return gatedAnswer(id, token);
    const revision = repository.revision(name);
    return revision === undefined ? noRevision(name) : { id, repository, revision, path };
  };
  const resolved = (found: Found, call: WebCall): ServedAnswer => {
    for (const file of found.revision.files) if (file.large !== undefined) stored.set(file.large.sha256, file);
    return redirectTo(found, call, { secret, expires: Math.floor(nowMs() / 1_000) + signatureSeconds });
  };
  const pages: readonly (readonly [RegExp, (found: Found, call: WebCall) => ServedAnswer])[] = [
    [infoPattern, infoOf],
    [treePattern, (found, call) => treeOf(found, call, pageSize)],
    [cachePattern, smallFile],
    [resolvePattern, resolved],
  ];
  const hub: Site = (call) => {
    for (const [pattern, answer] of pages) {
      const match = pattern.exec(call.path);
      if (match === null) continue;
      const found = open(call, match);
      return 'status' in found ? found : answer(found, call);
    }
    return refused(404, undefined, 'Not found');
  };
  const cdn: Site = ({ path, query, headers }) => {
    if (headers.authorization !== undefined) return denied(400, 'InvalidArgument');
    const expires = Number(query.get('Expires'));
    const isSigned = query.get('Signature') === signatureOf(path, { secret, expires });
    const file = stored.get(path.slice(path.lastIndexOf('/') + 1));
    if (!isSigned || expires * 1_000 <= nowMs() || file === undefined) return denied(403, 'AccessDenied');
    return { status: 200, headers: { etag: `"${file.xetHash ?? file.oid}"` }, body: file.content, isRanged: true };
  };
  return new Map([
    [hubHost, hub],
    [cdnHost, cdn],
  ]);
}
