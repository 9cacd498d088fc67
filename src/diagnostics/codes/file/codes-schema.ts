import type { CodeEntry } from '../../code-entry.ts';

/** Codes about the form of a file: which keys it has and what may stand there. */
export const schemaCodes = {
  'schema/unsupported-version': {
    severity: 'error',
    summary: 'The file has a format that this meshwright does not know.',
    cause: 'The number at the top of the file says for which format it was written.',
    hint: 'Write `schema: 1`, or use the meshwright that wrote the file.',
  },
  'schema/unknown-key': {
    severity: 'error',
    summary: 'This key is not known.',
    cause: 'A misspelt key, or one that stands in the wrong section. No key is accepted and ignored.',
    hint: 'See docs/cluster-yaml.md for every key.',
  },
  'schema/missing-key': {
    severity: 'error',
    summary: 'A key is missing.',
    cause: 'This section needs the key and has no default for it.',
    hint: 'Add the key.',
  },
  'schema/wrong-type': {
    severity: 'error',
    summary: 'Another kind of value belongs here.',
    cause: 'A text stands where a number belongs, a single value where a list belongs, or nothing at all.',
    hint: 'See docs/cluster-yaml.md for what belongs here.',
  },
  'schema/not-allowed': {
    severity: 'error',
    summary: 'This value is not one of those allowed.',
    cause: 'Only a few words are allowed here.',
    hint: 'Use one of the allowed words.',
  },
  'schema/out-of-range': {
    severity: 'error',
    summary: 'This value is too large or too small.',
    cause: 'A number, a length or a count is outside its bounds.',
    hint: 'Use a value inside the bounds.',
  },
  'schema/bad-form': {
    severity: 'error',
    summary: 'This text does not have the form that is needed here.',
    cause: 'Names, sizes, versions, links and addresses each have a fixed form.',
    hint: 'See docs/cluster-yaml.md for the form.',
  },
  'schema/bad-name': {
    severity: 'error',
    summary: 'This name cannot be used.',
    cause: 'Names become parts of file names, labels and addresses on the nodes, so only few characters are allowed.',
    hint: 'Use lower-case letters, digits and dashes.',
  },
  'schema/unsafe-text': {
    severity: 'error',
    summary: 'This text could be taken for an option, a command or a path.',
    cause:
      'Hosts, users and names reach command lines on this machine and on the nodes; what could act there is refused.',
    hint: 'Use only the characters that are allowed here.',
  },
} as const satisfies Record<string, CodeEntry>;
