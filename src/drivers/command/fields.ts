import { meant, suggesterAmong } from '../../desired/did-you-mean.ts';
import type { Draft } from '../../desired/draft.ts';
import type { Finding, Rule } from '../../desired/rules/rule.ts';
import { listText } from '../../model/lists.ts';
import type { Text } from '../../model/step.ts';
import { runtimeSubject } from '../../model/subject.ts';

/** Every field that a runtime's command can use, with a description of its value. */
export const commandFields = {
  runtime: 'folder of the unpacked archive',
  model: 'folder of the model',
  rank: 'number of this rank, from 0',
  size: 'number of ranks',
  address: 'address of this rank on the cable from the previous rank; 127.0.0.1 for a single rank',
  port: 'port where the ranks of this start meet',
  peers: '{address}:{port} of every rank, in rank order, separated by commas',
  endpoint: 'port of the endpoint',
  generation: 'number of this start',
  context: 'context length in tokens',
  sharding: '`tensor` or `pipeline`; `none` without sharding',
  name: 'name of the placement',
  node: 'name of the node',
} as const;

export type CommandField = keyof typeof commandFields;

const isCommandField = (name: string): name is CommandField => Object.hasOwn(commandFields, name);

/**
 * Every `{name}` in a text, known or not, in order; each extends from `start` up to but excluding `end`. Other braces,
 * for example in JSON, are plain text.
 *
 * @example fieldsIn('{address}:{port}').map(({ name }) => name) // ['address', 'port']
 */
export const fieldsIn = (text: string) =>
  [...text.matchAll(/\{([A-Za-z][A-Za-z0-9_-]*)\}/g)].map((match) => ({
    name: match[1] ?? '',
    start: match.index,
    end: match.index + match[0].length,
  }));

/**
 * Fills in the fields once, from left to right. A value that looks like a field is not filled in again. Unknown fields
 * are left unchanged.
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

/** Rules about a command line, for every driver. */
export const rules: readonly Rule[] = [unknownField, programNotFound];

/** Every field of a command line must exist, and `joined.listening` must be a port field. */
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
          const detail = `Unknown field ${inBraces(field)}.`;
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
          detail: `${inBraces(field)} is not a port.`,
          hint: 'Use "{port}", where the ranks meet, or "{endpoint}".',
          subject,
        }),
      );
    return [...inWords, ...inListening];
  });
}

/** The program of a command line must be a path: inside the archive, or absolute on the Mac. */
function programNotFound(draft: Draft): readonly Finding[] {
  return draft.runtimes.flatMap(({ name, pointer, command: [program] }) => {
    const isFirst = program?.pointer === `${pointer}/command/0`;
    if (program === undefined || !isFirst || /^(?:\{runtime\})?\/[^/]/.test(program.text)) return [];
    return {
      code: 'runtime/program-not-found',
      pointer: program.pointer,
      detail: `\`${program.text.slice(0, 60)}\` is neither a path below {runtime} nor an absolute path.`,
      subject: runtimeSubject(name),
    };
  });
}
