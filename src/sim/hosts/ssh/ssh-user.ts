import { existsSync } from 'node:fs';

/** The verbs library of a Mac. Only Macs with RDMA tools have it, and only if it was compiled. */
export const verbsLibraryPath = '/usr/lib/librdma.dylib';

/** Stands for the dynamic linker, which finds {@link verbsLibraryPath} on a Mac with its own root. */
export const verbsLibraryVariable = 'MESHWRIGHT_VERBS_LIBRARY';

/** Folder with additional sudo rules. */
export const sudoRulesPath = '/private/etc/sudoers.d';

interface EnvironmentOptions {
  /** Absolute path of the folder that represents the node's `/`. */
  readonly root: string;
  readonly user: string;
  /** `<run id>.<node>.<boot>`: the sweep finds processes by it, and those of an earlier boot session are refused. */
  readonly mark: string;
  /** `LANG` and `LC_*` from the client that the server accepted. */
  readonly accepted?: Readonly<Record<string, string>>;
  /** `address port` of the client and of the server, in sshd's form. */
  readonly connection?: { readonly client: string; readonly server: string };
}

/** Variable that marks every process of a simulated fleet. */
export const markVariable = 'MW_SIM';

/** Set by the simulated sudo for its command; `id` and `whoami` read it. */
export const rootMarkVariable = 'MW_SIM_SUDO';

/** The account's name, set by the simulated launchd for a service that runs as an account. */
export const accountVariable = 'MW_SIM_ACCOUNT';

/** Accounts whose names begin with `_` have an empty home, as on a Mac. */
export const homeOf = (root: string, user: string): string =>
  root + (user.startsWith('_') ? '/var/empty' : `/Users/${user}`);

/**
 * The whole environment of a command, as on a Mac over SSH: no LANG, no TMPDIR, nothing from the simulator's own
 * environment. The ssh2 host and a real sshd with the same root use the same environment.
 *
 * @see shared facts about macOS: a non-interactive SSH command gets PATH=/usr/bin:/bin:/usr/sbin:/sbin only
 */
export function execEnvironment(options: EnvironmentOptions): Readonly<Record<string, string>> {
  const { root, user, mark, accepted, connection } = options;
  return {
    ...accepted,
    PATH: ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((folder) => root + folder).join(':'),
    HOME: homeOf(root, user),
    USER: user,
    LOGNAME: user,
    SHELL: `${root}/bin/sh`,
    ...(connection && {
      SSH_CLIENT: `${connection.client} ${connection.server.split(' ')[1] ?? ''}`,
      SSH_CONNECTION: `${connection.client} ${connection.server}`,
    }),
    ...(existsSync(root + verbsLibraryPath) && { [verbsLibraryVariable]: root + verbsLibraryPath }),
    [markVariable]: mark,
  };
}
