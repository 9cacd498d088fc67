/** A word in braces that is filled in. */
export type Field = 'cluster' | 'nodes' | 'placements' | 'node' | 'host';

/** What a sentence may hold: it is said once for a whole batch. */
export const sentenceFields: readonly Field[] = ['cluster', 'nodes', 'placements'];

/** What a word of a command may hold: it is run on each node by itself. */
export const commandFields: readonly Field[] = ['cluster', 'node', 'host'];

/** A field as a text has it; `end` is behind the closing brace. */
export interface FieldPlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const braces = /\{\{|\{([A-Za-z][A-Za-z-]*)\}/g;

/** Every field of a text, known or not. `{{` is a brace and begins none. */
export const fieldsIn = (text: string): readonly FieldPlace[] =>
  [...text.matchAll(braces)].flatMap(({ 0: whole, 1: name, index }) =>
    name === undefined ? [] : [{ name, start: index, end: index + whole.length }],
  );

/** The text with its fields filled in, once: what a value holds is never looked at again. `{{` becomes one brace. */
export const fillFields = (text: string, values: Readonly<Partial<Record<Field, string>>>): string =>
  text.replaceAll(braces, (whole, name: string | undefined) => {
    if (name === undefined) return '{';
    const value = Object.entries(values).find(([field]) => field === name)?.[1];
    return value ?? whole;
  });
