/** One finding of a generated validator, in the form that ajv gives it. */
export interface SchemaError {
  /** JSON pointer of the value; of the map, when a key is wrong. */
  readonly instancePath: string;
  /** Place of the violated keyword in the schema, such as `#/$defs/host/pattern`. */
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Set when the error is about the name of a key. */
  readonly propertyName?: string;
}

/** A schema with the validator that was generated from it. */
export interface CompiledSchema {
  readonly schema: unknown;
  readonly validate: {
    (data: unknown): boolean;
    readonly errors?: readonly SchemaError[] | null;
  };
}
