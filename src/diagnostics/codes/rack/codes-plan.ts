import { aside, blank, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about obstacles that prevent a plan from reaching the desired state, and about rollbacks of runtimes. */
export const planCodes = {
  'plan/not-converged': {
    traits: ['apply-first'],
    summary: 'A node lacks something that this command needs but does not change.',
    cause: 'Start commands change nothing else, but the node lacks something, such as the runtime.',
    hint: prose`${aside(meshwright('apply'))}`,
  },
  'reboot/session-unknown': {
    summary: "This Mac's boot session is unknown.",
    cause:
      'A restart is sent at most once per boot session, which `kern.bootsessionuuid` identifies. Without that ID, a retry could restart the Mac a second time.',
    hint: prose`See why it is unknown: ${meshwright('facts')}`,
  },
  'model/no-room': {
    summary: "A model does not fit on a node's disk.",
    cause: 'The model needs the size of its files plus 10 %, more than is free, even with what is staged.',
    hint: 'Free space on the data volume.',
  },
  'model/not-declared': {
    severity: 'notice',
    summary: 'A node has a model that is not in the file.',
    cause: 'Models take hours to download, so no run deletes a removed model or a replaced version.',
    hint: prose`If nothing needs these models anymore, delete them: ${aside(meshwright('models prune', '--all'))}`,
  },
  'model/wrong-files': {
    traits: ['wrong-files'],
    summary: 'Files of a published model are wrong.',
    cause:
      'Their SHA-256 differs from the one in the cluster file or the lock, or they are missing, although neither count nor times show a change. The disk may have damaged them. The model now counts as changed.',
    hint: prose`Replace the model: ${meshwright('apply')}. If this happens again, check the disk of this Mac.`,
  },
  'model/in-use': {
    summary: 'A running placement uses a model that is not in the file.',
    cause:
      'The record of a running rank names this version of the model, or an older version of meshwright started the rank and its record names none. Deleting the files could crash the rank.',
    hint: prose`Make the placement match the file first: ${meshwright('apply')}`,
  },
  'model/cables-in-use': {
    severity: 'notice',
    summary: 'A model does not use the cables of a running placement.',
    cause:
      'Macs get a model from each other over their cables, but not while a placement runs on these cables, because it would answer more slowly. They use Ethernet instead, which takes longer.',
    hint: prose`To use the cables, stop the placement first: ${meshwright('stop', blank('PLACEMENT'))}. Or wait until it is no longer needed.`,
  },
  'model/exchange-slowed': {
    severity: 'notice',
    summary: 'A Mac restarted while it exchanged a model, and continues at a lower rate.',
    cause:
      'Kernel panics have been reported under heavy TCP load over Thunderbolt. A restart without an orderly shutdown may have been such a panic. Each further restart halves the rate. After the exchange, the limit ends.',
    hint: prose`See whether it was a panic, and what to do about it: ${meshwright('doctor')}`,
  },
  'model/copies-unknown': {
    severity: 'notice',
    summary: 'A node may have a copy of a model that meshwright cannot see.',
    cause:
      'apply clones models that other software has already downloaded, but it could not read all folders where they may be. It uses the source in the file instead.',
    hint: 'To use such a copy, let the SSH account read its folder, or name a folder that it can read in `models.NAME.adopt`. To search no folders, set `adopt: never`.',
  },
  'model/copy-unused': {
    severity: 'notice',
    summary: 'A copy of a model on a node is not used.',
    cause:
      'A link in the folder leads out of it. apply reads the files as root, so it does not follow such a link. It uses the source in the file instead.',
    hint: 'To use the copy, name the folder that contains the files themselves in `models.NAME.adopt`.',
  },
  'uninstall/stays': {
    severity: 'notice',
    summary: '`uninstall` left something behind on a node.',
    cause:
      'Models take hours to download and changed settings may still be wanted, so both stay unless you use `--models` or `--restore`. `uninstall` also keeps an SSH key or a sudo rule that `enroll` did not install.',
    hint: 'If it is meant to stay, there is nothing to do.',
  },
  'uninstall/by-hand': {
    severity: 'notice',
    summary: "Some parts of a node's setup must be undone by hand.",
    cause:
      'RDMA is switched in Recovery or System Settings, and FileVault and automatic login are set in System Settings at the Mac itself. Cables stay connected. meshwright knows no command that can undo any of this over SSH.',
    hint: 'At the Mac, undo whatever you no longer want.',
  },
  'network/carries-connection': {
    summary: 'A change would affect the interface that meshwright uses to reach the node.',
    cause:
      'The address belongs to a Thunderbolt receptacle or to the Thunderbolt Bridge. Changing that interface would cut the connection, and meshwright could not restore it.',
    hint: "Reach the node over Ethernet or Wi-Fi: change the node's host in the file.",
  },
  'runtime/rolled-back': {
    severity: 'notice',
    summary: "A runtime's desired version is older than the version in its archive.",
    cause: '`rollback` put the older version into the lock, until the archive changes or `rollback --undo`.',
    hint: prose`Use the newer version again: ${meshwright('rollback', blank('RUNTIME'), '--undo')}`,
  },
  'runtime/version-gone': {
    summary: 'A node has no intact copy of the version that a runtime was rolled back to.',
    cause:
      'Each node keeps one older version of a runtime. A node that was added later never had it. A version whose files changed cannot be repaired, because its archive is no longer known.',
    hint: prose`Use the newer version again: ${meshwright('rollback', blank('RUNTIME'), '--undo')}. Or restore the older archive in the file.`,
  },
  'rollback/no-version': {
    summary: 'No older version can be chosen for the rollback.',
    cause: 'It needs an older version, complete on every node with the runtime, which keeps only one.',
    hint: 'Restore the older archive in the file, then apply.',
  },
} as const satisfies Record<string, CodeEntry>;
