import { changingNodes, changingPlacements, everyNode, type ListedVerb, leaseWait, ofNodes } from './verb.ts';

/** The commands under "Change", in help order. */
export const changeVerbs: readonly ListedVerb[] = [
  {
    name: 'plan',
    summary: 'show what apply would do and what blocks it',
    ...ofNodes,
    options: [
      { flags: '--out <file>', text: 'save the plan for `apply FILE`' },
      { flags: '--format <how>', text: 'text (the default), or markdown: a comment for a pull request' },
      { flags: '--verify <how>', text: 'full: show which models apply --verify=full would hash first' },
      { flags: '--scripts', text: 'print every root script that apply would send' },
      { flags: '--detailed-exitcode', text: 'exit 2 if changes are pending, 3 if only manual steps are' },
    ],
    more: `Changes nothing, here or on any node. Manual steps at the rack come first and are numbered; a change that waits for a step shows the step's number.
+ marks an addition, ~ a change, - a removal, and ! a disruptive change.
Exit codes: 0 all nodes were compared with the file, 4 some were, 1 none was.

Examples:
  meshwright plan
  meshwright plan --out plan.json && meshwright apply plan.json
  meshwright plan --json | jq '.changes[]'
  meshwright plan --scripts | less`,
    load: async () => (await import('./plan/plan.ts')).plan,
  },
  {
    name: 'apply',
    summary: 'make the Macs match the file',
    ...changingNodes,
    words: '[node...|planfile]',
    options: [
      { flags: '--allow <effects>', text: 'interrupt, rdma-start (comma-separated)', isList: true },
      { flags: '--reviewed <plan>', text: 'change nothing unless the plan is this saved plan or a part of it' },
      { flags: '--update-lock', text: 'write resolved values to the lock, even without a terminal' },
      leaseWait,
      { flags: '--verify <how>', text: 'full: first hash every file of the models that placements use' },
      { flags: '--wait-for-hands', text: 'wait for the manual steps, then continue' },
    ],
    more: `Shows the plan, asks once, runs exactly this plan, and checks all nodes again. The exit code reports the result of this final check.
apply never reboots a Mac, never updates macOS and never deletes a model. A plan that interrupts a placement needs a yes at the prompt or --allow interrupt. If a Mac's launch budget is used up, a start over RDMA needs --allow rdma-start. Without a terminal, apply needs --yes or a saved plan.
With --verify=full, apply first hashes the models' files on the nodes, which takes as long as reading them; then the plan replaces the wrong files. If a copy cannot be hashed, nothing else is changed.
--reviewed compares the plan with a reviewed one, of which nothing is run. If the plan has a step that was not reviewed, nothing is changed. It is not consent: --allow interrupt=DIGEST allows the interruption only if the reviewed plan has this digest.

Exit codes: 0 every node matches the file, 3 only manual steps or other commands remain, 4 some nodes do not match or were not reached, 1 none matches, 5 nothing changed, 75 a node is leased to another run.

Examples:
  meshwright apply
  meshwright apply --yes --nodes studio-1,studio-2
  meshwright plan --out plan.json && meshwright apply plan.json`,
    load: async () => (await import('./apply/apply.ts')).apply,
  },
  {
    name: 'rollback',
    summary: 'roll a runtime back to its previous version',
    ...changingPlacements,
    words: '[runtime]',
    options: [
      { flags: '--to <version>', text: 'first digits of the version, if nodes keep several' },
      { flags: '--undo', text: "undo a rollback: return to the version built from the file's archive" },
      leaseWait,
    ],
    more: `Nodes keep one older version of each runtime, so nothing is copied. Placements that use the runtime are stopped and started again. The lock keeps the runtime at the older version until the file names a different archive or you use --undo. Commit the lock.
Exit codes: 0 done and verified, 4 on some nodes only, 1 on none or no version can be chosen, 5 you did not agree, 75 a node is leased to another run.

Examples:
  meshwright rollback mlx
  meshwright rollback mlx --undo`,
    load: async () => (await import('./apply/rollback.ts')).rollback,
  },
  {
    name: 'upgrade macos',
    summary: 'update macOS, one group of Macs after another',
    ...changingNodes,
    uses: ['file', 'nodes', 'reach', 'json', 'parallel', 'consent'],
    options: [
      everyNode,
      { flags: '--check', text: 'show what would happen; change nothing' },
      { flags: '--to <version>', text: 'refused unless it is the version in the file' },
      { flags: '--wait-for-hands', text: 'wait for the person who installs updates, then continue' },
      { flags: '--reviewed <plan>', text: 'for CI: update only Macs whose update this saved plan names' },
      {
        flags: '--allow <effects>',
        text: 'locked-reboot, rdma-start; with --reviewed also interrupt, reboot (comma-separated)',
        isList: true,
      },
      leaseWait,
    ],
    more: `Brings Macs to exactly macos.version in the file: no other version, no beta, no downgrade. Macs that are cabled or share a placement are one unit, because their versions must be equal. First all Macs download the update while they serve. Then, one unit after another: requests in flight have 30 seconds to finish, the placements stop, the Macs install the update and restart, settings that the update resets are put right, and the placements start. A unit is finished only if its Macs run the exact build in a new boot session and its placements return a token; otherwise all other units stay as they are.
With macos.updates.driver manual (the default), a person installs the update: the command stops the placements of one unit, lists what to click on which Mac, and exits with 3. Type it again to continue, or use --wait-for-hands. With softwareupdate, it installs with the password of the SSH user, from its source in the file; that account must own the startup volume.
--reviewed names a plan that people have reviewed (\`plan --out\`). It is not consent, and neither is the command then: --allow interrupt=DIGEST,reboot=DIGEST allows the update only if the plan has this digest.
An installation outlives this command. Type the command again to continue: nothing is installed twice. See docs/macos-updates.md.
Exit codes: 0 all of these Macs run the version and their placements serve, 2 with --check: updates are needed, 3 a person has to act (listed), 4 some units are done, 1 none is, 5 nothing changed, 75 a node is leased to another run.

Examples:
  meshwright upgrade macos --all --check
  meshwright upgrade macos studio-1 studio-2`,
    load: async () => (await import('./apply/upgrade-macos.ts')).upgradeMacos,
  },
  {
    name: 'upgrade runtime',
    summary: 'bring a runtime to the version in the file, one group of Macs after another',
    ...changingPlacements,
    words: '[runtime]',
    options: [
      { flags: '--check', text: 'show what would happen; change nothing' },
      { flags: '--again', text: 'try the version in the file again after it was rolled back' },
      { flags: '--update-lock', text: 'write resolved values to the lock, even without a terminal' },
      { flags: '--allow <effects>', text: 'rdma-start', isList: true },
      leaseWait,
    ],
    more: `First all Macs that use the runtime install the version in the file next to the one in use, while they serve. Then one unit after another restarts with it. Macs that a placement connects, and placements that share a Mac, are one unit; the first one is the canary. The next unit stops only if the placements of this one return tokens for a minute.
If a unit does not serve, it goes back to the old version, and so do the units before it. The lock records this, as after \`rollback\`: commit it. To try again: --again, or another version in the file.
Type the command again after an interruption: it continues. See docs/runtimes.md.
Exit codes: 0 all placements serve with the version, 2 with --check: an upgrade is needed, 3 a person has to act first, 1 rolled back or not finished, 4 finished on some Macs, 5 nothing changed, 75 a node is leased to another run.

Examples:
  meshwright upgrade runtime mlx --check
  meshwright upgrade runtime mlx`,
    load: async () => (await import('./apply/upgrade-runtime.ts')).upgradeRuntime,
  },
  {
    name: 'uninstall',
    summary: 'remove meshwright, but not the models, from nodes',
    ...changingNodes,
    options: [
      everyNode,
      { flags: '--restore', text: 'restore settings to their values before the first change' },
      { flags: '--models', text: 'also delete models' },
      leaseWait,
    ],
    more: `Stops the placements on these nodes and removes services, runtimes, link addresses, files, and the sudoers line and SSH key that enroll installed. The plan lists what is kept and what only a person can undo. After an interruption, run the same command again to continue.

Exit codes: 0 everything removed, 4 on some nodes only, 1 on none, 5 nothing changed, 75 a node is leased to another run.

Examples:
  meshwright uninstall studio-3
  meshwright uninstall --all --restore --models`,
    load: async () => (await import('./apply/uninstall.ts')).uninstall,
  },
  {
    name: 'forget',
    summary: 'remove a dead node from the lock',
    words: '[node...]',
    uses: ['file', 'reach', 'json', 'consent'],
    more: `For a Mac that is no longer in the cluster file and will not return. Contacts no node, so everything that meshwright installed on the Mac remains there.
Exit codes: 0 removed from the lock, 5 you answered no.

Examples:
  meshwright forget studio-3`,
    load: async () => (await import('./apply/forget.ts')).forget,
  },
];
