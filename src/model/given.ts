type Given<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The fields that have a value: `{ ...given({ port }) }` has no key `port` where that is undefined. */
export const given = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
