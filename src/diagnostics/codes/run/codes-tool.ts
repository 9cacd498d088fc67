import { blank, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about the command line and meshwright itself. */
export const toolCodes = {
  'cli/usage': {
    severity: 'error',
    summary: 'The command line cannot be understood.',
    cause: 'A verb, option or target that does not exist, or one that is missing.',
    hint: 'See: meshwright --help',
  },
  'cli/no-cluster-file': {
    severity: 'error',
    summary: 'There is no cluster file.',
    cause: 'Neither -f nor MESHWRIGHT_FILE is given, and no cluster.yaml lies in this folder or above it.',
    hint: prose`Say which one: meshwright -f path/to/cluster.yaml. To start from an example: ${meshwright('sim example', blank('FOLDER'))}`,
  },
  'cli/cannot-read': {
    severity: 'error',
    summary: 'A file cannot be read.',
    cause: 'The path does not exist, is a folder, or this user may not read it.',
    hint: 'Check the path and its permissions.',
  },
  'cli/cannot-write': {
    severity: 'error',
    summary: 'A file cannot be written.',
    cause: 'The folder is missing, full or read-only for this user.',
    hint: 'Check the folder, its free space and its permissions; nothing was changed.',
  },
  'cli/log-incomplete': {
    severity: 'warning',
    summary: 'The log of this run may be incomplete; the run goes on.',
    cause:
      'A line could not be written to the file of `--log` while the verb was at work, mostly because its disk is full. Stopping half way would leave nodes half changed.',
    hint: prose`Free space on that disk: lines that wait are written with the next one. What was done is in the journal: ${meshwright('history')}`,
  },
  'cli/file-open-to-others': {
    severity: 'warning',
    summary: 'Another user can change this file.',
    cause:
      'A cluster file, its lock, a playbook or a saved plan decides which Macs are reached and what is done to them. This one, or a folder above it, can be written by every user or by a group, or belongs to another user. With CI=true this is an error.',
    hint: 'Close it to others: chmod go-w, or chown to yourself.',
  },
  'cli/needs-yes': {
    severity: 'error',
    summary: 'Nothing was changed: nobody was there to say yes.',
    cause: 'A verb that writes was started without a terminal and without --yes.',
    hint: 'Add --yes once you know what it will do.',
  },
  'run/interrupted': {
    severity: 'error',
    summary: 'The run was interrupted before this node was reached.',
    cause: 'Ctrl-C, a closed terminal or a TERM signal ended the run.',
    hint: 'Run it again.',
  },
  'internal/bug': {
    severity: 'error',
    summary: 'This is a bug in meshwright.',
    cause: 'Something was thrown that no code path expects.',
    hint: 'Please report it with the text above; nothing that was done is lost.',
  },
} as const satisfies Record<string, CodeEntry>;
