import { blank, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about runtimes that were rolled back to an older version. */
export const rollbackCodes = {
  'runtime/taken-back': {
    severity: 'notice',
    summary: "A runtime's desired version is older than the version in its archive.",
    cause:
      '`rollback` recorded the older version in the lock. It stays in use until the archive changes or until `rollback --undo`.',
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
    cause:
      'A rollback needs one older version that is known to be complete on every node that uses the runtime. Each node keeps only one older version.',
    hint: 'Restore the older archive in the file, then apply.',
  },
} as const satisfies Record<string, CodeEntry>;
