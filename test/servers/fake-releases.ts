import { createHash } from 'node:crypto';
import { jsonAnswer, type Site, type WebAnswer } from '../../src/sim/web/web-server.ts';

export const githubApiHost = 'api.github.com';
const githubHost = 'github.com';
/** The host that stores the files of GitHub releases. */
export const assetHost = 'release-assets.githubusercontent.com';
export const nodeHost = 'nodejs.org';

/** The files of a release by name. */
type Files = Readonly<Record<string, Buffer | string>>;

interface FakeReleases {
  /** By `OWNER/NAME@TAG`. */
  readonly github?: Readonly<Record<string, Files>>;
  /** Names of assets without a digest, as assets older than mid-2025 have it. */
  readonly withoutDigest?: readonly string[];
  /** Files below `https://nodejs.org/dist/`, by version such as `v24.4.1`; their sums are in `SHASUMS256.txt`. */
  readonly node?: Readonly<Record<string, Files>>;
}

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

const notFound = jsonAnswer(404, {
  message: 'Not Found',
  documentation_url: 'https://docs.github.com/rest',
  status: '404',
});
const download = (content: Buffer | string): WebAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/octet-stream' },
  body: Buffer.from(content),
  isRanged: true,
});

/** GitHub's answer when an address without a token has made its 60 requests of the hour. */
function overLimit(resetsAtSeconds: number): WebAnswer {
  const headers = {
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': `${resetsAtSeconds}`,
  };
  return jsonAnswer(403, { message: 'API rate limit exceeded for 192.0.2.1.' }, headers);
}

/**
 * Sites that answer as GitHub's release API, its downloads and nodejs.org do. `limitApi` makes the API refuse requests
 * until a time.
 */
export function fakeReleases({ github = {}, withoutDigest = [], node = {} }: FakeReleases) {
  const limit = { resetsAtMs: 0 };
  const assetsOf = (name: string, tag: string): Files | undefined => github[`${name}@${tag}`];
  const api: Site = ({ path, urlOf }) => {
    if (Date.now() < limit.resetsAtMs) return overLimit(Math.ceil(limit.resetsAtMs / 1_000));
    const [, name = '', tag = ''] = /^\/repos\/([^/]+\/[^/]+)\/releases\/tags\/([^/]+)$/.exec(path) ?? [];
    const files = assetsOf(name, tag);
    if (files === undefined) return notFound;
    const assets = Object.entries(files).map(([asset, content]) => ({
      name: asset,
      size: Buffer.byteLength(content),
      state: 'uploaded',
      digest: withoutDigest.includes(asset) ? null : `sha256:${sha256(content)}`,
      browser_download_url: urlOf(githubHost, `/${name}/releases/download/${tag}/${asset}`),
    }));
    return jsonAnswer(200, { tag_name: tag, draft: false, prerelease: false, assets });
  };
  const downloads: Site = ({ path, urlOf }) => {
    const [, name = '', tag = '', asset = ''] =
      /^\/([^/]+\/[^/]+)\/releases\/download\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const content = assetsOf(name, tag)?.[asset];
    if (content === undefined) return { status: 404, body: Buffer.from('Not Found') };
    const page = `/github-production-release-asset/${name}/${tag}/${asset}`;
    return { status: 302, headers: { location: urlOf(assetHost, `${page}?sig=${sha256(page).slice(0, 32)}`) } };
  };
  const assets: Site = ({ path, query }) => {
    const [, name = '', tag = '', asset = ''] =
      /^\/github-production-release-asset\/([^/]+\/[^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const content = assetsOf(name, tag)?.[asset];
    if (content === undefined || query.get('sig') !== sha256(path).slice(0, 32)) return { status: 403 };
    return download(content);
  };
  const nodejs: Site = ({ path }) => {
    const [, version = '', name = ''] = /^\/dist\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const files = node[version];
    if (files === undefined) return { status: 404, body: Buffer.from('<h1>404 Not Found</h1>') };
    const sums = Object.entries(files).map(([file, content]) => `${sha256(content)}  ${file}\n`);
    if (name === 'SHASUMS256.txt') return download(sums.join(''));
    const content = files[name];
    return content === undefined ? { status: 404, body: Buffer.from('<h1>404 Not Found</h1>') } : download(content);
  };
  return {
    sites: new Map<string, Site>([
      [githubApiHost, api],
      [githubHost, downloads],
      [assetHost, assets],
      [nodeHost, nodejs],
    ]),
    /** Makes the API refuse requests for these seconds. */
    limitApi: (seconds: number): void => {
      limit.resetsAtMs = Date.now() + seconds * 1_000;
    },
  };
}
