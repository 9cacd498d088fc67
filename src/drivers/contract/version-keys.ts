import { isTreePath } from '../../desired/tree-paths.ts';

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Whether a value can be the path of a program in an archive. */
export const isProgram = (value: unknown): value is string => isText(value) && isTreePath(value);

export const isOneOf = <T extends string>(value: unknown, ...words: readonly T[]): value is T =>
  words.some((word) => word === value);
