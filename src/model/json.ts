/** A value that JSON can carry: what plans, records and node scripts are made of. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
