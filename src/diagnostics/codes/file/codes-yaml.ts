import { blank, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about the text of a YAML file, before anybody asks what it means. */
export const yamlCodes = {
  'yaml/too-large': {
    severity: 'error',
    summary: 'The file is too large.',
    cause: 'More than 512 KiB: no rack needs that much, so it is probably another file.',
    hint: 'Check that the right file was given.',
  },
  'yaml/not-utf8': {
    severity: 'error',
    summary: 'The file is not UTF-8 text.',
    cause: 'Bytes that no UTF-8 text has: UTF-16, an old code page, or a binary file.',
    hint: 'Save the file as UTF-8.',
  },
  'yaml/control-character': {
    severity: 'error',
    summary: 'The file contains a character that nobody can see.',
    cause:
      'Control and bidirectional characters, lone carriage returns and broken surrogates change what a reader sees or what a terminal does.',
    hint: 'Delete the marked character.',
  },
  'yaml/empty': {
    severity: 'error',
    summary: 'The file is empty.',
    cause: 'It holds no value: nothing, or nothing but comments.',
    hint: prose`Restore it. To start from an example: ${meshwright('sim example', blank('FOLDER'))}`,
  },
  'yaml/syntax': {
    severity: 'error',
    summary: 'This is not valid YAML.',
    cause: 'The file breaks the grammar of YAML 1.2.',
    hint: prose`Correct the marked place. To see every section: ${meshwright('sim example', blank('FOLDER'))}`,
  },
  'yaml/tab': {
    severity: 'error',
    summary: 'A tab is used for indentation.',
    cause: 'YAML allows only spaces before a key: how wide a tab is differs between editors.',
    hint: 'Replace the tab by spaces.',
  },
  'yaml/several-documents': {
    severity: 'error',
    summary: 'The file holds more than one document.',
    cause: 'A second `---` starts another document, which would be ignored.',
    hint: 'Keep one document per file: remove the `---` and what does not belong here.',
  },
  'yaml/directive': {
    severity: 'error',
    summary: 'This YAML directive is not supported.',
    cause: '`%YAML 1.1` and `%TAG` change what the rest of the file means; the file is read as YAML 1.2.',
    hint: 'Remove the line.',
  },
  'yaml/too-deep': {
    severity: 'error',
    summary: 'The file is nested too deeply.',
    cause: 'More than 64 levels; a cluster file needs five.',
    hint: 'Check the brackets at the marked place.',
  },
  'yaml/too-many-values': {
    severity: 'error',
    summary: 'The file unfolds to too many values.',
    cause: 'Aliases of aliases multiply: a few lines can stand for billions of values.',
    hint: 'Write the values out, or use fewer aliases.',
  },
  'yaml/bad-alias': {
    severity: 'error',
    summary: 'This alias stands for nothing usable.',
    cause:
      'The anchor is missing, comes later in the file, or contains the alias itself; or what is merged is not a map.',
    hint: 'Correct the name after the `*`, or write the value out.',
  },
  'yaml/foreign-tag': {
    severity: 'error',
    summary: 'This YAML tag is not supported.',
    cause:
      'Tags such as `!!js/function` ask a reader to build objects of a programming language; only plain values are read.',
    hint: 'Remove the tag.',
  },
  'yaml/bad-key': {
    severity: 'error',
    summary: 'This key is not a text.',
    cause: 'A key is empty, or is itself a list or a map.',
    hint: 'Write the key as a plain word.',
  },
  'yaml/duplicate-key': {
    severity: 'error',
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
    severity: 'error',
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
