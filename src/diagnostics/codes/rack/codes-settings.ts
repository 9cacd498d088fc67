import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about settings of a Mac that differ from the file. */
export const settingCodes = {
  'names/differ': {
    severity: 'error',
    summary: 'This Mac is not called as its node.',
    cause: 'The file wants the names of the Mac to be that of its node, and a person or a setup gave it others.',
    hint: prose`Set them with ${meshwright('apply')}.`,
  },
  'names/renamed': {
    severity: 'error',
    summary: 'macOS gave this Mac another Bonjour name, since its own was taken.',
    cause:
      'Another computer on the network answers to the name of this node, or this Mac was reached over two interfaces of one network at once; macOS then appends a number to its own name.',
    hint: prose`Find the computer that has the name, else macOS appends the number again. Then: ${meshwright('apply')}`,
  },
  'login/differs': {
    severity: 'error',
    summary: 'Automatic login is not as the file says.',
    cause:
      'Without a login there is no session of a user after a start, and programs that need one do not run. macOS asks for the password of the account, so nobody but a person at the Mac can switch it.',
    hint: 'System Settings > Users & Groups > Automatically log in as.',
    hands: true,
  },
  'login/needs-filevault-off': {
    severity: 'error',
    summary: 'Automatic login is impossible while FileVault is on.',
    cause: 'The disk is locked until somebody gives a password, so macOS switches automatic login off.',
    hint: 'Switch FileVault off at a terminal of this Mac (sudo fdesetup disable), or write system.automaticLogin: any.',
  },
  'sharing/screen': {
    severity: 'error',
    summary: 'Screen Sharing is not as the file says.',
    cause: 'launchd has its service loaded or not, now or at the next start, other than system.screenSharing wants it.',
    hint: prose`Set it with ${meshwright('apply')}.`,
  },
  'background/on': {
    severity: 'error',
    summary: 'Something in the background uses the disk, and the file wants it stopped.',
    cause:
      'Spotlight reads every file of a model that was copied, and Time Machine copies it once more, while ranks load it; what looks through photos takes disk, memory and GPU in a session at the screen.',
    hint: prose`Stop it with ${meshwright('apply')}.`,
  },
  'firewall/on': {
    severity: 'error',
    summary: 'The application firewall is on, and the file wants it off.',
    cause: 'It asks at the screen about each program that listens, and blocks it until somebody answers.',
    hint: prose`Switch it off with ${meshwright('apply')}.`,
  },
  'firewall/in-the-way': {
    severity: 'warning',
    summary: 'The application firewall may block a placement.',
    cause:
      'Ranks and endpoints are programs that listen. Unless somebody allowed them, the firewall drops what comes from other computers, and nobody sees the question that it asks.',
    hint: 'Write system.firewall: disabled, or allow the programs of the runtime: System Settings > Network > Firewall > Options.',
  },
} as const satisfies Record<string, CodeEntry>;
