import { tools } from '../../../../src/sim/tools/registry.ts';
import type { Source, ToolView } from '../../../../src/sim/tools/tool.ts';

/** An argument as a person would type it. */
const quoted = (word: string): string => (/\s/.test(word) ? `'${word}'` : word);

/** Every command line that this Mac answers, with its source. */
export function formsOf(view: ToolView) {
  return tools.flatMap(({ path, isPresent, rows, values, patterns = [], writes = [] }) => {
    if (isPresent?.(view.mac) === false) return [];
    const known: readonly (readonly [words: readonly string[], source: Source])[] = [
      ...(values?.(view) ?? []).map(({ name, source }) => [[name], source] as const),
      ...(rows?.(view) ?? []).map(
        ({ args, source }) =>
          [args.map((word) => (typeof word === 'string' ? quoted(word) : word.path)), source] as const,
      ),
      ...patterns.map(({ match, source }) => [[`(${match})`], source] as const),
      ...writes.map(({ form, source }) => [[form], source] as const),
      ...writes.flatMap(({ form, refusalSource }) =>
        refusalSource === undefined ? [] : [[[`${form} as a user without root`], refusalSource] as const],
      ),
    ];
    return known.map(([words, source]) => ({ command: [path, ...words].join(' '), source }));
  });
}
