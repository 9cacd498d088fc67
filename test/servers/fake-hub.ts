import { createHash } from 'node:crypto';
import {
  cdnHost,
  createHub,
  type HubFile,
  type HubRepository,
  type HubRevision,
  hubFile,
  hubHost,
} from '../../src/sim/web/hub.ts';
import { jsonAnswer, type Site } from '../../src/sim/web/web-server.ts';
import { type FakeWeb, openFakeWeb } from './fake-web.ts';

export { cdnHost, hubHost };

/** A repository of the fake Hub, as a test writes it. */
interface FakeRepository {
  /** Content by path. Names such as `*.safetensors` become large files. */
  readonly files: Readonly<Record<string, Buffer | string>>;
  readonly isPrivate?: boolean;
  readonly gated?: 'auto' | 'manual';
  /** Whether large files are offered by Xet too, whose protocol the fake Hub does not speak. */
  readonly isInXet?: boolean;
}

interface FakeToken {
  /** Ids of the private and gated repositories that the token opens. */
  readonly opens: readonly string[];
}

interface FakeHubOptions {
  /** By token. Any other token is refused, as the Hub refuses an expired one. */
  readonly tokens?: Readonly<Record<string, FakeToken>>;
  readonly pageSize?: number;
  /** Further hosts, such as those of fake releases. */
  readonly sites?: ReadonlyMap<string, Site>;
}

interface StoredRepository extends Omit<HubRepository, 'kind' | 'isOpen' | 'revision'> {
  readonly branches: Map<string, string>;
  readonly revisions: Map<string, readonly HubFile[]>;
}

/** A commit id that depends only on the repository and its files. */
function commitOf(id: string, files: readonly HubFile[]): string {
  const hash = createHash('sha1').update(id);
  for (const { path, oid } of files) hash.update(`\0${path} ${oid}`);
  return hash.digest('hex');
}

const fileList = ({ files, isInXet }: FakeRepository): readonly HubFile[] =>
  Object.entries(files).map(([path, content]) => hubFile(path, Buffer.from(content), isInXet));

function revisionIn({ branches, revisions }: StoredRepository, name: string): HubRevision | undefined {
  const commit = branches.get(name) ?? name;
  const files = revisions.get(commit);
  return files === undefined ? undefined : { commit, files };
}

/** The Hub's limits: the number of requests in a window, and the end of the window. */
interface Limit {
  left: number;
  readonly endsAtMs: number;
}

/** Adds the Hub's rate limit to a site; `RateLimit` counts down, and at 0 the answer is 429 until the window ends. */
function limited(site: Site, limits: { resolvers?: Limit | undefined; api?: Limit | undefined }): Site {
  return (call) => {
    const name = call.path.startsWith('/api/models/') ? 'api' : 'resolvers';
    const limit = limits[name];
    if (limit === undefined) return site(call);
    const seconds = Math.ceil((limit.endsAtMs - Date.now()) / 1_000);
    if (seconds <= 0) {
      delete limits[name];
      return site(call);
    }
    const header = { ratelimit: `"${name}";r=${Math.max(0, limit.left)};t=${seconds}` };
    if (limit.left <= 0) return jsonAnswer(429, { error: 'Too Many Requests' }, header);
    limit.left -= 1;
    const answer = site(call);
    return { ...answer, headers: { ...answer.headers, ...header } };
  };
}

/** A fake Hugging Face Hub on real HTTPS servers: {@link FakeWeb}, and its repositories. */
export async function openFakeHub(options: FakeHubOptions = {}) {
  const { tokens = {}, sites, ...sizes } = options;
  const repositories = new Map<string, StoredRepository>();
  const clock = { offsetMs: 0 };
  const limits: Parameters<typeof limited>[1] = {};
  const hub = createHub({
    ...sizes,
    nowMs: () => Date.now() + clock.offsetMs,
    find: (id, token) => {
      const isKnown = token === undefined || tokens[token] !== undefined;
      const found = repositories.get(id);
      if (!isKnown) return { kind: 'bad-token', isGated: found !== undefined && found.gated !== false };
      const isOpen = token !== undefined && tokens[token]?.opens.includes(id) === true;
      if (found === undefined || (found.isPrivate && !isOpen)) return { kind: 'missing' };
      const { isPrivate, gated } = found;
      return {
        ...{ kind: 'repository', isPrivate, gated, isOpen: gated === false || isOpen },
        revision: (name) => revisionIn(found, name),
      };
    },
  });
  const pages = new Map([...hub, ...(sites ?? [])]);
  const hubPages = hub.get(hubHost);
  if (hubPages !== undefined) pages.set(hubHost, limited(hubPages, limits));
  const web: FakeWeb = await openFakeWeb(pages);
  /** Adds a commit and points the branch to it; returns the commit. */
  const push = (id: string, repository: FakeRepository, branch = 'main'): string => {
    const files = fileList(repository);
    const commit = commitOf(id, files);
    const { isPrivate = false, gated = false } = repository;
    const { branches, revisions } = repositories.get(id) ?? { branches: new Map(), revisions: new Map() };
    branches.set(branch, commit);
    revisions.set(commit, files);
    repositories.set(id, { isPrivate, gated, branches, revisions });
    return commit;
  };
  return {
    ...web,
    push,
    /** Moves the Hub's clock, so that all links given out before expire. */
    expireLinks: (): void => {
      clock.offsetMs += 86_400_000;
    },
    /** Answers this many more requests of a kind in the next seconds, and the rest with 429. */
    limit: (kind: 'api' | 'resolvers', left: number, seconds: number): void => {
      limits[kind] = { left, endsAtMs: Date.now() + seconds * 1_000 };
    },
  };
}

export type FakeHub = Awaited<ReturnType<typeof openFakeHub>>;
