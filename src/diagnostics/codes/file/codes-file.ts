import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';
import { endpointCodes } from '../rack/codes-endpoint.ts';
import { placementCodes, settleCodes } from './codes-placement.ts';
import { ruleCodes } from './codes-rules.ts';
import { schemaCodes } from './codes-schema.ts';
import { yamlCodes } from './codes-yaml.ts';

const lockCodes = {
  'lock/bad-host-key': {
    severity: 'error',
    summary: 'This is not a host key.',
    cause: 'The text is not a key type and its base64, or the key inside is of another type.',
    hint: prose`Restore the file from version control, or remove the line and run: ${meshwright('enroll')}`,
  },
  'lock/two-keys-of-one-type': {
    severity: 'error',
    summary: 'An address has two keys of the same type.',
    cause: 'A host has one key of each type; a merge of two branches may have kept both.',
    hint: 'Compare both with the Mac itself (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub) and remove the wrong one.',
  },
  'lock/bad-network': {
    severity: 'error',
    summary: 'This is not a /30 network.',
    cause: 'The network of a link is written as its first address, a multiple of four, and /30.',
    hint: 'Restore the file from version control; nobody needs to edit it.',
  },
  'lock/network-twice': {
    severity: 'error',
    summary: 'Two links have the same network.',
    cause: 'A network belongs to one cable; a merge of two branches may have given it to two.',
    hint: 'Remove the line of the newer link: it gets another network at the next plan.',
  },
  'lock/link-twice': {
    severity: 'error',
    summary: 'A link has two networks.',
    cause: 'A cable has one /30; a merge of two branches may have kept both.',
    hint: 'Keep the line that was there first: its addresses are on the nodes.',
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
  ...endpointCodes,
  ...lockCodes,
  ...settleCodes,
  ...selectCodes,
};
