import type { VerbOption } from './verb.ts';

/** Takes every node of the file where else words name them. */
export const everyNode: VerbOption = { flags: '--all', text: 'every node of the file' };

/** Takes every placement of the file where else words name them. */
export const everyPlacement: VerbOption = { flags: '--all', text: 'every placement of the file' };

/** Lets a start go past a spent launch budget. */
export const allowRdmaStart: VerbOption = {
  flags: '--allow <effect>',
  text: 'rdma-start: start past a spent launch budget',
};

/** Lets a run wait for the leases of another. */
export const leaseWait: VerbOption = {
  flags: '--lease-wait <time>',
  text: 'how long to wait for another run that holds a node',
};
