import {
  changingNodes,
  changingPlacements,
  everyNode,
  type ListedVerb,
  leaseWait,
  ofNodes,
  passwordOptions,
} from './verb.ts';

const everyPlacement = { flags: '--all', text: 'every placement in the file' };

const allowRdmaStart = { flags: '--allow <effect>', text: 'rdma-start: start even if the launch budget is used up' };

const exits = `Exit codes: 0 done and verified, 4 on some nodes only, 1 on none, 3 other steps must come first (listed), 5 nothing changed, 75 a node is leased to another run.`;

/** The commands under "Act", in help order. */
export const actVerbs: readonly ListedVerb[] = [
  {
    name: 'ask',
    summary: 'ask a placement a question and print its answer',
    words: '[placement] [text...]',
    uses: ['file', 'reach', 'json'],
    options: [{ flags: '--max-tokens <count>', text: 'maximum length of the answer (default 256)' }],
    more: `If the file has only one placement, its name can be omitted. Replicas are asked in turn until one answers.
The question is sent over SSH to the endpoint on the leader.
The model's reasoning is dimmed on a terminal, omitted in a pipe, and included as \`thought\` in --json.
Exit codes: 0 answered, 1 no answer (the reason is shown).

Examples:
  meshwright ask kimi "What is a receptacle?"
  meshwright ask kimi "Write a poem" --max-tokens 2000 --deadline 5m`,
    load: async () => (await import('./bench/ask-verb.ts')).ask,
  },
  {
    name: 'start',
    summary: 'start placements',
    ...changingPlacements,
    options: [
      everyPlacement,
      { flags: '--fallback', text: "use the fallback's nodes and context" },
      allowRdmaStart,
      leaseWait,
    ],
    more: `Starts all ranks in order, or none of them. A placement counts as started after its first token and its proof. A placement that already serves is not restarted. If \`drain\` closed its gateway, start reopens the gateway.
With --fallback, ranks that still run on the placement's own nodes are stopped. As soon as those nodes can run the placement again, the next apply moves it back, which interrupts it.
${exits}

Examples:
  meshwright start kimi
  meshwright start kimi --fallback`,
    load: async () => (await import('./apply/act-verbs.ts')).start,
  },
  {
    name: 'stop',
    summary: 'stop placements and their ranks, in order',
    ...changingPlacements,
    options: [everyPlacement, leaseWait],
    more: `The next apply starts them again if they are declared as serving in the file.
${exits}`,
    load: async () => (await import('./apply/act-verbs.ts')).stop,
  },
  {
    name: 'drain',
    summary: 'stop accepting requests and wait for those in flight',
    ...changingPlacements,
    options: [everyPlacement, leaseWait],
    more: `Closes the API gateway of placements. New requests get status 503 with the reason; requests in flight have until --deadline to finish. The mesh keeps running, and ask and bench bypass the gateway. \`start\` and \`apply\` reopen the gateway; \`apply\` lists this step in its plan.
Checks all Macs in the file, because an earlier version of the file may have left a gateway on any Mac. Defined in playbooks/drain.yaml.
Exit codes: 0 drained, 1 or 4 requests are still in flight or unknown, 3 the file changed and must be applied first, 5 nothing changed, 64 a placement has no gateway, 75 a node is leased to another run.

Examples:
  meshwright drain kimi --deadline 10m
  meshwright drain --all --yes && meshwright start --all --yes`,
    load: async () => (await import('./apply/act-verbs.ts')).drain,
  },
  {
    name: 'restart',
    summary: 'stop and start placements without rebooting Macs',
    ...changingPlacements,
    options: [everyPlacement, allowRdmaStart, leaseWait],
    more: `Defined in playbooks/restart.yaml.
${exits}

Examples:
  meshwright restart kimi
  meshwright restart --all --yes`,
    load: async () => (await import('./apply/act-verbs.ts')).restart,
  },
  {
    name: 'reboot',
    summary: 'restart Macs and the placements that served on them',
    ...changingNodes,
    words: '[name...]',
    options: [
      everyNode,
      { flags: '--allow <effect>', text: 'locked-reboot: also Macs that then wait for their FileVault password' },
      leaseWait,
    ],
    more: `A name is that of a node, or of a placement, which stands for the Macs on which it runs. Stops the placements on these Macs, restarts each Mac at most once, and starts the placements that are declared as serving in the file. Requests in flight have 30 seconds to finish, unless the placement is hung. A Mac has 20 minutes to come back. Ctrl-C stops waiting; the next apply then starts the placements.
A Mac with FileVault is unlocked with the password from its source in the file. If that is not possible, --yes alone is refused before anything stops. The Mac on which this command runs restarts last and alone.
Defined in playbooks/reboot.yaml.
${exits}

Examples:
  meshwright reboot studio-3
  meshwright reboot kimi`,
    load: async () => (await import('./apply/act-verbs.ts')).reboot,
  },
  {
    name: 'recover',
    summary: 'bring placements back, smallest cure first',
    words: '[name...]',
    uses: ['file', 'reach', 'json', 'parallel', 'consent'],
    options: [
      { flags: '--check', text: 'show what is wrong and the first cure; change nothing' },
      { flags: '--allow <effect>', text: 'reboot: with --yes, also reboot or power-cycle Macs' },
    ],
    more: `A name is that of a placement, or of a node, which stands for the placements with a rank on it. Without names: all placements in the file.
Measures the whole rack, shows what is wrong and the smallest cure, and asks once. Each cure runs at most once, and the next one only if no token came after it: wait for a Mac that comes back by itself, or for clients' requests in flight; resume a suspended rank; open a closed gateway; put addresses, bridges and the keeper right; start or restart the placement; measure the cables after a failed start; reboot the fewest Macs; power-cycle Macs that do not come back and have an outlet in the file. A cure that a fact excludes is left out, such as a start on leaked memory. Placements come back with the settings of their last start, even if the file is newer. \`history\` lists the cures.
Exit codes: 0 each placement returned a token, 2 with --check: a cure is next, 3 a person has to act or allow a reboot (shown), 1 no cure helped, 5 nothing changed, 75 a node is leased to another run.

Examples:
  meshwright recover
  meshwright recover kimi --check
  meshwright recover --yes --allow reboot`,
    load: async () => (await import('./apply/recover.ts')).recover,
  },
  {
    name: 'shutdown',
    summary: 'shut Macs down and show how to turn them on again',
    ...changingNodes,
    options: [everyNode, leaseWait],
    more: `First stops the placements on the named Macs. meshwright cannot turn a Mac on again: a person has to press its power button.
${exits}`,
    load: async () => (await import('./apply/act-verbs.ts')).shutdown,
  },
  {
    name: 'hold',
    summary: 'protect nodes from changes until `release`',
    ...changingNodes,
    options: [
      everyNode,
      { flags: '--reason <text>', text: 'reason in one line, shown to every user' },
      {
        flags: '--until <day>',
        text: 'last day of the hold (UTC), such as 2026-12-01; after that day, the hold has expired',
      },
      leaseWait,
    ],
    more: `A node on hold is observed but not changed. The hold is stored on the node, so it applies to every user and every controller. apply, start, stop, restart, reboot, shutdown, rollback, uninstall and the tasks of run skip the node; placements with a rank on the node are not changed. launch refuses the node.
The key \`hold\` of a node in the file has the same effect.
A hold does not stop enroll, replace, unlock, exec, \`run\` tasks in your own playbooks, lease release, ask, bench, or the keeper on the Mac.
${exits}

Examples:
  meshwright hold studio-3 --reason "power supply" --until 2026-12-01`,
    load: async () => (await import('./apply/act-verbs.ts')).hold,
  },
  {
    name: 'release',
    summary: 'allow changes to nodes on hold again',
    ...changingNodes,
    options: [everyNode, leaseWait],
    more: `Changes nothing else. The next apply makes the changes that were waiting.
${exits}

Examples:
  meshwright release studio-3`,
    load: async () => (await import('./apply/act-verbs.ts')).release,
  },
  {
    name: 'unlock',
    summary: 'unlock Macs waiting for their FileVault password',
    words: ofNodes.words,
    uses: [...ofNodes.uses, 'consent'],
    options: [
      everyNode,
      ...passwordOptions,
      { flags: '--expect <fingerprint>', text: 'trust only this preboot host key (SHA256:...), without asking' },
      { flags: '--replace', text: 'accept a different preboot host key and pin it' },
    ],
    more: `The password comes from these options, from the source that the file names (\`password\` under ssh or a node), or from a prompt. The password is sent once per node, in the ssh login message, and at least 15 s after any run's last attempt. A wrong password is not sent again. A Mac waiting at FileVault shows a separate host key, which is pinned in addition to the usual one. The first time, unlock asks you to confirm this key.
Exit codes: 0 unlocked and observed, or was not locked; 4 on some nodes only; 1 on none; 3 still locked: the password was missing or rejected; 5 no key trusted.

Examples:
  meshwright unlock studio-3
  meshwright unlock --all --password-env MESH_PASSWORD`,
    load: async () => (await import('./unlock/unlock.ts')).unlock,
  },
  {
    name: 'launch',
    summary: 'run your own program on the mesh, one rank per Mac',
    words: '[placement]',
    tail: '-- COMMAND [argument...]',
    uses: ['file', 'nodes', 'reach', 'parallel', 'consent'],
    options: [
      { flags: '--as <account>', text: 'account that runs the ranks; `login` means the ssh user' },
      allowRdmaStart,
      leaseWait,
    ],
    more: `First stops the placements on the target Macs. After the last rank exits, starts those that are declared as serving in the file. All ranks run in parallel, as the rank account (system.accounts.ranks in the file, default _meshrank), with the environment and files of an MLX group. If a rank fails, or on Ctrl-C, launch stops all ranks. Other meshwright runs on these Macs have to wait until launch ends. A Mac on hold is refused.
launch replaces these words in the command:
  {rank} {size} {hostfile} {mpihostfile}
Exit code: the worst exit code of the ranks; if all are 0, that of \`start\`.

Examples:
  meshwright launch kimi -- /opt/mine/venv/bin/python /opt/mine/train.py
  meshwright launch --nodes studio-1,studio-2 -- /opt/mine/rank {rank} {size}`,
    load: async () => (await import('./ranks/launch.ts')).launch,
  },
  {
    name: 'exec',
    summary: 'run one command on nodes, as the ssh user',
    ...ofNodes,
    tail: '-- COMMAND [argument...]',
    options: [everyNode],
    more: `Everything after -- reaches the node unchanged, as one command and its arguments, without a shell. To use a pipe: -- sh -c 'a | b'
Exit codes: 0 the command exited with 0 on every node, 4 on some, 1 on none.

Examples:
  meshwright exec --all -- sw_vers
  meshwright exec studio-1 studio-2 -- sysctl iogpu.wired_limit_mb`,
    load: async () => (await import('./ranks/exec.ts')).exec,
  },
];
