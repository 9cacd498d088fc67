import { changingNodes, everyNode, type ListedVerb, leaseWait, ofNodes } from './verb.ts';

/** The commands under "Tools", in help order: tools around meshwright, and its simulator. */
export const ownVerbs: readonly ListedVerb[] = [
  {
    name: 'run',
    summary: 'run your own playbook',
    ...changingNodes,
    words: '[file] [node...]',
    options: [
      { flags: '--all', text: 'every node in the file, for plays with `nodes: targets`' },
      { flags: '--check', text: 'show every batch and its effects, and change nothing' },
      { flags: '--update-lock', text: 'write the versions of runtime upgrades to the lock, even without a terminal' },
      {
        flags: '--allow <effects>',
        text: 'interrupt, reboot, locked-reboot, shutdown, rdma-start (comma-separated)',
        isList: true,
      },
      leaseWait,
    ],
    more: `A playbook is a list of plays, and a play is a list of tasks. The possible tasks are fixed: \`meshwright schema playbook\` prints the format, and playbooks/*.yaml are examples. Before the first task, all batches are shown with the effects of the whole playbook, and one question is asked. Without a terminal, it needs --yes, and --allow with the name of each disruptive effect. --check ends there.
Exit codes: 0 every task succeeded on every node, 2 with --check if there is something to do, 3 manual steps are left, 4 on some nodes only, 1 on none, 5 nothing changed, 65 invalid file.

Examples:
  meshwright run ./night.yaml
  meshwright run ./night.yaml studio-1 --yes --allow reboot`,
    load: async () => (await import('./apply/run-file.ts')).runFile,
  },
  {
    name: 'sim up',
    summary: 'start a simulated fleet that matches the cluster file',
    uses: ['file', 'json'],
    options: [
      { flags: '--fresh', text: 'replace all simulated Macs with new ones' },
      { flags: '--factory', text: 'new Macs, fresh out of the box' },
    ],
    more: `Starts one simulated Mac per node, with real SSH on loopback and the cables in the file. Disks are kept: after \`sim down\`, the Macs start as they would after a power loss. With --factory, the Macs are cabled but not set up: Thunderbolt Bridge and DHCP on, RDMA off, no SSH key. Then add --sim to any command: meshwright facts --sim`,
    load: async () => (await import('./sim/sim.ts')).simUp,
  },
  {
    name: 'sim down',
    summary: 'stop the simulated fleet and all its processes',
    uses: ['file', 'json'],
    load: async () => (await import('./sim/sim.ts')).simDown,
  },
  {
    name: 'sim status',
    summary: 'show the simulated Macs, their ports and their faults',
    uses: ['file', 'json'],
    load: async () => (await import('./sim/sim.ts')).simStatus,
  },
  {
    name: 'sim fault',
    summary: 'inject a fault by name, or clear it',
    words: '[fault] [target...]',
    uses: ['file', 'json'],
    options: [
      { flags: '--list', text: 'list all faults' },
      { flags: '--clear', text: 'clear the named fault, or all faults' },
    ],
    more: `Examples:
  meshwright sim fault --list
  meshwright sim fault rdma-disabled studio-3
  meshwright sim fault cable-swapped studio-4
  meshwright sim fault --clear`,
    load: async () => (await import('./sim/sim.ts')).simFault,
  },
  {
    name: 'sim hands',
    summary: 'do the manual steps: cables, RDMA, FileVault passwords',
    words: '[act] [argument...]',
    uses: ['file', 'json'],
    more: `Without arguments, plugs in every cable as declared in the file, enables RDMA where it is off, restarts those Macs, and enters FileVault passwords. With arguments, moves single plugs or installs a macOS update. After \`unplug\`, the cable is still plugged in at its other end, and \`plug\` uses this cable before a new one.

Examples:
  meshwright sim hands
  meshwright sim hands unplug studio-1:2
  meshwright sim hands plug studio-1:2 studio-2:3
  meshwright sim hands plug studio-1:5 studio-2:5 40g
  meshwright sim hands move studio-2:3 studio-2:2
  meshwright sim hands swap studio-4:2 studio-4:3
  meshwright sim hands update studio-1 studio-2 26.7`,
    load: async () => (await import('./sim/sim.ts')).simHands,
  },
  {
    name: 'sim power-on',
    summary: 'press the power button on simulated Macs',
    words: '<node...>',
    uses: ['file', 'json'],
    load: async () => (await import('./sim/sim.ts')).simPowerOn,
  },
  {
    name: 'sim example',
    summary: 'create an example cluster whose model answers `ask`',
    words: '<folder>',
    uses: ['json'],
    options: [
      { flags: '--runtime <driver>', text: 'exo (default), mlx, llamacpp or command' },
      { flags: '--published', text: 'publish the endpoint on the office network' },
    ],
    more: `Writes the example, four Mac Studios with Kimi K2.6, as cluster.yaml into an empty folder; for the driver \`command\`, also a small reference runtime and a tiny model. In a rehearsal, doubles take the place of exo, MLX, llama.cpp and the model. Smaller racks: examples/*.yaml.
Then run in that folder:
  meshwright sim up
  meshwright apply --sim
  meshwright ask --sim chat "Hello"
  meshwright sim down`,
    load: async () => (await import('./sim/sim-example.ts')).simExample,
  },
  {
    name: 'sim serve',
    summary: 'the simulator itself',
    words: '<folder>',
    options: [{ flags: '--factory', text: 'new Macs, fresh out of the box' }],
    isHidden: true,
    load: async () => (await import('./sim/sim-serve.ts')).simServe,
  },
  {
    name: 'demo',
    summary: 'watch meshwright work on simulated Macs',
    load: async () => (await import('./sim/demo.ts')).demo,
  },
  {
    name: 'lease status',
    summary: 'show which run has the lease on which node',
    ...ofNodes,
    more: 'Exit codes: 0 every node was reached, 4 some were, 1 none was.',
    load: async () => (await import('./look/leases.ts')).leaseStatus,
  },
  {
    name: 'lease release',
    summary: 'release the lease of a dead run',
    words: ofNodes.words,
    uses: [...ofNodes.uses, 'consent'],
    options: [
      everyNode,
      { flags: '--run <id>', text: 'release the lease of this run (see lease status), alive or not' },
    ],
    more: `Without --run, first watches the lease for half a minute. If a run renews the lease during this time, the lease is not released.
Exit codes: 0 released or already free, 4 some leases were not released (a live run, or a node not reached), 1 none was released, 5 you answered no.`,
    load: async () => (await import('./look/leases.ts')).leaseRelease,
  },
  {
    name: 'endpoints',
    summary: 'print client settings, ready to copy',
    words: '[placement...]',
    uses: ['file', 'json'],
    more: `Prints settings for Open WebUI, OpenCode, Xcode and curl. Uses only the file: contacts no node, and shows where each key comes from but never the key itself. If an endpoint is reachable only on its node, prints the SSH tunnel that clients need. With --sim, the settings lead to the simulated fleet, which must be up.

Example:
  meshwright endpoints kimi`,
    load: async () => (await import('./look/endpoints.ts')).endpoints,
  },
  {
    name: 'bundle',
    summary: 'write one archive for an issue: logs, stacks, facts',
    words: '[incident]',
    uses: ['file', 'reach', 'json', 'parallel'],
    options: [{ flags: '--out <file>', text: 'write to this file (default: meshwright-bundle-INCIDENT.tar.gz here)' }],
    more: `Observes all Macs and saves what a restart would destroy: causes, facts, versions, the last log lines of all ranks in time order, and a stack sample of each rank whose placement returns no token. The copy on this computer is kept until 20 newer ones exist. With the id of an incident, packs what was saved then. Adds the journals of the runs from one day before to one day after. Passwords, keys and tokens are replaced; names, addresses and serial numbers of the Macs are not.
Exit codes: 0 every Mac was read, 4 some were read only partly or not at all, 1 none was read completely.

Examples:
  meshwright bundle
  meshwright bundle 20261130T031500-5f3a9c --out /tmp/hang.tar.gz`,
    load: async () => (await import('./look/bundle.ts')).bundle,
  },
  {
    name: 'secrets',
    summary: 'check passwords and which nodes need one now',
    ...ofNodes,
    more: `\`enroll\` needs a password once per Mac, and \`unlock\` needs one for each Mac that is locked by FileVault. This command reads each source, but never shows a password. It does not prompt for passwords. Also lists the keys of published endpoints.
Exit codes: 0 every password needed now was found, 3 some are missing, 4 some nodes were not reached, 1 none was.`,
    load: async () => (await import('./unlock/secrets.ts')).secrets,
  },
  {
    name: 'schema',
    summary: "print a JSON schema (default: the cluster file's)",
    words: '[name]',
    uses: ['json'],
    more: `Names: ask, bench, bundle, cables, cluster, diagnostics, doctor, drift, endpoints, enroll, event, exec, facts, fit, forget, graph, history, journal, lease, lock, log-line, logs, models, plan, playbook, recover, report, resolved, secrets, sim, status, unlock, upgrade, wait`,
    load: async () => (await import('./look/schema.ts')).schema,
  },
];
