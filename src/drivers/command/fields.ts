import { listText, meant, suggesterAmong } from '../../desired/did-you-mean.ts';
import type { Draft } from '../../desired/draft.ts';
import type { Finding, Rule } from '../../desired/rules/rule.ts';
import type { Text } from '../../model/step.ts';
import { runtimeSubject } from '../../model/subject.ts';

/** Every field that a word of a runtime's command can have, with what it becomes. A list that is closed. */
export const commandFields = {
  runtime: 'folder of the unpacked archive',
  model: 'folder of the model',
  rank: 'number of this rank, from 0',
  size: 'how many ranks there are',
  address: 'address of this rank on the cable from the rank before it; 127.0.0.1 for a single rank',
  port: 'port on which the ranks of this start meet',
  peers: '{address}:{port} of every rank, in rank order, with commas',
  endpoint: 'port of the endpoint',
  generation: 'number of this start',
  context: 'tokens of context',
  sharding: 'tensor, pipeline, or none for a node without it',
  name: 'name of the placement',
  node: 'name of the node',
} as const;

/** A field that exists. */
export type CommandField = keyof typeof commandFields;

/** Whether a word between braces is a field. */
const isCommandField = (name: string): name is CommandField => Object.hasOwn(commandFields, name);

/** A word in braces, with the characters of the text that it takes: offsets from 0, `end` excluded. */
interface FieldUse {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Every `{word}` of a text in order, known or not. Other braces, as in JSON, are text.
 *
 * @example fieldsIn('{address}:{port}').map(({ name }) => name) // ['address', 'port']
 */
export const fieldsIn = (text: string): readonly FieldUse[] =>
  [...text.matchAll(/\{([A-Za-z][A-Za-z0-9_-]*)\}/g)].map((match) => ({
    name: match[1] ?? '',
    start: match.index,
    end: match.index + match[0].length,
  }));

/**
 * A text with its fields filled in, once and from left to right: a value that looks like a field stays as it is. What
 * is no field stays too.
 */
export function fillFields(text: string, textFor: (field: CommandField) => Text): Text {
  const filled: Text[number][] = [];
  let at = 0;
  for (const { name, start, end } of fieldsIn(text)) {
    if (!isCommandField(name)) continue;
    filled.push(text.slice(at, start), ...textFor(name));
    at = end;
  }
  return [...filled, text.slice(at)].filter((part) => part !== '');
}

const names = Object.keys(commandFields);
const inBraces = (name: string): string => `{${name}}`;
const ports: readonly string[] = ['port', 'endpoint'];

/** What a command line can have wrong, whatever driver the file gives its runtime. */
export const rules: readonly Rule[] = [unknownField, programNotFound];

/** Every field of a command line exists, and what a joined member listens on is a port. */
function unknownField(draft: Draft): readonly Finding[] {
  const near = suggesterAmong(names);
  const all = `The fields are ${listText(names.map(inBraces))}.`;
  return draft.runtimes.flatMap(({ name, command, listening }) => {
    const subject = runtimeSubject(name);
    const inWords = command.flatMap(({ pointer, text }) =>
      fieldsIn(text)
        .filter((field) => !isCommandField(field.name))
        .map(({ name: field, ...part }): Finding => {
          const likely = near(field);
          const detail = `There is no field ${inBraces(field)}.`;
          const words = meant(likely && inBraces(likely), all);
          return { code: 'runtime/unknown-field', pointer, part, detail, subject, ...words };
        }),
    );
    const inListening = (listening?.isText ? fieldsIn(listening.text) : [])
      .filter((field) => !ports.includes(field.name))
      .map(
        ({ name: field, ...part }): Finding => ({
          code: 'runtime/unknown-field',
          pointer: listening?.pointer ?? '',
          part,
          detail: `${inBraces(field)} is no port.`,
          hint: 'Write "{port}", where the ranks meet, or "{endpoint}".',
          subject,
        }),
      );
    return [...inWords, ...inListening];
  });
}

/** The program of a command line is named by a path: inside the archive, or absolute on the Mac. */
function programNotFound(draft: Draft): readonly Finding[] {
  return draft.runtimes.flatMap(({ name, pointer, command: [program] }) => {
    const isFirst = program?.pointer === `${pointer}/command/0`;
    if (program === undefined || !isFirst || /^(?:\{runtime\})?\/[^/]/.test(program.text)) return [];
    return {
      code: 'runtime/program-not-found',
      pointer: program.pointer,
      detail: `\`${program.text.slice(0, 60)}\` is not a path from {runtime} or from the root.`,
      subject: runtimeSubject(name),
    };
  });
}
