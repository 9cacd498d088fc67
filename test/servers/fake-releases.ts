import { createHash } from 'node:crypto';
import type { Site } from '../../src/sim/web/web-server.ts';

/** The host that stores the files of GitHub releases. */
export const assetHost = 'release-assets.githubusercontent.com';

interface FakeReleases {
  /** Files by name, by `OWNER/NAME@TAG`. */
  readonly github: Readonly<Record<string, Readonly<Record<string, Buffer | string>>>>;
}

const signatureOf = (page: string): string => createHash('sha256').update(page).digest('hex').slice(0, 32);

/** Sites that answer as the downloads of GitHub's releases do. */
export function fakeReleases({ github }: FakeReleases) {
  const contentOf = (name: string, tag: string, asset: string) => github[`${name}@${tag}`]?.[asset];
  const downloads: Site = ({ path, urlOf }) => {
    const [, name = '', tag = '', asset = ''] =
      /^\/([^/]+\/[^/]+)\/releases\/download\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    if (contentOf(name, tag, asset) === undefined) return { status: 404, body: Buffer.from('Not Found') };
    const page = `/github-production-release-asset/${name}/${tag}/${asset}`;
    return { status: 302, headers: { location: urlOf(assetHost, `${page}?sig=${signatureOf(page)}`) } };
  };
  const assets: Site = ({ path, query }) => {
    const [, name = '', tag = '', asset = ''] =
      /^\/github-production-release-asset\/([^/]+\/[^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const content = contentOf(name, tag, asset);
    if (content === undefined || query.get('sig') !== signatureOf(path)) return { status: 403 };
    const headers = { 'content-type': 'application/octet-stream' };
    return { status: 200, headers, body: Buffer.from(content), isRanged: true };
  };
  return {
    sites: new Map<string, Site>([
      ['github.com', downloads],
      [assetHost, assets],
    ]),
  };
}
