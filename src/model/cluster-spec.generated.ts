// Generated from schemas/cluster.schema.json by `npm run generate`; never edited by hand.

/**
 * The account to log in with: letters, digits, `_`, `.` and `-`, a letter or `_` first, at most 32 characters. sudo reads a name of capitals, digits and `_` alone as a list of accounts, `ALL` as every one: such a name is refused.
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
 * A name of lower-case letters, digits and dashes, at most 63 characters, with a letter or digit first and last.
 */
export type Name = string;

/**
 * The Macs of one rack, the Thunderbolt cables between them, how they should be, and which models they run. Order has no meaning in this file, except that of the `nodes` of a placement.
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
    password?: SecretSource;
  };
  /**
   * The macOS version that the rack should run.
   */
  macos?: {
    /**
     * The macOS version that every node should run, as text in quotes: without them 26.10 is the number 26.1. Up to three numbers; 27 is 27.0.
     */
    version?: string;
    /**
     * The versions that are usable, as a range: comparisons that must all hold, `||` between alternatives. A node with another version is reported as an error.
     */
    accept?: string;
    /**
     * What macOS does about new versions of itself.
     */
    updates?: {
      /**
       * disabled: macOS installs no update unasked; it still tells that there is one. A rack whose Macs update themselves one by one loses its mesh, since RDMA peers want equal versions. keep: as each Mac has it.
       */
      automatic?: 'keep' | 'disabled';
    };
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
    /**
     * node: each Mac is called as its node: computer name, Bonjour name (NAME.local) and host name. keep: as each Mac is called.
     */
    computerName?: 'keep' | 'node';
    /**
     * set: a clock that is off by more than five seconds is set by time.apple.com, which the node must reach. keep: it is only told. Nothing that meshwright does depends on the clock of a node.
     */
    clock?: 'keep' | 'set';
    /**
     * Whether each Mac must log somebody in by itself when it starts (required), must not (disabled), or either (any). Only a person at the Mac can switch it, and FileVault makes it impossible.
     */
    automaticLogin?: 'any' | 'required' | 'disabled';
    /**
     * Whether Screen Sharing is enabled or disabled, now and after every start. keep: as each Mac has it.
     */
    screenSharing?: 'keep' | 'enabled' | 'disabled';
    /**
     * disabled: the application firewall is switched off, which asks about every program that listens. keep: as each Mac has it; where it is on and a placement listens, that is told.
     */
    firewall?: 'keep' | 'disabled';
    /**
     * stop: Spotlight indexes no volume, Time Machine makes no backups by itself, and launchd starts none of the agents that look through photos in sessions of the ssh user at the screen, as automatic login begins one; all of these read and write the disk while models are loaded. An agent that runs at that moment goes on until that user logs out or the Mac restarts, and the Photos app may start it again. keep: as each Mac has it.
     */
    backgroundServices?: 'keep' | 'stop';
    /**
     * The accounts that ranks and the gateway run as. Without this key these are _meshrank and, where the file has `doorman`, _meshgate; `apply` makes both, without password, shell and sudo. Any other name is an account that a person made and that cannot become root. `login` is the ssh user, who can become root: an attacker who breaks a rank or the gateway is then root.
     */
    accounts?: {
      /**
       * `login`, `_meshrank`, `_meshgate` or an account that a person made: letters, digits, `_`, `.` and `-`, a letter first, at most 31 characters.
       */
      ranks?: string;
      /**
       * `login`, `_meshrank`, `_meshgate` or an account that a person made: letters, digits, `_`, `.` and `-`, a letter first, at most 31 characters.
       */
      gateway?: string;
    };
    /**
     * Whether a small daemon on each node puts back by itself, within a minute, what macOS undoes at a start or when a cable is plugged: the removal of the Thunderbolt Bridge, the addresses of links, the wired limit. `auto` where the file wants one of these, `none` never.
     */
    keeper?: 'auto' | 'none';
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
     * What should become of macOS's Thunderbolt Bridge. A bridged port can do no RDMA, and three bridged Macs in a ring take the office network down. verify: a bridge is told and keeps what needs the cables waiting, and nobody but you takes it away.
     */
    bridge?: 'remove' | 'keep' | 'verify';
    /**
     * auto: as placements need it. required: every node with a link must have RDMA enabled, except Macs declared with a Thunderbolt 4 model.
     */
    rdma?: 'auto' | 'required';
    /**
     * What should become of network daemons of others, such as exo's io.exo.networksetup, which puts every cable back on DHCP. stop: it is unloaded and disabled, its files stay. remove: its plist goes as well, and a copy is kept on the node. adopt: it stays, and the bridge, the addresses and the service order of such a node are left to it. Without this key a node with such a daemon waits.
     */
    foreignDaemons?: 'adopt' | 'remove' | 'stop';
    /**
     * Addresses of the links.
     */
    addressing?: {
      /**
       * The private IPv4 network from which each link gets a /30, as its first address and a prefix length. It must not overlap any network that a node sees. Which link has which stands in the lock: it never moves while the link is declared, and is given to no other link until no node has an address of it any more.
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
  /**
   * The programs that run models, by name. Each is installed on the nodes of its placements.
   */
  runtimes?: {
    [k: string]: Runtime;
  };
  /**
   * The models, by name. Each is brought to the nodes of its placements and checked there, file by file.
   */
  models?: {
    [k: string]: Model;
  };
  /**
   * What nodes fetch by themselves from a server.
   */
  downloads?: {
    /**
     * refused (the default): every address is https, those that a server sends a node on to, too. allowed: http is good enough here; the sha256 of each file still has to be right.
     */
    plainHttp?: 'refused' | 'allowed';
  };
  /**
   * The program that stands before endpoints with `listen: lan`; needed as soon as there is one.
   */
  doorman?: {
    /**
     * Node.js for macOS as an archive of this machine, as nodejs.org publishes it: `node-v22.…-darwin-arm64.tar.gz`. A relative path starts at the cluster file.
     */
    node: string;
    /**
     * Its program, by its path in the archive. Without it: bin/node in the one folder that those archives have, called as the archive is.
     */
    program?: string;
  };
  /**
   * Which model runs on which nodes, with which runtime; by name.
   */
  placements?: {
    [k: string]: Placement;
  };
}
/**
 * Where the password of the account comes from, by exactly one of these keys; the password itself never stands in this file. Only `enroll` (once) and `unlock` (FileVault) ask for it.
 */
export interface SecretSource {
  /**
   * The environment variable on this machine that holds it.
   */
  env?: string;
  /**
   * A file on this machine that holds it as its only line, and that nobody but you may read (mode 600); `~` is your home folder, a relative path starts at the cluster file.
   */
  file?: string;
  /**
   * A program on this machine that prints it, word by word; no shell reads it. It has 30 seconds, and does not see the environment variables that hold other secrets of this file.
   *
   * @minItems 1
   * @maxItems 64
   *
   * Items: One word of the command line; no control characters.
   */
  command?: string[];
  /**
   * true: you are asked for it, without echo, when it is needed.
   */
  prompt?: true;
}
/**
 * One Mac.
 */
export interface Node {
  host: Host;
  user?: User;
  port?: Port;
  identityFile?: IdentityFile;
  password?: SecretSource;
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
   * Leaves this node alone: it is looked at and not changed, and placements with a member on it stay as they are.
   */
  hold?: {
    /**
     * Why, in one line; it is shown to everybody.
     */
    reason: string;
    /**
     * The last day of it, in UTC, in quotes. When it is over, the node is changed again, and that is told. Without it: until the key is taken out.
     */
    until?: string;
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
/**
 * A program that runs models.
 */
export interface Runtime {
  /**
   * How it is started and judged. command: by the command line below, one process per node. llamacpp-rpc: llama-server on the leader, an RPC worker on every other node. mlx: mlx_lm.server on every node. exo: exo on every node, one mesh for each placement.
   */
  driver: 'command' | 'llamacpp-rpc' | 'mlx' | 'exo';
  /**
   * The program as an archive on this machine, packed for macOS on Apple silicon: .tar.gz, .tar.xz or .zip; for exo the disk image, .dmg; for mlx the archive of uv. A relative path starts at the cluster file. Its sha256 stands in the lock.
   */
  archive: string;
  /**
   * For command, which needs it. The command line of one rank, word by word; no shell reads it. The first word is a program of the archive or an absolute path. Fields in a word are filled in: {runtime} folder of the unpacked archive, {model} folder of the model, {rank} number of this rank from 0, {size} how many ranks there are, {address} address of this rank on the cable from the rank before it (of rank 0: from the last one; 127.0.0.1 for a single rank), {port} port on which the ranks of this start meet, {peers} {address}:{port} of every rank in rank order with commas, {endpoint} port of the endpoint, {generation} number of this start, {context} tokens of context, {sharding} tensor, pipeline or none, {name} name of the placement, {node} name of the node. Other braces stay as they are.
   *
   * @minItems 1
   * @maxItems 256
   *
   * Items: One word of the command line, in quotes if it has a brace; no control characters.
   */
  command?: string[];
  /**
   * For command. Which members are started first. Each waits until those before it have joined. Without it: leader-first.
   */
  order?: 'leader-first' | 'followers-first' | 'together';
  /**
   * For command. What a dead member means. group: all of them are stopped and started again; node: it alone is started again. Without it: group.
   */
  restart?: 'group' | 'node';
  /**
   * For command. When a started member counts as joined; judged on the node itself.
   */
  joined?: {
    /**
     * The TCP port on which it then listens, in quotes: "{port}", where the ranks meet, or "{endpoint}". Without it: "{port}".
     */
    listening?: string;
  };
  /**
   * For command. How the endpoint is asked for one token: a placement serves when it gives one in time.
   */
  token?: {
    /**
     * The path of an OpenAI request, from the root. One that ends with /completions and not with /chat/completions takes a prompt instead of messages. Without it: /v1/chat/completions.
     */
    path?: string;
    /**
     * Where the text stands in the answer, as a JSON pointer. Without it: /choices/0/message/content, or /choices/0/text where the path takes a prompt.
     */
    json?: string;
    /**
     * Whether its answer to one question with temperature 0 is the same after every start: equal. Then every start is compared with the first one, and another answer fails it. Without it: nobody knows, and nothing is compared.
     */
    golden?: 'equal';
  };
  /**
   * For llamacpp-rpc. Path of llama-server in the archive. Without it: bin/llama-server.
   */
  server?: string;
  /**
   * For llamacpp-rpc. Path of the RPC server in the archive. Without it: bin/ggml-rpc-server.
   */
  worker?: string;
  /**
   * For llamacpp-rpc. Whether workers keep the tensors that they got on their disks. none: they come over the cable at every start. verified: each is compared with the hash that is its name before every start, and fetched again where it differs; worth it where the cable is slower than that, as with sockets over a slow network.
   */
  cache?: 'none' | 'verified';
  /**
   * For mlx, which needs it: the version of Python, in quotes, since 3.10 is a number.
   */
  python?: string;
  /**
   * For mlx, which needs it: the locked requirements with a hash for every package, as `uv pip compile --generate-hashes` writes them; a file of this machine. A relative path starts at the cluster file. Its sha256 stands in the lock.
   */
  requirements?: string;
  /**
   * For mlx. A folder of this machine with the wheel of every package of `requirements`, and the archive of Python as uv fetches it, for nodes without internet: they are brought to each node, and nothing is taken from anywhere else. A relative path starts at the cluster file. The sha256 of every file stands in the lock.
   */
  wheels?: string;
  /**
   * For exo, which needs it: the version of the app, in quotes. Up to 1.0.71 it is spoken to as that release, from then on as the main branch since June 2026; exo itself tells nobody.
   */
  version?: string;
  /**
   * For exo. Path of the program in the disk image, or in the archive of a build from source, whose folder is named after its commit: an archive without this program is refused. Without it: EXO.app/Contents/Resources/exo/exo.
   */
  program?: string;
}
/**
 * The files of a model.
 */
export interface Model {
  /**
   * Where the files come from: a folder of this machine (./models/tiny, relative to the cluster file, or /absolute), a folder that is already on each node (node:/absolute), or the base of URLs that the nodes fetch by themselves (https://host/base/; http: needs `downloads: { plainHttp: allowed }`). No `..` behind node:, no password and no question mark in a URL.
   */
  source: string;
  /**
   * The name that others know the model by, as on Hugging Face: organization/name. A runtime that asks for models by that name needs it: exo does.
   */
  repository?: string;
  /**
   * Python code of the model that mlx may run, such as that of its tokenizer: every .py file of the model with its sha256, as somebody has read it. Without it none is run; with other bytes nothing is started.
   */
  trustRemoteCode?: {
    /**
     * The SHA-256 of the file: 64 digits, a to f in lower case.
     */
    [k: string]: string;
  };
  /**
   * Every file of the model with its sha256 and its size, by path. Required unless the source is a folder of this machine: then the lock has the list, made when the folder was read first.
   */
  files?: {
    [k: string]: ModelFile;
  };
}
/**
 * What the file must be.
 */
export interface ModelFile {
  /**
   * The SHA-256 of the file: 64 digits, a to f in lower case.
   */
  sha256: string;
  /**
   * The size of the file in bytes.
   */
  size: number;
}
/**
 * A model on a group of nodes.
 */
export interface Placement {
  /**
   * A name of lower-case letters, digits and dashes, at most 63 characters, with a letter or digit first and last.
   */
  model: string;
  /**
   * A name of lower-case letters, digits and dashes, at most 63 characters, with a letter or digit first and last.
   */
  runtime: string;
  /**
   * The nodes in rank order: the first one is the leader and has the endpoint. Order has a meaning here.
   *
   * @minItems 1
   * @maxItems 16
   */
  nodes: Name[];
  /**
   * How the model is split, required for two or more nodes. tensor: every layer over all nodes, which needs a link between every pair; pipeline: layers one after the other, which needs a ring of links in rank order.
   */
  sharding?: 'tensor' | 'pipeline';
  /**
   * What the ranks talk over. rdma: needs Thunderbolt 5 and RDMA enabled on every node; tcp: addresses on the same cables.
   */
  transport: 'rdma' | 'tcp';
  /**
   * How many tokens of context the model is started with: a number, or with k for 1,024 of them, such as 128k. A model's own maximum could take all the memory, so there is no default.
   */
  context: number | string;
  /**
   * How many requests are answered at once; each takes its own share of memory. Not for command, whose command line says it. Without it: 1.
   */
  parallel?: number;
  /**
   * Environment variables of every rank. They are readable on the node, so this is no place for a secret.
   */
  env?: {
    /**
     * A text, in quotes if it looks like a number; no control characters.
     */
    [k: string]: string;
  };
  /**
   * More words for the command line that the driver makes; what the driver sets itself is refused. Not for command, whose command line is the file's.
   *
   * @maxItems 64
   *
   * Items: One word, in quotes if it looks like a number; no control characters.
   */
  args?: string[];
  /**
   * For llamacpp-rpc: how its layers are divided, a whole number for each node in rank order, such as 2 for a Mac with twice the memory. Without it: equal.
   *
   * @minItems 1
   * @maxItems 16
   */
  shares?: number[];
  /**
   * What is agreed to that would be refused. tight: more than nine tenths of what the GPU of a node may use.
   *
   * @maxItems 1
   */
  allow?: 'tight'[];
  /**
   * For mlx: how its ranks talk. jaccl: RDMA, a link between every pair; jaccl-ring: RDMA, a ring of links; ring: sockets, a ring of links. auto: as links and transport allow. Without it: auto.
   */
  backend?: 'auto' | 'jaccl' | 'jaccl-ring' | 'ring';
  /**
   * Where the leader answers.
   */
  endpoint?: {
    /**
     * Its TCP port, 1024 to 49151; from 49152 on macOS gives ports to outgoing connections. Without it: 8080.
     */
    port?: number;
    /**
     * Who reaches it. `loopback`: the node itself, and whoever tunnels there. `lan`: everybody in the office network who has a key; then a doorman stands on this port and the runtime listens behind it on the node alone.
     */
    listen?: 'loopback' | 'lan';
    /**
     * The one model name that clients see and send, with `listen: lan`. Without it: the name of the placement.
     */
    servedName?: string;
    /**
     * Where the keys come from that clients send, with `listen: lan`: one source, or a list of them, for several clients or while one key takes the place of another. Each opens the door.
     */
    apiKey?: KeySource | KeySource[];
    /**
     * `anybody` with `listen: lan`: whoever reaches the port may ask, without a key.
     */
    access?: 'key' | 'anybody';
    /**
     * IPv4 addresses of the proxies through which clients come, such as one that has certificates, with `listen: lan`. From any other address the gateway takes at most 256 connections at once. Without it: clients come directly, and their keys cross the network in clear text.
     *
     * @minItems 1
     * @maxItems 16
     */
    proxies?: string[];
  };
  /**
   * What must hold before the placement counts as serving.
   */
  expect?: {
    /**
     * How long the first token may take, in seconds or minutes, such as 30s or 2m. While a rank still loads its model, the time begins anew whenever it gets on. Without it: 60s.
     */
    firstToken?: string;
    /**
     * How many tokens an answer must have in a second, once everything is loaded. It is measured at every start, and a slower one fails. Without it: nothing is expected.
     */
    tokensPerSecond?: number;
  };
  /**
   * Whether it should run: serving, or stopped with everything kept in place. Without it: serving.
   */
  state?: 'serving' | 'stopped';
  /**
   * Where else it may run when its own nodes cannot carry it: meshwright start NAME --fallback. Its runtime and its model are kept on these nodes too, and it must fit there.
   */
  fallback?: {
    /**
     * The nodes in rank order, others than those of the placement, or fewer of them; the first one is the leader. Order has a meaning here.
     *
     * @minItems 1
     * @maxItems 16
     */
    nodes: Name[];
    /**
     * How many tokens of context it is started with there, as `context` of the placement. Without it: as many as that.
     */
    context?: number | string;
  };
}
/**
 * Where the key comes from that clients of an endpoint with `listen: lan` send, by exactly one of these keys; the key itself, of at least 20 characters, never stands in this file, and nodes get only its hash.
 */
export interface KeySource {
  /**
   * The environment variable on this machine that holds it.
   */
  env?: string;
  /**
   * A file on this machine that holds it as its only line, and that nobody but you may read (mode 600); `~` is your home folder, a relative path starts at the cluster file.
   */
  file?: string;
  /**
   * A program on this machine that prints it, word by word; no shell reads it. It has 30 seconds, and does not see the environment variables that hold other secrets of this file.
   *
   * @minItems 1
   * @maxItems 64
   *
   * Items: One word of the command line; no control characters.
   */
  command?: string[];
}
