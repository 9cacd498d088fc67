import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';
import { cablingCodes } from './codes-cabling.ts';
import { holdCodes } from './codes-hold.ts';
import { networkCodes } from './codes-network.ts';
import { rdmaCodes } from './codes-rdma.ts';

/** Codes about what was observed on the nodes and disagrees with the file. */
export const doctorCodes = {
  ...cablingCodes,
  ...rdmaCodes,
  ...networkCodes,
  ...holdCodes,
  'fact/unknown': {
    severity: 'warning',
    summary: 'Some facts of this node are unknown.',
    cause:
      'A tool is missing, refused, hung, or printed something that no known macOS prints. Unknown is never taken for right or wrong, so nothing that depends on it was judged.',
    hint: prose`See what each probe said: ${meshwright('facts')}`,
  },
  'macos/outside-accept': {
    severity: 'error',
    summary: 'The macOS version is not one that the file accepts.',
    cause: 'The version that `sw_vers` prints lies outside macos.accept.',
    hint: 'Update macOS on this node, or widen macos.accept: going back to an older macOS means erasing the Mac.',
  },
  'macos/not-the-wish': {
    severity: 'notice',
    summary: 'A usable macOS version, but not the one that the file wishes for.',
    cause: 'The version is inside macos.accept (or there is none) and is not macos.version.',
    hint: 'Update macOS when it suits you.',
  },
  'macos/versions-differ': {
    severity: 'error',
    summary: 'Cabled nodes run different macOS versions.',
    cause:
      'RDMA peers may not see each other across macOS versions; exo therefore asks for exactly equal ones, beta numbers and background security improvements included.',
    hint: 'Bring all cabled nodes to one version.',
  },
  'macos/builds-differ': {
    severity: 'warning',
    summary: 'Equal Macs run different builds of the same macOS version.',
    cause:
      'Builds may differ between models, but not between Macs of one model: one of them has a beta, or an update that did not end.',
    hint: 'Update the older build.',
  },
  'macos/panicked': {
    severity: 'notice',
    summary: 'This Mac has restarted after a kernel panic.',
    cause:
      'macOS has written the report of a panic when it was there again, and it has not started since. What the Mac served went down with it; what does not serve now has a finding of its own.',
    hint: 'When it happens again, compare the reports in /Library/Logs/DiagnosticReports, and send them to Apple.',
  },
  'identity/wrong-mac': {
    severity: 'error',
    summary: 'Another Mac answers than the one in the file.',
    cause: 'Serial number, model or memory differ from the hardware section of the node.',
    hint: 'Correct the address or the hardware section of this node in the file.',
  },
  'identity/same-mac': {
    severity: 'error',
    summary: 'Several nodes of the file are one and the same Mac.',
    cause:
      'The same hardware UUID answered under more than one address, so that nothing about their cables can be said.',
    hint: 'Correct the addresses in the file.',
  },
  'bridge/active': {
    severity: 'error',
    summary: 'The Thunderbolt Bridge is active.',
    cause:
      'A bridged receptacle has no address of its own, so its RDMA device lacks the GID that MLX needs, and since spanning tree does not run, bridged Macs in a ring loop frames until the network is down (Apple TN3205, exo issues 1222 and 1261). Switching the service off leaves the interface up (seen on Mac16,11), so three layers are looked at: interface, preferences, service.',
    hint: 'sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:bridge0" /Library/Preferences/SystemConfiguration/preferences.plist; then restart it.',
  },
  'bridge/comes-back': {
    severity: 'error',
    summary: 'The Thunderbolt Bridge is gone for now and will come back.',
    cause:
      'The interface is gone, but the network preferences or an enabled service still have it: macOS rebuilds it at the next boot or hot-plug.',
    hint: 'sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:bridge0" /Library/Preferences/SystemConfiguration/preferences.plist',
  },
  'bridge/perhaps-active': {
    severity: 'warning',
    summary: 'The Thunderbolt Bridge is configured, and nobody could see whether it is active.',
    cause:
      'The network preferences or an enabled service have it, and what `ifconfig` says is unknown: it may be up now, and would come back anyway.',
    hint: 'Look at the interfaces of this node first; then remove the bridge wherever it still is.',
  },
  'bridge/receptacle-bridged': {
    severity: 'error',
    summary: 'A Thunderbolt receptacle is in a bridge that meshwright does not remove.',
    cause:
      'The bridge is not the one that macOS makes of its receptacles by itself, or no longer: it joins one with something else, such as Ethernet, a person made it, or Internet Sharing did. A network may hang on it, so it is not to be deleted; the receptacle in it can do no RDMA, and its cables can close a ring.',
    hint: 'Take the receptacle out of the bridge in System Settings > Network > Manage Virtual Interfaces.',
  },
  'bridge/loop': {
    severity: 'error',
    summary: 'Bridged Macs are cabled in a ring.',
    cause:
      'Frames circle for ever in a ring of Thunderbolt Bridges and take the office network down (dnet issue 69: 80,000 packets a second; exo issues 525, 1222).',
    hint: 'Take out one cable of the ring now; put it back when the bridges are removed.',
    hands: true,
  },
  'memory/wired-limit': {
    severity: 'error',
    summary: 'The GPU may wire another amount of memory than the file says.',
    cause:
      '`iogpu.wired_limit_mb` is lost at every reboot; 0 is the default of macOS, about three quarters of the memory.',
    hint: prose`Set it with ${meshwright('apply')}.`,
  },
  'memory/wired-limit-too-large': {
    severity: 'error',
    summary: 'The file lets the GPU wire more memory than this Mac can spare.',
    cause: 'macOS needs about 8 GiB beside the GPU; a Mac whose GPU takes them swaps, hangs or panics.',
    hint: 'Lower system.wiredLimit in the file, or write `auto`, which fits every Mac.',
  },
  'filevault/differs': {
    severity: 'error',
    summary: 'FileVault is not as the file says.',
    cause: 'A Mac with FileVault stays locked after every reboot until somebody gives its password.',
    hint: 'System Settings > Privacy & Security > FileVault.',
  },
  'sudo/needs-password': {
    severity: 'warning',
    summary: 'sudo asks for a password on this node.',
    cause: 'Looking needs no root, but every change does, and nobody is there to type a password.',
    hint: prose`See the exact line to add: ${meshwright('enroll')}`,
  },
  'sudo/denied': {
    severity: 'warning',
    summary: 'The user may not use sudo on this node.',
    cause: 'The ssh user is in no sudoers rule: meshwright can look at the node and change nothing.',
    hint: prose`See the exact line to add: ${meshwright('enroll')}`,
  },
  'accounts/absent': {
    severity: 'error',
    summary: 'An account that the file names is not on this node.',
    cause: 'meshwright makes only accounts of its own; every other one is made by a person.',
    hint: 'Make it in System Settings > Users & Groups as a standard account and give it a group of its own, or name _meshrank or _meshgate in system.accounts: meshwright makes these.',
  },
  'accounts/other': {
    severity: 'error',
    summary: 'The name of an account of meshwright belongs to another account.',
    cause:
      'A person or a program made it, macOS made it again, or an uninstall had to leave it. meshwright neither changes nor uses an account that it did not make.',
    hint: 'If nothing else needs it, delete it at the Mac, in a Terminal with Full Disk Access: sudo dscl . -delete /Users/NAME, then sudo dscl . -delete /Groups/NAME. Or name another account in system.accounts.',
  },
  'accounts/can-become-root': {
    severity: 'error',
    summary: 'Ranks or the gateway would run as an account that can become root.',
    cause: 'An attacker who breaks a rank or the gateway would then be root on that Mac.',
    hint: 'Take it out of the administrators (System Settings > Users & Groups), or name another account in system.accounts.',
  },
  'accounts/shared-group': {
    severity: 'error',
    summary: 'The account of ranks or the gateway shares its group with others.',
    cause: 'Its logs can be read by its group, and every account of a person is in the group staff.',
    hint: 'Give it a group of its own, at the Mac, in a Terminal with Full Disk Access: sudo dseditgroup -o create NAME, then sudo dscl . -create /Users/NAME PrimaryGroupID NUMBER. Or name another account in system.accounts.',
  },
  'accounts/login': {
    severity: 'warning',
    summary: 'Ranks or the gateway run as the ssh user.',
    cause:
      'The file sets login in system.accounts. The ssh user becomes root by the sudo rule of enroll, so an attacker who breaks a rank or the gateway is root on that Mac.',
    hint: 'Take login out of system.accounts: apply then makes accounts that cannot become root.',
  },
  'clock/offset': {
    severity: 'warning',
    summary: 'The clock of this node is wrong.',
    cause: 'It differs from the clock of this computer by more than 5 seconds and what one observation can resolve.',
    hint: 'sudo sntp -sS time.apple.com',
  },
  'clock/this-computer': {
    severity: 'warning',
    summary: 'The clock of this computer differs from that of all nodes.',
    cause: 'Two or more nodes were asked, they agree with each other, and this computer is the odd one.',
    hint: 'Set the clock of this computer, the one on which you run meshwright, and let it follow a time server.',
  },
  'disk/low': {
    severity: 'warning',
    summary: 'The data volume is nearly full.',
    cause: 'Less than 10 % are free; models, updates and swap need room.',
    hint: 'Make room on the data volume.',
  },
} as const satisfies Record<string, CodeEntry>;
