import { blank, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about runtimes that are taken back to an older version. */
export const rollbackCodes = {
  'runtime/taken-back': {
    severity: 'notice',
    summary: 'A runtime is not the version of its archive: it was taken back to an older one.',
    cause: '`rollback` has written that into the lock. It holds until the archive is another one, or until --undo.',
    hint: prose`Take the newer one again: ${meshwright('rollback', blank('RUNTIME'), '--undo')}`,
  },
  'runtime/version-gone': {
    summary: 'A node does not have the version to which a runtime was taken back.',
    cause:
      'Nodes keep one older version of a runtime. One that was added later never had it, and one whose files were changed cannot be mended: the archive that it came from is not known any more.',
    hint: prose`Take the newer one again: ${meshwright('rollback', blank('RUNTIME'), '--undo')}. Or bring the older archive back in the file.`,
  },
  'rollback/no-version': {
    summary: 'There is no version to go back to.',
    cause:
      'A version counts when it lies whole on every node on which the runtime is used, and is not the one in use. Nodes keep one older version each.',
    hint: 'Bring the older archive back in the file, then apply.',
  },
  'rollback/not-taken-back': {
    summary: 'This runtime was not taken back.',
    cause: '--undo ends what rollback began; the lock has nothing of that kind for this runtime, or has it no longer.',
    hint: prose`See which version is in use: ${meshwright('facts', '--fact', 'trees')}`,
  },
} as const satisfies Record<string, CodeEntry>;
