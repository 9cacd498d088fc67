import { type CommandField, fieldsIn, isCommandField } from '../../desired/command-fields.ts';
import type { NodePath } from '../../model/node-path.ts';
import type { Text } from '../../model/step.ts';
import { joinText } from '../text.ts';

/**
 * A word of the file with its fields filled in, once: what a value brings with it is not read again. Braces that are
 * no field stay as they are.
 *
 * @example
 * fillWord('{address}:{port}', values) // ['10.77.0.1:49152']
 */
export function fillWord(word: string, values: Readonly<Record<CommandField, string | NodePath>>): Text {
  const parts: (string | NodePath)[] = [];
  let at = 0;
  for (const { name, start, end } of fieldsIn(word)) {
    if (!isCommandField(name)) continue;
    parts.push(word.slice(at, start), values[name]);
    at = end;
  }
  return joinText([...parts, word.slice(at)]);
}
