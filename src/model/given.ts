type Given<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Returns the fields that have a value: `{ ...given({ port }) }` has no key `port` if `port` is undefined. */
export const given = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;

/** One entry of a list in a document. A field without a value is absent, not undefined. */
export type ItemOf<List extends readonly unknown[]> = {
  readonly [Key in keyof List[number]]: Exclude<List[number][Key], undefined>;
};
