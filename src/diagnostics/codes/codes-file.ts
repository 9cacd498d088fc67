import { blank, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { CodeEntry } from '../code-entry.ts';
import { placementCodes, settleCodes } from './codes-placement.ts';
import { ruleCodes } from './codes-rules.ts';
import { endpointCodes } from './rack/codes-endpoint.ts';

/** Codes about the text of a YAML file, before anybody asks what it means. */
const yamlCodes = {
  'yaml/too-large': {
    summary: 'The file is too large.',
    cause: 'More than 512 KiB: no rack needs that much, so it is probably another file.',
    hint: 'Check that the right file was given.',
  },
  'yaml/not-utf8': {
    summary: 'The file is not UTF-8 text.',
    cause: 'Bytes that no UTF-8 text has: UTF-16, an old code page, or a binary file.',
    hint: 'Save the file as UTF-8.',
  },
  'yaml/control-character': {
    summary: 'The file contains a character that nobody can see.',
    cause:
      'Control and bidirectional characters, lone carriage returns and broken surrogates change what a reader sees or what a terminal does.',
    hint: 'Delete the marked character.',
  },
  'yaml/empty': {
    summary: 'The file is empty.',
    cause: 'It holds no value: nothing, or nothing but comments.',
    hint: prose`Restore it. To start from an example: ${meshwright('sim example', blank('FOLDER'))}`,
  },
  'yaml/syntax': {
    summary: 'This is not valid YAML.',
    cause: 'The file breaks the grammar of YAML 1.2.',
    hint: prose`Correct the marked place. To see every section: ${meshwright('sim example', blank('FOLDER'))}`,
  },
  'yaml/tab': {
    summary: 'A tab is used for indentation.',
    cause: 'YAML allows only spaces before a key: how wide a tab is differs between editors.',
    hint: 'Replace the tab by spaces.',
  },
  'yaml/several-documents': {
    summary: 'The file holds more than one document.',
    cause: 'A second `---` starts another document, which would be ignored.',
    hint: 'Keep one document per file: remove the `---` and what does not belong here.',
  },
  'yaml/directive': {
    summary: 'This YAML directive is not supported.',
    cause: '`%YAML 1.1` and `%TAG` change what the rest of the file means; the file is read as YAML 1.2.',
    hint: 'Remove the line.',
  },
  'yaml/too-deep': {
    summary: 'The file is nested too deeply.',
    cause: 'More than 64 levels; a cluster file needs five.',
    hint: 'Check the brackets at the marked place.',
  },
  'yaml/too-many-values': {
    summary: 'The file unfolds to too many values.',
    cause: 'Aliases of aliases multiply: a few lines can stand for billions of values.',
    hint: 'Write the values out, or use fewer aliases.',
  },
  'yaml/bad-alias': {
    summary: 'This alias stands for nothing usable.',
    cause:
      'The anchor is missing, comes later in the file, or contains the alias itself; or what is merged is not a map.',
    hint: 'Correct the name after the `*`, or write the value out.',
  },
  'yaml/foreign-tag': {
    summary: 'This YAML tag is not supported.',
    cause:
      'Tags such as `!!js/function` ask a reader to build objects of a programming language; only plain values are read.',
    hint: 'Remove the tag.',
  },
  'yaml/bad-key': {
    summary: 'This key is not a text.',
    cause: 'A key is empty, or is itself a list or a map.',
    hint: 'Write the key as a plain word.',
  },
  'yaml/duplicate-key': {
    summary: 'A key stands twice in one map.',
    cause: 'One of the two would be lost, and which one differs between readers.',
    hint: 'Keep one of the two.',
  },
  'yaml/ambiguous-text': {
    severity: 'warning',
    summary: 'Other YAML readers take this text for something else.',
    cause:
      'Words such as no and on are booleans in YAML 1.1, 1e3 is a number and 2026-12-01 a date; here the text is kept as it is written.',
    hint: 'Put it in quotes.',
  },
  'yaml/ambiguous-number': {
    summary: 'This number means different things to different readers.',
    cause: 'YAML 1.1 and YAML 1.2 read octal numbers, leading zeros and exponents in different ways.',
    hint: 'Write the number with decimal digits only, without a leading zero.',
  },
  'yaml/more-problems': {
    severity: 'notice',
    summary: 'There are more problems than are shown.',
    cause: 'Only the first hundred problems of a file are shown.',
    hint: 'Correct these and check again.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about the form of a file: which keys it has and what may stand there. */
const schemaCodes = {
  'schema/unsupported-version': {
    summary: 'The file has a format that this meshwright does not know.',
    cause: 'The number at the top of the file says for which format it was written.',
    hint: 'Write `schema: 1`, or use the meshwright that wrote the file.',
  },
  'schema/unknown-key': {
    summary: 'This key is not known.',
    cause: 'A misspelt key, or one that stands in the wrong section. No key is accepted and ignored.',
    hint: 'See docs/cluster-yaml.md for every key.',
  },
  'schema/missing-key': {
    summary: 'A key is missing.',
    cause: 'This section needs the key and has no default for it.',
    hint: 'Add the key.',
  },
  'schema/wrong-type': {
    summary: 'Another kind of value belongs here.',
    cause: 'A text stands where a number belongs, a single value where a list belongs, or nothing at all.',
    hint: 'See docs/cluster-yaml.md for what belongs here.',
  },
  'schema/not-allowed': {
    summary: 'This value is not one of those allowed.',
    cause: 'Only a few words are allowed here.',
    hint: 'Use one of the allowed words.',
  },
  'schema/out-of-range': {
    summary: 'This value is too large or too small.',
    cause: 'A number, a length or a count is outside its bounds.',
    hint: 'Use a value inside the bounds.',
  },
  'schema/bad-form': {
    summary: 'This text does not have the form that is needed here.',
    cause: 'Names, sizes, versions, links and addresses each have a fixed form.',
    hint: 'See docs/cluster-yaml.md for the form.',
  },
  'schema/bad-name': {
    summary: 'This name cannot be used.',
    cause: 'Names become parts of file names, labels and addresses on the nodes, so only few characters are allowed.',
    hint: 'Use lower-case letters, digits and dashes.',
  },
  'schema/unsafe-text': {
    summary: 'This text could be taken for an option, a command or a path.',
    cause:
      'Hosts, users and names reach command lines on this machine and on the nodes; what could act there is refused.',
    hint: 'Use only the characters that are allowed here.',
  },
} as const satisfies Record<string, CodeEntry>;

const lockCodes = {
  'lock/bad-host-key': {
    summary: 'This is not a host key.',
    cause: 'The text is not a key type and its base64, or the key inside is of another type.',
    hint: prose`Restore the file from version control, or remove the line and run: ${meshwright('enroll')}`,
  },
  'lock/two-keys-of-one-type': {
    summary: 'An address has two keys of the same type.',
    cause: 'A host has one key of each type; a merge of two branches may have kept both.',
    hint: 'Compare both with the Mac itself (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub) and remove the wrong one.',
  },
  'lock/bad-network': {
    summary: 'This is not a /30 network.',
    cause: 'The network of a link is written as its first address, a multiple of four, and /30.',
    hint: 'Restore the file from version control; nobody needs to edit it.',
  },
  'lock/network-twice': {
    summary: 'Two links have the same network.',
    cause: 'A network belongs to one cable; a merge of two branches may have given it to two.',
    hint: 'Remove the line of the newer link: it gets another network at the next plan.',
  },
  'lock/link-twice': {
    summary: 'A link has two networks.',
    cause: 'A cable has one /30; a merge of two branches may have kept both.',
    hint: 'Keep the line that was there first: its addresses are on the nodes.',
  },
} as const satisfies Record<string, CodeEntry>;

const selectCodes = {
  'select/unknown-node': {
    summary: 'There is no node of this name.',
    cause: 'The name that was asked for stands nowhere under `nodes`.',
    hint: 'Use a name of the file.',
  },
  'select/bad-label': {
    summary: 'This is not a label selector.',
    cause: 'A selector is key=value or key!=value; a comma means that all of them must hold.',
    hint: 'Write it like: -l role=worker',
  },
  'select/nothing': {
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
