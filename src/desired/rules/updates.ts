import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Draft } from '../draft.ts';
import { fieldsOf, updateFields } from '../update-command.ts';
import type { FileFinding, FileRule } from './rule.ts';

/** The rules for the command that installs macOS updates. */
export const updateRules: readonly FileRule[] = [badCommand];

function badCommand({ updates: { driver, command, commandPointer: pointer } }: Draft): readonly FileFinding[] {
  const [program, ...words] = command;
  const bad = (detail: string, more: Partial<FileFinding> = {}): readonly FileFinding[] => [
    { code: 'upgrade/bad-command', pointer, detail, ...more },
  ];
  if (driver?.text !== 'command') {
    const hint = 'Add `driver: command`, or remove the command.';
    return program === undefined ? [] : bad(`The driver ${driver?.text ?? 'manual'} runs no command.`, { hint });
  }
  if (program === undefined) return bad('`command` is missing.', { pointer: driver.pointer });
  if (program.text.trim() === '') return bad('The program is empty.', { pointer: program.pointer });
  const [unknown] = words.flatMap((word) =>
    fieldsOf(word.text)
      .filter((name) => !updateFields.some((one) => one === name))
      .map((name) => ({ word, name, start: word.text.indexOf(`{${name}}`) })),
  );
  if (unknown !== undefined) {
    const { word, name, start } = unknown;
    const near = didYouMean(name, updateFields);
    return bad(`\`{${name}}\` is not a field. The fields are ${listText(updateFields)}.`, {
      pointer: word.pointer,
      part: { start, end: start + name.length + 2 },
      ...given({ label: near && `did you mean {${near}}?` }),
    });
  }
  const used = words.flatMap(({ text }) => fieldsOf(text));
  if (!used.includes('phase'))
    return bad('No argument contains `{phase}`, so it would already install when it should download.');
  if (used.includes('node') || used.includes('host')) return [];
  return bad('No argument contains `{node}` or `{host}`, so it would do the same for every Mac.');
}
