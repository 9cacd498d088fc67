import { aside, blank, its, meshwright, withTail } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type CodeEntry, withExit } from '../code-entry.ts';

/** Codes about a playbook that does not fit the cluster file. */
const playbookCodes = {
  'playbook/unknown-node': {
    summary: 'The cluster file has no node with this name.',
    cause: 'A play names a node that is not under `nodes` in the cluster file.',
    hint: 'Correct the name, or choose another cluster file with `-f`.',
  },
  'playbook/no-node-chosen': {
    summary: 'This label selects no node.',
    cause: 'No node in the cluster file has all the labels that the play selects by.',
    hint: 'Use labels that at least one node has.',
  },
  'playbook/unknown-placement': {
    summary: 'The cluster file has no placement with this name.',
    cause: 'A task names a placement that is not under `placements` in the cluster file.',
    hint: 'Correct the name, or choose another cluster file with `-f`.',
  },
  'playbook/unknown-runtime': {
    summary: 'The cluster file has no runtime with this name.',
    cause: 'A task names a runtime that is not under `runtimes` in the cluster file.',
    hint: 'Correct the name, or choose another cluster file with `-f`.',
  },
  'playbook/not-published': {
    summary: 'A placement that is not published cannot be drained.',
    cause: 'Only the API gateway can stop accepting requests, and only endpoints with `listen: lan` have a gateway.',
    hint: 'Remove the placement from this task, or stop it instead: `stop`.',
  },
  'playbook/leaves-stopped': {
    summary: 'This playbook stops placements and never starts them again.',
    cause: 'The reboot stops all placements on a Mac first. No other task stops or starts some of these.',
    hint: 'Add `- start: {}` after it. If they should stay stopped, add `- stop: {}` before it.',
  },
  'playbook/divides-unit': {
    summary: 'A batch is smaller than a placement.',
    cause:
      'A task of the play may stop placements. Macs that share a placement are one unit: if a batch contains only some of them, each batch interrupts the same placement again.',
    hint: 'Write `serial: unit`, or a number that covers every unit.',
  },
  'playbook/unknown-zone': {
    summary: 'This time zone does not exist.',
    cause: 'A window names a time zone that this computer does not know.',
    hint: 'Use a name from the IANA database, such as Europe/Berlin.',
  },
  'playbook/unknown-field': {
    summary: 'This text has no field with this name.',
    cause: 'Names in braces are replaced with values. Each text allows only a few names.',
    hint: 'Use a field that is allowed here, or write `{{` for a literal brace.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about running plans and playbooks. */
export const applyCodes = {
  'journal/cannot-write': {
    summary: 'The run journal cannot be written.',
    cause: 'The state folder is missing, full or not writable. meshwright records every step before it sends it.',
    hint: 'Free space in the state folder, or choose another folder: `MESHWRIGHT_STATE=FOLDER`',
  },
  'journal/cannot-read': {
    summary: 'The journal of an earlier run cannot be read.',
    cause: 'A file in the state folder belongs to another user, or is a folder or a pipe.',
    hint: 'Check who owns the named path. Only history and logs need it.',
  },
  'gate/not-reached': {
    summary: 'A node does not show a change that was just made.',
    cause:
      'A step reported success, but every observation up to the deadline still showed a different value. Either the change takes longer than expected, or something else on the Mac reverts it.',
    hint: prose`Run it again: meshwright observes the node first. If the error remains, read the log: ${meshwright('logs')}`,
  },
  'gate/not-seen': {
    summary: 'meshwright could not verify a change.',
    cause: "The node, or a tool on it, stopped answering and did not answer again before the step's deadline.",
    hint: prose`See which facts are unknown, and why: ${meshwright('facts')}`,
  },
  'gate/aborted': {
    summary: 'A start failed before it was ready.',
    cause: 'While the run waited, the node reached a state from which it can no longer become ready.',
    hint: prose`Read the log: ${meshwright('logs')}`,
  },
  'lease/held': {
    exit: 75,
    summary: 'Another run has the lease on a node.',
    cause: 'That run is changing the node now, or was until a moment ago: a living run keeps renewing its lease.',
    hint: prose`Wait for the other run with \`--lease-wait 10m\`, or ask the named person. To see all leases: ${meshwright('lease status')}`,
  },
  'lease/not-taken': {
    summary: 'The lease on a node could not be acquired.',
    cause: "The disk is full or damaged, so nothing can be written to meshwright's folder on the node.",
    hint: prose`Check the node, and free space on its disk: ${meshwright('facts')}`,
  },
  'lease/lost': {
    traits: ['lost-lease'],
    summary: 'This run lost the lease on a node.',
    cause:
      'Either this computer was asleep or offline for longer than a lease lasts and another run took over the lease, or someone removed the lease. The node rejected everything this run sent after that.',
    hint: prose`See who has the lease now: ${meshwright('lease status')}. Then run this again: meshwright observes the node first.`,
  },
  'step/failed': {
    summary: 'A step failed on a node.',
    cause: 'The tool that the step uses on the node exited with an error. Its output is shown.',
    hint: 'Run it again: meshwright observes the node first. If it fails again, try the named tool on the Mac itself.',
  },
  'step/disk-full': {
    summary: "A node's disk is full.",
    cause: 'A file could not be written. Incomplete files are never used; the next run completes them.',
    hint: "Free space on the node's data volume, then run this again.",
  },
  'step/wrong-digest': {
    traits: ['wrong-digest'],
    summary: 'A file that arrived on a node has the wrong digest.',
    cause:
      'Its SHA-256 or its size differs from the one in the cluster file or the lock. Either the source changed, or the lock is wrong. A download stops as soon as it has more bytes than the file. The file was not used.',
    hint: 'Compare the source with the digest, and correct whichever is wrong.',
  },
  'step/not-adopted': {
    severity: 'notice',
    summary: "Some of a model's files were not taken from the copy on a node.",
    cause: "Their content, size or place differs from the model's list. The source provides them instead.",
    hint: 'Nothing to do. To search for copies of other software no longer, set `adopt: never` for the model.',
  },
  'step/copy-in-use': {
    summary: 'A copy of a model is being written.',
    cause: 'A process writes to that folder, or a file changed meanwhile. apply takes no files that still change.',
    hint: 'Wait until the download there has finished, or stop it, then run this again. To use the source in the file instead, set `adopt: never` for the model.',
  },
  'step/no-full-disk-access': {
    traits: ['hands'],
    summary: 'macOS does not let the SSH session make this change.',
    cause: 'Programs in an SSH session need Full Disk Access to change network preferences and accounts.',
    hint: 'On the Mac: System Settings > General > Sharing > Remote Login (i): allow full disk access for remote users.',
  },
  'step/reboot-mark': {
    summary: 'A process on a node cannot be killed.',
    cause: 'It survived SIGKILL because it is stuck in the kernel, as happens when RDMA hangs. Only a restart ends it.',
    hint: prose`Restart the Mac: ${meshwright('reboot', its.node)}`,
  },
  'step/fetch-failed': {
    summary: 'A node could not download a file from its URL.',
    cause: "The host name, the server, the path or the network is at fault. The output shows curl's error.",
    hint: prose`Try the URL from the node: ${withTail(meshwright('exec', its.node), 'curl', '-I', blank('URL'))}. The part that was downloaded is kept.`,
  },
  'step/stalled': {
    summary: 'A job on a node stopped making progress.',
    cause: "It is alive, but added no byte within the step's deadline: its source or its disk is not responding.",
    hint: 'Test the source from the node itself. The next run finds the job, even if it has ended by then.',
  },
  'step/repaired-model': {
    severity: 'notice',
    summary: 'Only the wrong chunks of a changed model were fetched.',
    cause: 'The other chunks of its files were right. All bytes received are counted, also of missing files.',
    hint: prose`Nothing to do. If it happens again on the same Mac, its disk may be failing: ${meshwright('models verify', '--full')}`,
  },
  'step/wrong-bytes': {
    severity: 'notice',
    summary: 'A Mac got wrong bytes of a model from another Mac.',
    cause: "Their SHA-256 differs: the other Mac's copy, memory or the cable changed bytes. They were not used.",
    hint: prose`Verify the model on both Macs: ${meshwright('models verify', '--full')}. If it is intact, check the plugs, or try a different cable: ${meshwright('cables')}`,
  },
  'step/no-perl': {
    severity: 'notice',
    summary: 'A Mac exchanged no model with other Macs, because its perl does not work.',
    cause: "Macs exchange models in perl. Without it, a Mac uses a model's source, and serves it to no other Mac.",
    hint: 'Run `/usr/bin/perl -v` on that Mac, and compare the answer with that of another Mac.',
  },
  'step/no-ssh-to-mac': {
    severity: 'notice',
    summary: 'A Mac could not get a model from another Mac over SSH.',
    cause:
      "The text is the last line that ssh printed on the Mac that gets the model. Either no connection is possible between the two Macs, or a different host answers at that address, or the SSH user's `~/.ssh/authorized_keys` on the other Mac is missing or a link, so that it has no line for the transfer. The model came from its source instead, or the transfer failed.",
    hint: 'Check that the Mac reaches the other one: `ssh -v USER@ADDRESS` with the address at which this computer reaches it.',
  },
  'step/slow-cable': {
    severity: 'notice',
    summary: "A cable carried less than half of what the same Mac's other cables carried.",
    cause:
      'While a model was received, each request over this cable took more than twice as long per byte. Either the cable or a plug is bad, or the other Mac was busy.',
    hint: prose`Check both plugs and the speed of the link, or try a different cable: ${meshwright('cables')}`,
  },
  'step/job-gone': {
    summary: 'A job on a node ended repeatedly without a result.',
    cause: 'Its process disappeared three times without an exit code: something on the Mac kills it.',
    hint: "Search the Mac's log (`log show`), then run this again. The job resumes where it stopped.",
  },
  'send/source-unreadable': {
    summary: 'A file to be sent cannot be read.',
    cause: 'It was moved or deleted after the run began, its disk is gone, or this user may not read it.',
    hint: 'Restore the file at the path in the cluster file.',
  },
  'send/source-changed': {
    summary: 'A file to be sent differs from the one in cluster.lock.',
    cause: 'Its size or its SHA-256 is not the one in cluster.lock. No node used any part of it.',
    hint: prose`Restore the old file, or adopt the new one: ${aside(meshwright('plan'))} shows what it would change.`,
  },
  'ask/no-token': {
    traits: ['no-token'],
    summary: 'A placement was started but produced no token.',
    cause: 'Its ranks run, but its endpoint returned no text before the deadline (`expect.firstToken`).',
    hint: prose`Read its ranks' logs: ${meshwright('logs')}. A large model may need a longer \`expect.firstToken\`.`,
  },
  'reboot/not-rebooted': {
    traits: ['still-answers'],
    summary: 'A Mac did not restart when asked.',
    cause: 'It still answers from the same boot session: something on the Mac prevents the shutdown.',
    hint: 'At the Mac, find out what blocks the restart. meshwright does not ask again in the same boot session.',
  },
  'reboot/no-return': {
    traits: ['hands'],
    summary: 'A Mac did not come back after a restart.',
    cause: 'It hangs while shutting down, waits for a person at its console, or has lost its network.',
    hint: 'Go to the Mac: if it is off, press the power button; if it asks, log in. Then run this again.',
  },
  'upgrade/not-offered': {
    exit: 5,
    summary: 'A Mac is not offered the macOS version in the file.',
    cause:
      "Apple's update server does not offer this Mac exactly this version, or could not be reached. Another version, a beta or the next major version is never installed instead.",
    hint: 'Set macos.version in the file to a version that all these Macs are offered.',
  },
  'upgrade/unknown': {
    exit: 5,
    summary: 'The macOS version of a Mac is unknown.',
    cause: 'The Mac did not answer, or `sw_vers` printed nothing usable. All Macs of a unit must run the same version.',
    hint: prose`Bring the Mac back first: ${meshwright('doctor')}`,
  },
  'upgrade/newer': {
    exit: 5,
    summary: 'A Mac runs a newer macOS than the file wants.',
    cause: 'macOS cannot be downgraded in place: a downgrade erases the Mac.',
    hint: 'Set macos.version in the file to the newest version that one of the Macs runs.',
  },
  'upgrade/no-password': {
    exit: 5,
    summary: 'There is no password with which macOS can be updated.',
    cause:
      'On Apple silicon, an update needs the password of an owner of the startup volume. meshwright uses that of the SSH user, from its source in the file.',
    hint: 'Add its source to the file: ssh: { password: { env: MESH_PASSWORD } }. Or let a person install updates: remove macos.updates.driver.',
  },
  'upgrade/password-refused': {
    summary: 'macOS did not accept the password for the update.',
    cause:
      'The password is wrong, or the SSH user does not own the startup volume of this Mac. `sysadminctl -secureTokenStatus USER` on the Mac tells which.',
    hint: 'Correct the source of the password, or log in as an account that owns the volume. Then run the same command again.',
  },
  'upgrade/command-failed': {
    summary: 'The program that installs macOS updates failed.',
    cause: 'The program in macos.updates.command did not exit with 0, or did not exit in time.',
    hint: 'Run the program yourself, and fix what it reports. Then run the same command again.',
  },
  'upgrade/not-restarted': {
    traits: ['still-answers'],
    summary: 'A Mac has not restarted although its update was ordered.',
    cause:
      'The program in macos.updates.command ran in this boot session, or was stopped while it ran. It is not run again before the Mac restarts, because the update may still be on its way.',
    hint: 'Look at your device management. If it ordered nothing, restart that Mac yourself. Then run the same command again.',
  },
  'upgrade/not-updated': {
    summary: 'A Mac does not run the expected macOS after its update.',
    cause:
      'It restarted, but its version or build is not that of the update. Only the next boot session and the exact build prove an update; exit codes do not.',
    hint: 'Check the update on the Mac: System Settings > General > Software Update. Then run the same command again. Until then, the next unit is only updated if you name its Macs.',
  },
  'upgrade/by-hand': {
    severity: 'notice',
    traits: ['hands'],
    summary: 'macOS updates are left to a person.',
    cause: 'The file names no program that installs them (macos.updates.driver).',
    hint: prose`For the list of steps, and afterwards to bring back the placements: ${meshwright('upgrade macos', '--all')}`,
  },
  'upgrade/left-out': {
    severity: 'warning',
    summary: 'A unit of Macs is left out of the upgrade of a runtime.',
    cause:
      'One of its Macs was not reached, or a blocker keeps one of its placements from starting again. The other units are upgraded without it, and it keeps the version that it has.',
    hint: 'When these Macs are ready, run the same command again, or `apply`.',
  },
  'upgrade/rolled-back': {
    summary: 'A runtime was rolled back because its new version did not serve.',
    cause:
      'After the restart with the new version, a placement did not start, or did not return tokens for a minute. Every unit that had the new version was returned to the old one, as `rollback` does.',
    hint: 'Name another version in the file, or try this one again with `--again`.',
  },
  'upgrade/not-rolled-back': {
    summary: 'The new version of a runtime did not serve, and the rollback is not finished.',
    cause: 'The old version could not be started either, or no older version is on all of these Macs.',
    hint: prose`Find out why: ${meshwright('doctor')}. Then run the same command again.`,
  },
  'outlet/wrong-mac': {
    traits: ['hands', 'urgent'],
    summary: 'The file gives a Mac the wrong power outlet.',
    cause:
      "Switching off the Mac's outlet turned off another Mac, or did not turn off this one. The outlet was switched on again immediately. No other outlet was switched.",
    hint: 'Find out at the rack which Mac is plugged into which outlet, and correct `outlet` in cluster.yaml.',
  },
  'outlet/no-return': {
    traits: ['hands'],
    summary: 'A Mac did not come back after a power cycle.',
    cause:
      'It is off because it was shut down before, or because `power.restartAfterPowerLoss` is not set. It waits for its FileVault password. Or it is not plugged into this outlet.',
    hint: 'Go to the Mac: check that it is plugged into this outlet, press its power button, and enter its password if it asks. Then run this again.',
  },
  'outlet/command-failed': {
    traits: ['hands'],
    summary: 'A power outlet could not be switched.',
    cause: "The PDU's command in the file failed, or its `powerState` did not print the new state.",
    hint: 'Run that command yourself, and check that the outlet is on.',
  },
  'outlet/this-computer': {
    summary: 'This computer does not switch off its own power.',
    cause: 'meshwright runs on the Mac that it should power-cycle, so nothing could switch the outlet on again.',
    hint: 'Run the command on another computer.',
  },
  'reboot/still-on': {
    traits: ['still-answers'],
    summary: 'A Mac did not shut down when asked.',
    cause: 'Something on the Mac prevents the shutdown. meshwright does not ask again in the same boot session.',
    hint: 'At the Mac, find out what blocks the shutdown.',
  },
  'task/still-different': {
    summary: 'A property differs from the file again, although this run just set it.',
    cause: 'Device management, another user, or macOS itself changed it back.',
    hint: 'Find out who else manages this Mac, then run this again.',
  },
  'task/wait-over': {
    summary: 'A condition was not met in time.',
    cause: 'No observation before the deadline of `wait`, or of the wait task in a playbook, showed the condition.',
    hint: prose`Wait longer with a longer deadline, or see what is wrong: ${meshwright('status')}`,
  },
  'task/assert-failed': {
    summary: 'A condition in the playbook is not met.',
    cause: 'The named property has another value, could not be observed, or does not exist on the node.',
    hint: prose`See what was observed on the node: ${meshwright('facts')}`,
  },
  'playbook/label-removed': {
    summary: 'A Mac was left out, because its label was removed during the run.',
    cause: 'The cluster file is read again before each task of a play that chooses its Macs by label.',
    hint: 'If the Mac belongs to the play, add the label again, then run the playbook again.',
    severity: 'warning',
  },
  'task/not-drained': {
    summary: 'A placement hangs or its state is unknown, so it cannot be drained.',
    cause:
      'The next tasks would stop it. Requests in flight may still finish, and nothing shows whether they would. So the playbook ended before it stopped anything.',
    hint: prose`See what is wrong: ${meshwright('doctor')}. To stop the placement in any case, give the drain a deadline before the task that stops it: \`- drain: { deadline: 10m }\`.`,
  },
  'task/outside-window': {
    summary: 'The batch may not begin at this time.',
    cause: 'The play has `windows`, and none of them is open. The playbook ended before it touched the batch.',
    hint: 'Run the playbook again during a window.',
  },
  'task/blocked': {
    summary: 'A blocker keeps the batch from beginning.',
    cause: 'A blocker of the play applies, or could not be checked. The playbook ended before it touched the batch.',
    hint: 'Wait until the blocker is gone, then run the playbook again.',
  },
  'task/notice-failed': {
    summary: 'A notice was not sent.',
    cause: 'The program of a `notify` task did not run, or did not exit with 0. The playbook continued.',
    hint: 'Run the program manually and fix the problem that it reports.',
    severity: 'warning',
  },
  'task/unknown': {
    summary: 'The result of a task is unknown on a Mac, so the Mac counts as failed.',
    cause: 'The Mac did not answer, or a fact that the task needs could not be observed.',
    hint: prose`See which facts are unknown, and why: ${meshwright('facts', its.node)}`,
  },
  'task/not-healthy': {
    summary: 'A placement of the batch did not keep serving.',
    cause: 'During the `bake` time of the play, or at its end, two checks in a row got no token from it.',
    hint: prose`See what is wrong: ${meshwright('doctor')}`,
  },
  'task/command-failed': {
    summary: 'A command in the playbook failed.',
    cause: 'It exited with a code other than 0, or its exit code is unknown. meshwright does not run it again.',
    hint: prose`Try it on one node: ${withTail(meshwright('exec', its.node), blank('COMMAND'))}`,
  },
  ...withExit(65, playbookCodes),
  'playbook/unknown-property': {
    summary: 'An `assert` names a property that no node in the cluster file has.',
    cause: 'The name is misspelled, or the cluster file sets no such property.',
    hint: 'Use a property that `plan` shows, such as `power/sleep`.',
  },
  'recover/no-cure': {
    summary: 'A placement does not serve, and no cure is known.',
    cause: 'It returned no token, each cure was tried, and nothing else differs from a healthy mesh.',
    hint: prose`Look for a reason in its logs: ${aside(meshwright('logs', its.placement))}. Reboot all of its Macs only if there is none.`,
  },
  'recover/settings-changed': {
    summary: 'A placement does not serve, and the file has other settings than its last start.',
    cause:
      '`recover` starts nothing newer than what served before, and it cannot read all older settings: `env` and `args` are not recorded.',
    hint: prose`Start it with the file's settings: ${meshwright('apply')}`,
  },
  'step/rolled-back': {
    summary: 'The node rolled back a network change.',
    cause: 'In time, no new connection reached the node, so the node restored its previous network settings.',
    hint: prose`See which change broke the connection: ${meshwright('history')}. Reach the Mac over Ethernet or Wi-Fi, then run this again.`,
  },
  'step/unconfirmed': {
    summary: 'A network change could not be confirmed.',
    cause: 'No new connection reached the node, neither after the change nor after its rollback time.',
    hint: prose`Wait a minute and check again: ${meshwright('status')}. If the node stays unreachable, check the Mac itself.`,
  },
  'step/transaction-pending': {
    summary: 'A node rejected a change because an earlier network change is not confirmed yet.',
    cause: 'A run ended after it changed the network, but before it confirmed that the node is still reachable.',
    hint: 'Run this again: meshwright first rolls back the earlier change, then observes the node.',
  },
} as const satisfies Record<string, CodeEntry>;
