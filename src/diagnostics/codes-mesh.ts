import type { CodeEntry } from './code-entry.ts';

/** Codes about starting and stopping placements. */
export const meshCodes = {
  'mesh/launch-budget': {
    severity: 'error',
    summary: 'A placement over RDMA was started too often since a Mac booted.',
    cause:
      'Every start over RDMA that fails leaks a protection domain, of which a device has few, and only a reboot frees it (seen on macOS 26.5.1). So a member is started at most three times in one boot session.',
    hint: 'Restart the Macs that are named: meshwright reboot',
  },
} as const satisfies Record<string, CodeEntry>;
