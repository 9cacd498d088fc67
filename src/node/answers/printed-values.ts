import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled, readLines } from './read-answer.ts';

/**
 * The values of the names asked for, in their order, from lines such as
 *
 *     hw.memsize: 549755813888
 *     machdep.cpu.brand_string: Apple M3 Ultra
 *
 * The tool ends with 1 when it does not know one name, and prints the others all the same.
 */
export function sysctlValues(answer: Answer | undefined, names: readonly string[]): Known<readonly string[]> {
  const lines = readLines(answer, { exits: [0, 1] });
  if (lines.kind === 'unknown') return lines;
  const values = new Map<string, string>();
  for (const line of lines.value) {
    const [, name = '', value = ''] = /^([a-z][\w.]*): (.*)$/.exec(line) ?? [];
    if (name === '' || values.has(name)) return garbled(answer, 'printed a line without a value');
    values.set(name, value);
  }
  const missing = names.find((name) => !values.has(name));
  return missing === undefined ? known(names.map((name) => values.get(name) ?? '')) : without(answer, missing);
}

function without(answer: Answer | undefined, name: string): Known<never> {
  const isUnknownName = answer?.stderr.includes(`unknown oid '${name}'`) ?? false;
  return isUnknownName
    ? unknown('failed', `This macOS does not know sysctl ${name}.`)
    : garbled(answer, `did not print ${name}`);
}
