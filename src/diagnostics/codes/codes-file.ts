import { blank, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type CodeEntry, withExit } from '../code-entry.ts';
import { placementCodes, settleCodes } from './codes-placement.ts';
import { ruleCodes } from './codes-rules.ts';

/** Codes about a file's YAML text; other codes are about its meaning. */
const yamlCodes = {
  'yaml/too-large': {
    summary: 'The file is too large.',
    cause: 'It has more than 512 KiB. No cluster file needs that much, so it is probably the wrong file.',
    hint: 'Check that you gave the right file.',
  },
  'yaml/not-utf8': {
    summary: 'The file is not UTF-8 text.',
    cause: 'Some bytes are not valid UTF-8. The file may be UTF-16, use an old code page or be a binary file.',
    hint: 'Save the file as UTF-8.',
  },
  'yaml/control-character': {
    summary: 'The file contains an invisible character.',
    cause: 'Control and bidirectional characters, lone carriage returns and broken surrogates hide what is there.',
    hint: 'Delete the marked character.',
  },
  'yaml/empty': {
    summary: 'The file is empty.',
    cause: 'It has no value: either nothing at all or only comments.',
    hint: prose`Restore the file. To start from an example: ${meshwright('sim example', blank('FOLDER'))}`,
  },
  'yaml/syntax': {
    summary: 'This is not valid YAML.',
    cause: 'The file does not follow the YAML 1.2 grammar.',
    hint: prose`Correct the marked place. To see every section: ${meshwright('sim example', blank('FOLDER'))}`,
  },
  'yaml/tab': {
    summary: 'A tab is used for indentation.',
    cause: 'YAML allows only spaces for indentation, because the width of a tab differs between editors.',
    hint: 'Replace the tab with spaces.',
  },
  'yaml/several-documents': {
    summary: 'The file contains more than one document.',
    cause: 'A second `---` starts another document, which would be ignored.',
    hint: 'Keep one document per file: remove the `---` and everything that belongs to another document.',
  },
  'yaml/directive': {
    summary: 'This YAML directive is not supported.',
    cause: '`%YAML 1.1` and `%TAG` change the meaning of the rest of the file. meshwright always reads YAML 1.2.',
    hint: 'Remove the line.',
  },
  'yaml/too-deep': {
    summary: 'The file is nested too deeply.',
    cause: 'It has more than 64 levels. A cluster file needs five.',
    hint: 'Check the brackets at the marked place.',
  },
  'yaml/too-many-values': {
    summary: 'The file expands to too many values.',
    cause: 'Aliases of aliases multiply: a few lines can expand to billions of values.',
    hint: 'Write the values out, or use fewer aliases.',
  },
  'yaml/bad-alias': {
    summary: 'This alias cannot be resolved.',
    cause: 'The anchor is missing, comes later or contains the alias itself. Or the merged value is not a map.',
    hint: 'Correct the name after the `*`, or write the value out.',
  },
  'yaml/foreign-tag': {
    summary: 'This YAML tag is not supported.',
    cause: 'Tags such as `!!js/function` make a reader build objects. meshwright reads only plain values.',
    hint: 'Remove the tag.',
  },
  'yaml/bad-key': {
    summary: 'This key is not a non-empty string.',
    cause: 'A key is empty, or is itself a list or a map.',
    hint: 'Write the key as a plain word.',
  },
  'yaml/duplicate-key': {
    summary: 'A key appears twice in one map.',
    cause: 'One of the two would be lost, and readers differ in which one they keep.',
    hint: 'Keep one of the two.',
  },
  'yaml/ambiguous-text': {
    severity: 'warning',
    traits: ['ambiguous-value'],
    summary: 'Other YAML readers may not treat this value as text.',
    cause: 'To YAML 1.1, `no` is a boolean, `1e3` a number and `2026-12-01` a date. meshwright keeps the text.',
    hint: 'Put it in quotes.',
  },
  'yaml/ambiguous-number': {
    traits: ['ambiguous-value'],
    summary: 'Different YAML readers read this number differently.',
    cause: 'YAML 1.1 and 1.2 differ in octal and hexadecimal numbers, leading zeros and exponents.',
    hint: 'Write the number with decimal digits only, without a leading zero.',
  },
  'yaml/more-problems': {
    severity: 'notice',
    summary: 'There are more problems than shown.',
    cause: 'Only the first 100 problems of a file are shown.',
    hint: 'Correct these problems, then check again.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about a file's form: its keys and the types of their values. */
const schemaCodes = {
  'schema/unsupported-version': {
    summary: 'This version of meshwright does not support this file format.',
    cause: 'The number at the top of the file is its format version.',
    hint: 'Write `schema: 1`, or use the meshwright version that wrote the file.',
  },
  'schema/unknown-key': {
    summary: 'Unknown key.',
    cause: 'The key is misspelled or in the wrong section. meshwright never ignores a key silently.',
    hint: 'See all keys in docs/cluster-yaml.md.',
  },
  'schema/missing-key': {
    traits: ['missing-key'],
    summary: 'A key is missing.',
    cause: 'This key is required: it has no default.',
    hint: 'Add the key.',
  },
  'schema/wrong-type': {
    summary: 'This value has the wrong type.',
    cause: 'For example, it has text instead of a number, a single value instead of a list, or no value.',
    hint: 'See docs/cluster-yaml.md for the expected type.',
  },
  'schema/not-allowed': {
    summary: 'This value is not one of the allowed values.',
    cause: 'This key accepts only a few fixed values.',
    hint: 'Use one of the allowed values.',
  },
  'schema/out-of-range': {
    summary: 'This value is too large or too small.',
    cause: 'The number, length or count is outside the allowed range.',
    hint: 'Use a value within the range.',
  },
  'schema/bad-form': {
    summary: 'This text does not have the required form.',
    cause: 'Names, sizes, versions, links and addresses each have a fixed form.',
    hint: 'See docs/cluster-yaml.md for the form.',
  },
  'schema/bad-name': {
    summary: 'This name is not valid.',
    cause: 'Names become parts of file names, labels and addresses on the nodes, so only a few characters are allowed.',
    hint: 'Use lowercase letters, digits and dashes.',
  },
  'schema/unsafe-text': {
    summary: 'This text could be read as an option, a command or a path.',
    cause: 'Hosts, users and names become part of command lines, so unsafe characters are refused.',
    hint: 'Use only the allowed characters.',
  },
} as const satisfies Record<string, CodeEntry>;

const lockCodes = {
  'lock/bad-host-key': {
    summary: 'This is not a host key.',
    cause: 'The text is not a key type followed by base64, or the base64 contains a key of a different type.',
    hint: prose`Restore the file from version control, or remove the line and run: ${meshwright('enroll')}`,
  },
  'lock/two-keys-of-one-type': {
    summary: 'An address has two keys of the same type.',
    cause: 'A host has one key of each type. A merge of two branches may have kept two.',
    hint: 'Compare both keys with the key on the Mac (`ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`), and remove the wrong one.',
  },
  'lock/bad-network': {
    summary: 'This is not a /30 network.',
    cause: "A link's network is its first address, a multiple of four, followed by /30.",
    hint: 'Restore the file from version control. This value never needs to be edited by hand.',
  },
  'lock/network-twice': {
    summary: 'Two links have the same network.',
    cause: 'Each cable needs a separate network. A merge of two branches may have given two cables the same network.',
    hint: 'Remove the line of the newer link. The next plan gives that link another network.',
  },
  'lock/link-twice': {
    summary: 'A link has two networks.',
    cause: 'A cable has one /30 network. A merge of two branches may have kept two.',
    hint: 'Keep the older line: its addresses are on the nodes.',
  },
} as const satisfies Record<string, CodeEntry>;

const selectCodes = {
  'select/unknown-node': {
    traits: ['whole-detail'],
    summary: 'There is no node with this name.',
    cause: 'The requested name is not a key under `nodes`.',
    hint: 'Use a node from the cluster file.',
  },
  'select/bad-label': {
    summary: 'This is not a label selector.',
    cause: 'A selector is `key=value` or `key!=value`. A node must match all that are separated by commas.',
    hint: 'Write it like this: `-l role=worker`',
  },
  'select/nothing': {
    summary: 'No node matches.',
    cause: 'No node has all of the requested names and labels.',
    hint: 'Use labels that at least one node has.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about `cluster.yaml` and `cluster.lock`, and about selecting nodes. */
export const fileCodes = {
  ...withExit(65, {
    ...yamlCodes,
    ...schemaCodes,
    ...ruleCodes,
    ...placementCodes,
    ...lockCodes,
    ...settleCodes,
  }),
  ...withExit(64, selectCodes),
};
