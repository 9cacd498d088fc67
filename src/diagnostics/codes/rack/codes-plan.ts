import { aside, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes of what keeps a plan from doing all that the file asks for. */
export const planCodes = {
  'plan/not-converged': {
    summary: 'Something that must come first is not as the file says.',
    cause:
      'A verb that starts a placement touches nothing else; the node lacks something that the placement needs, such as its runtime.',
    hint: prose`${aside(meshwright('apply'))}`,
  },
  'reboot/session-unknown': {
    summary: 'Nobody can say in which boot session this Mac is.',
    cause:
      'A restart is sent at most once per boot session, known by `kern.bootsessionuuid`. While that is unknown, a second try could restart the Mac twice.',
    hint: prose`See why it is unknown: ${meshwright('facts')}`,
  },
  'model/no-room': {
    summary: 'A model does not fit on the disk of a node.',
    cause: 'Its files and a tenth more are needed; the data volume has less free, what is staged already included.',
    hint: 'Make room on the data volume.',
  },
  'model/not-declared': {
    severity: 'notice',
    summary: 'A node keeps a model that the file does not have.',
    cause:
      'Models take hours to fetch, so no run deletes one that left the file, or a version of one that was replaced.',
    hint: 'Delete its folder below /opt/meshwright/models when nobody needs it any more.',
  },
  'uninstall/stays': {
    severity: 'notice',
    summary: 'Something stays on a node that is uninstalled.',
    cause:
      'Models take hours to fetch, and values may be wanted as they are: both stay unless `--models` or `--restore` is given. What enroll did not install is not taken away either.',
    hint: 'Nothing needs to be done for what is meant to stay.',
  },
  'uninstall/by-hand': {
    severity: 'notice',
    summary: 'Only hands can undo some of what a node was prepared with.',
    cause:
      'RDMA is switched in Recovery or System Settings, FileVault and automatic login in System Settings at the Mac itself, and cables stay where they are. No command over SSH is known to do any of it.',
    hint: 'Do it at the Mac, where it is not wanted any more.',
  },
  'network/carries-connection': {
    summary: 'A change would touch the interface over which the node is reached.',
    cause:
      'The address by which meshwright reaches the node belongs to a Thunderbolt receptacle or to the Thunderbolt Bridge: changing it would cut the connection with nobody there to bring it back.',
    hint: 'Reach the node over its Ethernet or Wi-Fi: change its host in the file.',
  },
} as const satisfies Record<string, CodeEntry>;
