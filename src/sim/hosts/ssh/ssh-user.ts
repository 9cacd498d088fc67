/** Where sudo looks for more rules. */
export const sudoRulesPath = '/private/etc/sudoers.d';

/** What decides the environment of a command on a simulated node. */
interface EnvironmentOptions {
  /** Absolute folder that stands for `/` of the node. */
  readonly root: string;
  readonly user: string;
  /**
   * `<run id>.<node>.<boot>`: found again by the sweep, whatever a process does to its group, and refused by the
   * simulator when that boot session is over.
   */
  readonly mark: string;
  /** `LANG` and `LC_*` that the client sent and the server accepted. */
  readonly accepted?: Readonly<Record<string, string>>;
  /** `address port` of the client and of the server, as sshd gives them. */
  readonly connection?: { readonly client: string; readonly server: string };
}

/** The name of the variable that marks every process of a simulated fleet. */
export const markVariable = 'MW_SIM';

/** Set by the simulated sudo for what it runs; `id` and `whoami` look at it. */
export const rootMarkVariable = 'MW_SIM_SUDO';

/** Set by the simulated launchd for a service of an account: whose process it is. */
export const accountVariable = 'MW_SIM_ACCOUNT';

/** The home folder of an account, below the node's root; one whose name begins with `_` has an empty one, as on a Mac. */
export const homeOf = (root: string, user: string): string =>
  root + (user.startsWith('_') ? '/var/empty' : `/Users/${user}`);

/**
 * The whole environment of a command: what a Mac gives to a command over SSH, no LANG, no TMPDIR, nothing of the
 * simulator's own environment. The same for the ssh2 host and for a real sshd in front of the same root.
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
    [markVariable]: mark,
  };
}
