// Generated from schemas/cluster.schema.json by `npm run generate`; never edited by hand.

/**
 * The account to log in with: letters, digits, `_`, `.` and `-`, a letter or `_` first, at most 32 characters.
 */
export type User = string;
/**
 * The TCP port of sshd, 1 to 65535.
 */
export type Port = number;
/**
 * A private key file on this machine; `~` is your home folder, a relative path starts at the cluster file. It does not begin with a dash.
 */
export type IdentityFile = string;
/**
 * A size as a whole number with GB or GiB directly after it, such as 512GB.
 */
export type Size = string;
/**
 * A host name, an IPv4 address, or an IPv6 address with or without a zone, such as studio-1.lan, 10.0.0.11 or fe80::1%en0. No user, no port.
 */
export type Host = string;
/**
 * One receptacle of one node, as node:receptacle.
 */
export type LinkEnd = string;

/**
 * The Macs of one rack, the Thunderbolt cables between them, and how they should be. Order has no meaning anywhere in this file.
 */
export interface ClusterSpec {
  /**
   * Version of this file's format; 1 is the only one.
   */
  schema: 1;
  /**
   * What this rack is called in every report.
   */
  name: string;
  /**
   * How nodes are reached, unless a node says otherwise. What is not said here comes from your ssh_config (asked with `ssh -G`).
   */
  ssh?: {
    user?: User;
    port?: Port;
    identityFile?: IdentityFile;
  };
  /**
   * The macOS version that the rack should run.
   */
  macos?: {
    /**
     * The macOS version that every node should run, as text in quotes: without them 26.10 is the number 26.1. Two or three numbers.
     */
    version?: string;
    /**
     * The versions that are usable, as a range: comparisons that must all hold, `||` between alternatives. A node outside of it is wrong.
     */
    accept?: string;
  };
  /**
   * Power settings on mains. A sleeping node cannot be reached over Thunderbolt (Apple TN3205).
   */
  power?: {
    /**
     * When the node may sleep: `never`, or after this many minutes, 1 to 180.
     */
    sleep?: 'never' | number;
    /**
     * Whether the node starts by itself when power returns (pmset autorestart): true or false.
     */
    restartAfterPowerLoss?: boolean;
  };
  /**
   * Settings of macOS that serving large models needs.
   */
  system?: {
    /**
     * How much memory the GPU may wire: `auto` (memory minus the larger of 8 GiB and 6.25 %), `default` (what macOS does by itself), or a size such as 480GiB.
     */
    wiredLimit?: ('auto' | 'default') | Size;
    /**
     * Whether FileVault must be enabled or disabled. An encrypted node stays locked after every reboot until somebody unlocks it.
     */
    fileVault?: 'any' | 'enabled' | 'disabled';
  };
  /**
   * The Macs, by name.
   */
  nodes: {
    [k: string]: Node;
  };
  /**
   * The cables, and what runs over them.
   */
  thunderbolt?: {
    /**
     * What should become of macOS's Thunderbolt Bridge. A bridged port can do no RDMA, and three bridged Macs in a ring take the office network down.
     */
    bridge?: 'remove' | 'keep';
    /**
     * auto: as placements need it. required: every node with a link must have RDMA enabled.
     */
    rdma?: 'auto' | 'required';
    /**
     * Addresses of the links.
     */
    addressing?: {
      /**
       * The private IPv4 network from which each link gets a /30, as its first address and a prefix length. It must not overlap any network that a node sees.
       */
      pool?: string;
    };
    /**
     * Receptacles to warn about, besides those that meshwright itself knows. A number means that receptacle of every node.
     *
     * @maxItems 1024
     *
     * Items: A receptacle of every node, 1 to 16, or one receptacle of one node, such as studio-1:2.
     */
    avoid?: (number | LinkEnd)[];
    /**
     * One line per cable: which receptacle of which node goes to which. Receptacles are numbered as macOS prints them.
     *
     * @maxItems 1024
     *
     * Items: One cable, as node:receptacle <-> node:receptacle, receptacles counted from 1.
     */
    links?: string[];
  };
}
/**
 * One Mac.
 */
export interface Node {
  host: Host;
  user?: User;
  port?: Port;
  identityFile?: IdentityFile;
  /**
   * Which Mac must stand there. A node that turns out to be another one is wrong.
   */
  hardware?: {
    /**
     * Apple's model identifier, as `sysctl hw.model` prints it, such as Mac15,14.
     */
    model?: string;
    /**
     * A size as a whole number with GB or GiB directly after it, such as 512GB.
     */
    memory?: string;
    /**
     * The serial number: 6 to 20 capital letters and digits.
     */
    serial?: string;
  };
  /**
   * Words to select nodes by: -l role=worker.
   */
  labels?: {
    /**
     * A word of letters, digits, `_`, `.` and `-`, at most 63 characters.
     */
    [k: string]: string;
  };
}
