import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { indexedModel } from '../doubles/exo-image.ts';
import { tinyGguf, tinyShape } from '../doubles/tiny-gguf.ts';
import { replaceFile } from '../hosts/replace-file.ts';
import { createGithub } from './github.ts';
import { createHub, type HubFile, type HubRefusal, type HubRepository, hubFile } from './hub.ts';
import { openWeb, type Site, webIdentity } from './web-server.ts';

/** Divisible by 2, 3, 4, 6 and 8, so that most racks can split the model; larger than any context in a file. */
const shape = { hidden: 96, layers: 24, heads: 24, context: 1_048_576 } as const;

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** The name of a GGUF file, which ends with its quantization; the most common one if the repository names none. */
function ggufName(name: string): string {
  const stem = name.replace(/-?gguf/i, '');
  return /(?:Q\d_[0-9A-Z_]+|BF16|F16|MXFP4)/i.test(stem) ? `${stem}.gguf` : `${stem}-Q4_K_M.gguf`;
}

/** The files of a repository: a GGUF file if its name has `GGUF`, otherwise safetensors files. */
function filesOf(id: string): readonly HubFile[] {
  const name = id.slice(id.lastIndexOf('/') + 1);
  const readme = `# ${id}\n\nA simulated repository: tiny weights that mean nothing.\n`;
  const seed = Number.parseInt(sha1(id).slice(0, 7), 16);
  const model = /gguf/i.test(name)
    ? new Map([[ggufName(name), tinyGguf({ ...tinyShape, layers: 8, context: shape.context, seed })]])
    : indexedModel({ ...shape, seed: id });
  return [...model, ['README.md', readme] as const].map(([path, content]) => hubFile(path, Buffer.from(content)));
}

/** Every folder has a tiny model by its address, with a list of checksums; one with `missing` does not exist. */
const modelServer: Site = ({ host, path }) => {
  const [, folder = '', name] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
  const files = folder.includes('missing') ? [] : filesOf(`${host}${folder}`);
  const sums = files.map((one) => `${sha256(one.content)}  ./${one.path}\n`).join('');
  const body = name === 'SHA256SUMS' ? Buffer.from(sums) : files.find((one) => one.path === name)?.content;
  if (body === undefined || files.length === 0) return { status: 404, body: Buffer.from('no such file\n') };
  return { status: 200, body, isRanged: true };
};

const wholeCommit = /^[0-9a-f]{40}$/;

/**
 * Every name is a repository, and its content depends only on its name. A name with `missing` is none, one with
 * `private` needs a token, and one with `gated` lets only clients with a token download. Any token is good.
 */
function createRepositories(): (id: string, token: string | undefined) => HubRepository | HubRefusal {
  const files = new Map<string, readonly HubFile[]>();
  return (id, token) => {
    const isPrivate = id.includes('private');
    if (id.includes('missing') || (isPrivate && token === undefined)) return { kind: 'missing' };
    const found = files.get(id) ?? filesOf(id);
    files.set(id, found);
    const isGated = id.includes('gated');
    return {
      kind: 'repository',
      isPrivate,
      gated: isGated && 'manual',
      isOpen: !isGated || token !== undefined,
      revision: (name) => {
        if (name.includes('missing')) return undefined;
        return { commit: wholeCommit.test(name) ? name : sha1(`${id}@${name}`), files: found };
      },
    };
  };
}

/**
 * Opens the servers that stand in for the internet in a rehearsal: a Hub with every repository, GitHub's archives of
 * commits, and servers with models. The simulated Macs with these disks reach them by name.
 */
export async function openRehearsalWeb(folder: string, disks: readonly string[]) {
  const sites = new Map([...createHub({ find: createRepositories(), nowMs: Date.now }), ...createGithub()]);
  const web = await openWeb({ sites, elsewhere: modelServer, identity: webIdentity([...sites.keys()], new Date()) });
  const caFile = join(folder, 'web-ca.pem');
  await writeFile(caFile, web.ca, { mode: 0o600 });
  for (const disk of disks) {
    await replaceFile(join(disk, '/.sim/ca'), web.ca, 0o644);
    await replaceFile(join(disk, '/.sim/web'), web.lines, 0o644);
  }
  return { origin: web.origin, caFile, close: web.close };
}
