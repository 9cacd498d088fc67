import { runtimeSubject } from '../../../model/subject.ts';
import { listText, suggesterAmong } from '../../did-you-mean.ts';
import type { Draft } from '../../draft/draft.ts';
import type { DraftText } from '../../draft/draft-values.ts';
import type { Finding } from '../../draft/finding.ts';
import { commandFields, type FieldUse, fieldsIn, isCommandField } from '../../drivers/command-fields.ts';

const names = Object.keys(commandFields);
const inBraces = (name: string): string => `{${name}}`;
const ports: readonly string[] = ['port', 'endpoint'];

/** Every field of a command line exists, and what a joined member listens on is a port. */
export function unknownField(draft: Draft): readonly Finding[] {
  const near = suggesterAmong(names);
  return draft.runtimes.flatMap(({ name, command, listening }) => {
    const subject = runtimeSubject(name);
    const inWords = command.flatMap((word) =>
      fieldsIn(word.text)
        .filter((field) => !isCommandField(field.name))
        .map((field) => ({ ...unknown(word, field, near(field.name)), subject })),
    );
    const inListening = (listening?.isText ? fieldsIn(listening.text) : [])
      .filter((field) => !ports.includes(field.name))
      .map((field) => ({ ...noPort(listening, field), subject }));
    return [...inWords, ...inListening];
  });
}

function unknown(word: DraftText, { name, start, end }: FieldUse, near: string | undefined): Finding {
  const all = `The fields are ${listText(names.map(inBraces))}.`;
  return {
    code: 'runtime/unknown-field',
    pointer: word.pointer,
    at: 'value',
    part: { start, end },
    detail: `There is no field ${inBraces(name)}.`,
    hint: near === undefined ? all : `Did you mean \`${inBraces(near)}\`?`,
    ...(near === undefined ? {} : { label: `did you mean ${inBraces(near)}?` }),
  };
}

function noPort(text: DraftText | undefined, { name, start, end }: FieldUse): Finding {
  return {
    code: 'runtime/unknown-field',
    pointer: text?.pointer ?? '',
    at: 'value',
    part: { start, end },
    detail: `${inBraces(name)} is no port.`,
    hint: 'Write "{port}", where the ranks meet, or "{endpoint}".',
  };
}
