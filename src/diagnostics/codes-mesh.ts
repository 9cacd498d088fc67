import type { CodeEntry } from './code-entry.ts';
import { suspicionCodes } from './codes-rdma.ts';

/** Codes about placements: how they are, and starting and stopping them. */
export const meshCodes = {
  ...suspicionCodes,
  'mesh/launch-budget': {
    severity: 'error',
    summary: 'A placement over RDMA was started too often since a Mac booted.',
    cause:
      'Every start over RDMA that fails leaks a protection domain, of which a device has few, and only a reboot frees it (seen on macOS 26.5.1). So a node takes only as many starts in one boot session, over all placements, as its devices have room for by `ibv_devinfo -v`, and three where they do not say.',
    hint: 'Restart the Macs that are named: meshwright reboot',
  },
  'mesh/not-serving': {
    severity: 'error',
    summary: 'A placement of the file does not serve.',
    cause:
      'It counts as serving when all its ranks run, of one start and as the file says, and its endpoint gave a token while it was looked at. Anything less serves nobody.',
    hint: 'Start it: meshwright apply',
  },
  'mesh/not-stopped': {
    severity: 'error',
    summary: 'A placement runs that the file wants stopped.',
    cause: 'The file says `state: stopped`, and at least one of its ranks has a process.',
    hint: 'Stop it: meshwright apply',
  },
  'mesh/left-over': {
    severity: 'error',
    summary: 'A node keeps a rank that the file does not have there.',
    cause: 'The placement left the file or moved to other nodes, and nobody has applied that since.',
    hint: 'Take it away: meshwright apply',
  },
  'mesh/not-judged': {
    severity: 'warning',
    summary: 'Nobody can say whether a placement is as the file says.',
    cause:
      'Its nodes answered, and something that a judgement needs is missing: a token that was not asked for because the placement was just being started, or a digest that the lock does not have.',
    hint: 'Look again in a minute. If it stays so: meshwright plan',
  },
} as const satisfies Record<string, CodeEntry>;
