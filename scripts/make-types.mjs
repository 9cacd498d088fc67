/** Generates types from schemas, so that a document and its type have one source. */
import { readFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';
import ts from 'typescript';

const pascal = (name) => name[0].toUpperCase() + name.slice(1);

/** A schema with only a description allows any value. */
function anything(_key, value) {
  const isOpen = typeof value?.description === 'string' && Object.keys(value).length === 1;
  return isOpen ? { ...value, tsType: 'unknown' } : value;
}

/** The schema of facts says only once that each is known or unknown. A type says it for each of them. */
function eachFact(key, value) {
  if (key !== 'node' || value.allOf === undefined) return anything(key, value);
  const { allOf: _once, properties, ...node } = value;
  const known = { additionalProperties: false, required: ['value'] };
  const facts = Object.entries(properties).map(([name, fact]) => [
    name,
    { oneOf: [{ ...fact, ...known }, { $ref: '#/$defs/unknown' }] },
  ]);
  return { ...node, properties: Object.fromEntries(facts) };
}

async function typesOf(schema, name) {
  const text = readFileSync(`schemas/${schema}.schema.json`, 'utf8');
  const { title: _title, $id: _id, ...shape } = JSON.parse(text, eachFact);
  return await compile(shape, name, {
    bannerComment: '',
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 120 },
  });
}

/** The same types, read-only, each with its schema's name as a prefix, because different schemas use the same names. */
function readOnly(text, prefix) {
  const file = ts.createSourceFile('types.ts', text, ts.ScriptTarget.Latest, true);
  const declared = new Set(file.statements.flatMap((one) => (one.name === undefined ? [] : [one.name.text])));
  const edits = [];
  const visit = (node) => {
    if (ts.isPropertySignature(node) || ts.isIndexSignatureDeclaration(node))
      edits.push([node.getStart(), 'readonly ']);
    // A field with the value undefined is not written.
    if (ts.isPropertySignature(node) && node.questionToken && node.type) edits.push([node.type.end, ' | undefined']);
    if (ts.isArrayTypeNode(node)) edits.push([node.getStart(), '(readonly '], [node.end, ')']);
    const isType = ts.isIdentifier(node) && declared.has(node.text) && node.text !== `${prefix}Document`;
    if (isType && !ts.isPropertySignature(node.parent)) edits.push([node.getStart(), prefix]);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return edits
    .reverse()
    .sort(([a], [b]) => b - a)
    .reduce((done, [at, added]) => done.slice(0, at) + added + done.slice(at), text);
}

/** The contents of a cluster file. */
export const clusterTypes = () => typesOf('cluster', 'ClusterSpec');

const readOnlyTypes = async (name) => readOnly(await typesOf(name, `${pascal(name)}Document`), pascal(name));

/** The documents that commands print with `--json`, one type per schema. */
export async function documentTypes(schemas) {
  const all = schemas.map((name) => `${pascal(name)}Document`).join(' | ');
  return `${await fileTypes(schemas)}\n/** Any document that a command prints with \`--json\`. */\nexport type PrintedDocument = ${all};\n`;
}

/** The contents of other files, by schema. */
export const fileTypes = async (schemas) => (await Promise.all(schemas.map(readOnlyTypes))).join('\n');
