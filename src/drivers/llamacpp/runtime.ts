import { packageSource, shortCommit } from '../../desired/package-source.ts';
import type { DriverKeys } from '../../desired/rules/rule.ts';
import type { DesiredRuntime, PackageSource } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { isOneOf, isProgram, isText } from '../contract/version-keys.ts';
import { llamaReleases } from './releases.ts';
import { rules } from './rules.ts';

/** llama.cpp: a server on the leader, and RPC workers on the other nodes. */
export interface LlamaRuntime extends DesiredRuntime {
  readonly driver: 'llamacpp-rpc';
  /** Paths of the two programs in the archive. */
  readonly server: string;
  readonly worker: string;
  /** The release or the commit; absent for an archive in the file. */
  readonly version?: string;
  /** Whether workers keep tensors between starts; each one is verified before every start. */
  readonly cache: 'none' | 'verified';
}

export const keys: DriverKeys<LlamaRuntime> = {
  needs: [],
  takes: ['version', 'source', 'server', 'worker', 'cache'],
  releases: llamaReleases,
  ofPlacements: ['args', 'parallel', 'shares', 'drafter'],
  rules,
  resolve: ({
    version,
    source,
    server = `${llamaFolder}/llama-server`,
    worker = `${llamaFolder}/ggml-rpc-server`,
    cache = 'none',
  }) => ({
    driver: 'llamacpp-rpc',
    server,
    worker,
    cache,
    ...given({ version }),
    ...builtFrom(source === undefined ? undefined : packageSource(source)),
  }),
  ofVersion: ({ server, worker, cache, version }) =>
    isProgram(server) && isProgram(worker) && isOneOf(cache, 'none', 'verified')
      ? { driver: 'llamacpp-rpc', server, worker, cache, ...(isText(version) ? { version } : {}) }
      : undefined,
};

/** The archive that `apply` builds from a commit, next to the lock. */
const builtFrom = (source: PackageSource | undefined): Partial<Pick<LlamaRuntime, 'archive' | 'builds' | 'version'>> =>
  source === undefined
    ? {}
    : {
        version: shortCommit(source),
        archive: `./llama.cpp-${shortCommit(source)}-macos-arm64.tar.gz`,
        builds: { name: 'llama.cpp', source },
      };

/** The default folder of llama.cpp in its archive. */
export const llamaFolder = 'bin';

/** Whether the programs may be in the single folder of llama.cpp's own releases, whatever its name. */
export const isReleaseLayout = (programs: readonly string[]): boolean =>
  programs[0] === `${llamaFolder}/llama-server` && programs.every((path) => path.startsWith(`${llamaFolder}/`));
