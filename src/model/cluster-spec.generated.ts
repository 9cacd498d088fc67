// Generated from schemas/cluster.schema.json by `npm run generate`; never edited by hand.

/**
 * The account to log in with.
 */
export type User = string;
/**
 * The TCP port of sshd.
 */
export type Port = number;
/**
 * A private key file on this machine; ~ is your home folder, a relative path starts at the cluster file.
 */
export type IdentityFile = string;
/**
 * A size in decimal GB or binary GiB.
 */
export type Size = string;
/**
 * A host name, an IPv4 address, or an IPv6 address with or without a zone.
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
   * Version of this file's format.
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
     * The wish, as text: 26.10 without quotes is the number 26.1.
     */
    version?: string;
    /**
     * Versions that are usable. Outside of it a node is wrong.
     */
    accept?: string;
  };
  /**
   * Power settings on mains. A sleeping node cannot be reached over Thunderbolt (Apple TN3205).
   */
  power?: {
    /**
     * When the node may sleep: never, or after this many minutes.
     */
    sleep?: 'never' | number;
    /**
     * Whether the node starts by itself when power returns (pmset autorestart).
     */
    restartAfterPowerLoss?: boolean;
  };
  /**
   * Settings of macOS that serving large models needs.
   */
  system?: {
    /**
     * How much memory the GPU may wire: auto (memory minus the larger of 8 GiB and 6.25 %), default (what macOS does by itself), or a size.
     */
    wiredLimit?: ('auto' | 'default') | Size;
    /**
     * Whether FileVault must be enabled or disabled. An encrypted node stays locked after every reboot until somebody unlocks it.
     */
    fileVault?: 'any' | 'enabled' | 'disabled';
  };
  /**
   * The Macs, by name. Names are lower-case letters, digits and dashes.
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
       * An IPv4 network from which each link gets a /30. It must not overlap any network that a node sees.
       */
      pool?: string;
    };
    /**
     * Receptacles to warn about, besides those that meshwright itself knows: a number means that receptacle of every node.
     *
     * @maxItems 1024
     */
    avoid?: (number | LinkEnd)[];
    /**
     * One line per cable: which receptacle of which node goes to which. Receptacles are numbered as macOS prints them.
     *
     * @maxItems 1024
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
     * Apple's model identifier, as `sysctl hw.model` prints it.
     */
    model?: string;
    /**
     * A size in decimal GB or binary GiB.
     */
    memory?: string;
    /**
     * The serial number.
     */
    serial?: string;
  };
  /**
   * Words to select nodes by: -l role=worker.
   */
  labels?: {
    [k: string]: string;
  };
}
