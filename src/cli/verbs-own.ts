import { atOnce, everyNode, type ListedVerb, leaseWait, withConsent } from './verb.ts';

/** Verbs about meshwright itself and what it simulates, in the order of the help. */
export const ownVerbs: readonly ListedVerb[] = [
  {
    name: 'run',
    summary: 'run a playbook of your own',
    words: '[file] [node...]',
    uses: withConsent,
    options: [
      { flags: '--all', text: 'every node of the file, for plays with nodes: targets' },
      { flags: '--allow <effects>', text: 'with commas: interrupt, reboot, shutdown, rdma-start' },
      leaseWait,
    ],
    more: `Plays of tasks from a closed list; meshwright schema playbook prints what a
file may hold, and playbooks/*.yaml are examples. Every plan is shown before it
is run; what disturbs needs a yes, or --allow with its name.
Exit 0: every task did its work on every node. 4: on some. 1: on none. 65: the
file is invalid. 5: nothing was changed.

Examples:
  meshwright run ./night.yaml
  meshwright run ./night.yaml studio-1 --yes --allow reboot`,
    load: async () => (await import('./apply/act-on.ts')).runFile,
  },
  {
    name: 'sim up',
    summary: 'start a simulated fleet made from the cluster file',
    uses: ['file', 'json'],
    options: [
      { flags: '--fresh', text: 'new Macs, whatever was done to the earlier ones' },
      { flags: '--factory', text: 'new Macs as they come out of their box' },
    ],
    more: `One simulated Mac per node, with real SSH on loopback, cabled as the file says.
Their disks are kept: after sim down they start as Macs do after a power loss.
With --factory they are cabled, and not set up: bridge, DHCP, RDMA off, no key.
Then add --sim to any verb: meshwright facts --sim`,
    load: async () => (await import('./sim/sim.ts')).simUp,
  },
  {
    name: 'sim down',
    summary: 'stop the simulated fleet; no process of it is left',
    uses: ['file', 'json'],
    load: async () => (await import('./sim/sim.ts')).simDown,
  },
  {
    name: 'sim status',
    summary: 'what is simulated, its ports and its faults',
    uses: ['file', 'json'],
    load: async () => (await import('./sim/sim.ts')).simStatus,
  },
  {
    name: 'sim fault',
    summary: 'break something by name, or mend it again',
    words: '[fault] [target...]',
    uses: ['file', 'json'],
    options: [
      { flags: '--list', text: 'every fault by name' },
      { flags: '--clear', text: 'mend the named fault, or all of them' },
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
    summary: 'do what hands at the rack can: cables, RDMA, unlocking',
    words: '[act] [receptacle...]',
    uses: ['file', 'json'],
    more: `Without words the simulated hands plug every cable in as the file declares it,
switch RDMA on where it is off and restart that Mac, and unlock FileVault.
With words they move single plugs; a plug that is pulled leaves its
cable hanging from the other end, and plug puts that one in before it fetches a
new cable.

Examples:
  meshwright sim hands
  meshwright sim hands unplug studio-1:2
  meshwright sim hands plug studio-1:2 studio-2:3
  meshwright sim hands plug studio-1:5 studio-2:5 40g
  meshwright sim hands move studio-2:3 studio-2:2
  meshwright sim hands swap studio-4:2 studio-4:3`,
    load: async () => (await import('./sim/sim.ts')).simHands,
  },
  {
    name: 'sim power-on',
    summary: 'press the button of simulated Macs that are off',
    words: '<node...>',
    uses: ['file', 'json'],
    load: async () => (await import('./sim/sim.ts')).simPowerOn,
  },
  {
    name: 'sim example',
    summary: 'a folder with the example and all it needs to answer',
    words: '<folder>',
    uses: ['json'],
    options: [
      { flags: '--runtime <driver>', text: 'command (default), exo, mlx or llamacpp' },
      { flags: '--published', text: 'with an endpoint for the office network' },
    ],
    more: `Writes cluster.yaml and a stand-in model into an empty folder; for command a
small reference runtime as well. A rehearsal has doubles of the other programs.
Then, in there:
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
    options: [{ flags: '--factory', text: 'new Macs come as they are out of their box' }],
    isHidden: true,
    load: async () => (await import('./sim/sim-serve.ts')).simServe,
  },
  {
    name: 'demo',
    summary: 'watch it all on simulated Macs; needs nothing',
    load: async () => (await import('./sim/demo.ts')).demo,
  },
  {
    name: 'lease status',
    summary: 'who holds which node, and what for',
    words: '[node...]',
    uses: atOnce,
    more: 'Exit 0: every node was asked. 4: some. 1: none.',
    load: async () => (await import('./look/leases.ts')).leaseStatus,
  },
  {
    name: 'lease release',
    summary: 'give back a lease whose run is dead',
    words: '[node...]',
    uses: withConsent,
    options: [everyNode, { flags: '--run <id>', text: 'of exactly this run, alive or not, as lease status shows it' }],
    more: `Without --run the lease is watched until it is proven that nobody renews it,
which takes half a minute; a run that lives keeps it.
Exit 0: free. 5: the answer was no. 1 or 4: it is alive, or was not reached.`,
    load: async () => (await import('./look/leases.ts')).leaseRelease,
  },
  {
    name: 'endpoints',
    summary: 'settings for clients, ready to be copied',
    words: '[placement...]',
    uses: ['file', 'json'],
    more: `From the file alone: no node is asked, and no key is read or shown; it says
where each comes from. A placement that only its node reaches comes with the
tunnel that its clients need. For Open WebUI, OpenCode, Xcode and curl.

Example:
  meshwright endpoints kimi`,
    load: async () => (await import('./look/endpoints.ts')).endpoints,
  },
  {
    name: 'secrets',
    summary: 'which passwords are named, and who needs one now',
    words: '[node...]',
    uses: atOnce,
    more: `A password is needed by \`enroll\`, once, and by \`unlock\`, for a Mac that waits at
FileVault. Sources are tried, and none is ever shown; what is asked at a prompt
is asked when it is needed. Keys of published endpoints are told as well.
Exit 0: what is needed now resolves. 3: something does not. 1 or 4: nodes were
not reached.`,
    load: async () => (await import('./unlock/secrets.ts')).secrets,
  },
  {
    name: 'schema',
    summary: 'print a JSON schema, by default of the file',
    words: '[name]',
    uses: ['json'],
    more: `Names: ask, bench, cables, cluster, diagnostics, doctor, drift, endpoints,
enroll, exec, facts, fit, forget, graph, history, journal, lease, lock,
log-line, logs, plan, playbook, report, secrets, sim, status, unlock`,
    load: async () => (await import('./look/schema.ts')).schema,
  },
];
