/** The name of one Mac in `cluster.yaml`; lower-case letters, digits and dashes, at most 63 characters. */
export type NodeName = string & { readonly brand: 'NodeName' };

/** Brands a text that the schema's grammar has already judged to be a node name. */
export const nodeName = (text: string): NodeName => text as NodeName;
