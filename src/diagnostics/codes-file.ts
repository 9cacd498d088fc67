import type { CodeEntry } from './code-entry.ts';
import { placementCodes, settleCodes } from './codes-placement.ts';
import { ruleCodes } from './codes-rules.ts';
import { schemaCodes } from './codes-schema.ts';
import { yamlCodes } from './codes-yaml.ts';

const lockCodes = {
  'lock/bad-host-key': {
    severity: 'error',
    summary: 'This is not a host key.',
    cause: 'The text is not a key type and its base64, or the key inside is of another type.',
    hint: 'Restore the file from version control, or remove the line and run: meshwright enroll',
  },
  'lock/two-keys-of-one-type': {
    severity: 'error',
    summary: 'An address has two keys of the same type.',
    cause: 'A host has one key of each type; a merge of two branches may have kept both.',
    hint: 'Compare both with the Mac itself (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub) and remove the wrong one.',
  },
} as const satisfies Record<string, CodeEntry>;

const selectCodes = {
  'select/unknown-node': {
    severity: 'error',
    summary: 'There is no node of this name.',
    cause: 'The name that was asked for stands nowhere under `nodes`.',
    hint: 'Use a name of the file.',
  },
  'select/bad-label': {
    severity: 'error',
    summary: 'This is not a label selector.',
    cause: 'A selector is key=value or key!=value; a comma means that all of them must hold.',
    hint: 'Write it like: -l role=worker',
  },
  'select/nothing': {
    severity: 'error',
    summary: 'No node is selected.',
    cause: 'No node has all the names and labels that were asked for.',
    hint: 'Ask for labels that a node has.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about `cluster.yaml` and `cluster.lock`, and about choosing nodes of it. */
export const fileCodes = {
  ...yamlCodes,
  ...schemaCodes,
  ...ruleCodes,
  ...placementCodes,
  ...lockCodes,
  ...settleCodes,
  ...selectCodes,
};
