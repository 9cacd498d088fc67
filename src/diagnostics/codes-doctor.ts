import type { CodeEntry } from './code-entry.ts';

/** Codes about what was observed on the nodes and disagrees with the file. */
export const doctorCodes = {
  'rdma/disabled': {
    severity: 'error',
    summary: 'RDMA over Thunderbolt is disabled on this node.',
    cause: '`rdma_ctl status` says disabled; it can be enabled only in Recovery, by hand (Apple TN3205).',
    hint: 'Shut down, hold the power button until "Loading startup options", Options > Utilities > Terminal: rdma_ctl enable, then restart.',
  },
} as const satisfies Record<string, CodeEntry>;
