import { atOnce, everyNode, type ListedVerb, leaseWait, overPlacements, passwordOptions, withConsent } from './verb.ts';

/** Takes every placement of the file where else words name them. */
const everyPlacement = { flags: '--all', text: 'every placement of the file' };

/** Lets a start go past a spent launch budget. */
const allowRdmaStart = {
  flags: '--allow <effect>',
  text: 'rdma-start: start past a spent launch budget',
};

/** How a run that changes nodes comes out. */
const exits = `Exit 0: seen as wanted. 1 or 4: not, or not everywhere. 3: the work list says
what comes first. 5: nothing was changed. 75: another run holds a node.`;

/** Verbs that act on what is there, in the order of the help. */
export const actVerbs: readonly ListedVerb[] = [
  {
    name: 'ask',
    summary: 'ask a placement something, and print the answer',
    words: '[placement] [text...]',
    uses: ['file', 'reach', 'json'],
    options: [{ flags: '--max-tokens <count>', text: 'of the answer; 256 unless given' }],
    more: `The only placement of the file needs no name.
The question goes over SSH to the endpoint on the leader itself.
What a model thinks aloud is dimmed on a terminal and left out of a pipe;
--json has it as \`thought\`.
Exit 0: there is an answer. 1: there is none; it says why.

Examples:
  meshwright ask kimi "What is a receptacle?"
  meshwright ask kimi "Write a poem" --max-tokens 2000 --deadline 5m`,
    load: async () => (await import('./bench/ask-verb.ts')).ask,
  },
  {
    name: 'start',
    summary: 'start placements',
    words: '[placement...]',
    uses: overPlacements,
    options: [
      everyPlacement,
      { flags: '--fallback', text: 'on the nodes and with the context of its fallback' },
      allowRdmaStart,
      leaseWait,
    ],
    more: `Ranks are started in order, all of them or none; it counts as started when it
has given a token. One that serves already is left alone; a door that drain has
closed is opened. With --fallback what still runs on its own nodes is stopped;
the next apply that can moves it back, which interrupts it.
${exits}

Examples:
  meshwright start kimi
  meshwright start kimi --fallback`,
    load: async () => (await import('./apply/act-verbs.ts')).start,
  },
  {
    name: 'stop',
    summary: 'stop placements, ranks in order',
    words: '[placement...]',
    uses: overPlacements,
    options: [everyPlacement, leaseWait],
    more: `The next apply starts what the file wants serving.
${exits}`,
    load: async () => (await import('./apply/act-verbs.ts')).stop,
  },
  {
    name: 'drain',
    summary: 'close doors, and wait for those who are inside',
    words: '[placement...]',
    uses: overPlacements,
    options: [everyPlacement, leaseWait],
    more: `Closes the door of published placements: whoever comes gets 503 with the
reason, whoever is inside has until --deadline to get a whole answer. The mesh
goes on; ask and bench go past the door. start opens it again, and so does
apply, which shows that step.
Its whole behaviour is playbooks/drain.yaml.
It looks on all Macs of the file, since an earlier one may have left a door.
Exit 0: closed, and nobody is inside. 1 or 4: somebody still is, or nobody can
say. 3: the file was changed, and an apply comes first. 5: nothing was changed.
64: a placement is not published. 75: another run holds a node.

Examples:
  meshwright drain kimi --deadline 10m
  meshwright drain --all --yes && meshwright start --all --yes`,
    load: async () => (await import('./apply/act-verbs.ts')).drain,
  },
  {
    name: 'restart',
    summary: 'without a reboot: stop placements, start them again',
    words: '[placement...]',
    uses: overPlacements,
    options: [everyPlacement, allowRdmaStart, leaseWait],
    more: `Never reboots a Mac. Its whole behaviour is playbooks/restart.yaml.
${exits}

Examples:
  meshwright restart kimi
  meshwright restart --all --yes`,
    load: async () => (await import('./apply/act-verbs.ts')).restart,
  },
  {
    name: 'reboot',
    summary: 'restart Macs, and bring back what served there',
    words: '[node...]',
    uses: withConsent,
    options: [everyNode, leaseWait],
    more: `Stops the placements of these Macs first, restarts each Mac at most once, and
starts what the file wants serving. A Mac has 20 minutes to come back; Ctrl-C
stops the waiting, and the next apply brings back what served there.
Its whole behaviour: playbooks/reboot.yaml
${exits}

Examples:
  meshwright reboot studio-3`,
    load: async () => (await import('./apply/act-verbs.ts')).reboot,
  },
  {
    name: 'shutdown',
    summary: 'switch Macs off, and say how they come back',
    words: '[node...]',
    uses: withConsent,
    options: [everyNode, leaseWait],
    more: `Stops the placements of these Macs first. Only somebody at the rack brings a
Mac back: meshwright cannot press its power button.
${exits}`,
    load: async () => (await import('./apply/act-verbs.ts')).shutdown,
  },
  {
    name: 'hold',
    summary: 'have nodes left alone, until they are released',
    words: '[node...]',
    uses: withConsent,
    options: [
      everyNode,
      { flags: '--reason <text>', text: 'why, in one line; everybody is shown it' },
      { flags: '--until <day>', text: 'its last day, in UTC, as 2026-12-01; then it is told as over' },
      leaseWait,
    ],
    more: `A held node is looked at and not changed, by whoever runs a verb from wherever:
it is written down on the node. apply, start, stop, restart, reboot, shutdown,
rollback, uninstall and the tasks of run do nothing to it, and placements with a
member on it stay as they are; launch refuses it. \`hold\` of a node in the
file does the same. Not stopped are enroll, replace, unlock, exec, the \`run\`
task of your own playbooks, lease release, ask and bench, which only ask, and
the keeper of the Mac, which goes on with what it was given.
${exits}

Examples:
  meshwright hold studio-3 --reason "power supply" --until 2026-12-01`,
    load: async () => (await import('./apply/act-verbs.ts')).hold,
  },
  {
    name: 'release',
    summary: 'let held nodes be changed again',
    words: '[node...]',
    uses: withConsent,
    options: [everyNode, leaseWait],
    more: `Changes nothing else: the next apply does what has waited.
${exits}

Examples:
  meshwright release studio-3`,
    load: async () => (await import('./apply/act-verbs.ts')).release,
  },
  {
    name: 'unlock',
    summary: 'give Macs that wait at FileVault their password',
    words: '[node...]',
    uses: withConsent,
    options: [
      everyNode,
      ...passwordOptions,
      { flags: '--expect <fingerprint>', text: 'trust only this key at FileVault (SHA256:...), without asking' },
      { flags: '--replace', text: 'allow another key at FileVault in place of the pinned one' },
    ],
    more: `The password comes from the source that the file names (\`password\` under ssh or
at a node), from these options, or is asked for. It is sent once per node, in
the ssh login message, and not sooner than 15 s after the last attempt of any
run; a wrong one is not repeated. The key that a Mac shows at FileVault is
pinned beside its host key, at first sight with your yes.
Exit 0: unlocked and observed, or not locked. 3: still locked for want of a
password. 5: no key was trusted. 1 or 4: not, or not everywhere.

Examples:
  meshwright unlock studio-3
  meshwright unlock --all --password-env MESH_PASSWORD`,
    load: async () => (await import('./unlock/unlock.ts')).unlock,
  },
  {
    name: 'launch',
    summary: 'run a program of your own on the mesh, one rank per Mac',
    words: '[placement]',
    tail: '-- COMMAND [word...]',
    uses: ['file', 'nodes', 'reach', 'parallel', 'consent'],
    options: [
      { flags: '--as <account>', text: 'run the ranks as this account; login: the ssh user' },
      allowRdmaStart,
      leaseWait,
    ],
    more: `The placements of these Macs are stopped first and started again afterwards.
All ranks run in parallel, as the account of ranks (system.accounts.ranks of the
file, else _meshrank). They get the environment and files of an MLX group. When
one rank fails, or with Ctrl-C, launch stops all of them. Other runs of
meshwright wait meanwhile. A Mac on hold is refused. In the command:
  {rank} {size} {hostfile} {mpihostfile}
Exit: the worst one of the ranks; with 0 as of start.

Examples:
  meshwright launch kimi -- /opt/mine/venv/bin/python /opt/mine/train.py
  meshwright launch --nodes studio-1,studio-2 -- /opt/mine/rank {rank} {size}`,
    load: async () => (await import('./ranks/launch.ts')).launch,
  },
  {
    name: 'exec',
    summary: 'run one command on nodes, as the ssh user',
    words: '[node...]',
    tail: '-- COMMAND [word...]',
    uses: atOnce,
    options: [everyNode],
    more: `The words behind -- reach the node exactly as they are, as one command and its
arguments; no shell looks into them. For a pipe say: -- sh -c 'a | b'
Exit 0: it ended with 0 everywhere. 1: nowhere. 4: on some nodes.

Examples:
  meshwright exec --all -- sw_vers
  meshwright exec studio-1 studio-2 -- sysctl iogpu.wired_limit_mb`,
    load: async () => (await import('./ranks/exec.ts')).exec,
  },
];
