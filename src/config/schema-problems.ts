import { canonicalAddress } from '../desired/addresses.ts';
import { didYouMean } from '../desired/did-you-mean.ts';
import { pointerTo } from '../desired/draft.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { groupBy, listText } from '../model/lists.ts';
import { upperFirst } from '../model/text/prose.ts';
import { hostAdvice, runtimeSourceAdvice, sourceAdvice, valueAdvice } from './form-advice.ts';
import { type Problem, quoted } from './problem.ts';
import type { ReadDocument } from './read-document.ts';
import {
  type CompiledSchema,
  descriptionOf,
  exampleOf,
  keysOf,
  partBelow,
  resolved,
  type SchemaError,
  type SchemaPart,
  schemaFor,
} from './schema-part.ts';
import { lineAndColumn, pointerText, spanOf, valueAt } from './source-map.ts';
import { spaceHint } from './syntax-problems.ts';
import { gluedAmong, intendedKeys, newName, unknownKey } from './unknown-keys.ts';

/** Finds all differences between a document and its schema. The missing keys of one section are one problem. */
export function schemaProblems(compiled: CompiledSchema, document: ReadDocument): readonly Problem[] {
  if (compiled.validate(bounded(compiled.schema, resolved(compiled.schema, compiled.schema), document.value)))
    return [];
  const errors = compiled.validate.errors ?? [];
  const chosen = new Set(errors.filter((error) => error.keyword === 'oneOf').map((error) => error.instancePath));
  const missing = missingBySection(compiled.schema, errors);
  const splits = splitModels(document, errors);
  return errors
    .filter((error) => isTelling(error, chosen, errors) && !isSecondHalf(document, splits, error))
    .flatMap((error): readonly Problem[] => {
      const split = error.keyword === 'pattern' ? splits.get(error.instancePath) : undefined;
      if (split !== undefined) return [splitModel(split)];
      const context = contextOf(compiled.schema, document, error);
      if (error.keyword !== 'required') return [problemOf(context)];
      const lacks = missing.get(error.instancePath) ?? [];
      return lacks[0] === error ? [missingKeys(context, lacks.map(missingIn))] : [];
    });
}

const missingIn = (error: SchemaError): string => String(error.params['missingProperty']);

/** Groups missing keys by section, except keys that are there, but misspelled or without the space after the colon. */
function missingBySection(
  schema: unknown,
  errors: readonly SchemaError[],
): ReadonlyMap<string, readonly SchemaError[]> {
  const intended = new Set(intendedKeys(schema, errors).values());
  const isMissing = (error: SchemaError): boolean =>
    error.keyword === 'required' && !intended.has(pointerTo(error.instancePath, missingIn(error)));
  return groupBy(errors.filter(isMissing), (error) => error.instancePath);
}

/**
 * False for errors in `oneOf` branches and in the grammar of key names, which the parent error covers, and for a list
 * with a wrong entry, which has its own error.
 */
function isTelling(error: SchemaError, chosen: ReadonlySet<string>, errors: readonly SchemaError[]): boolean {
  if (error.propertyName !== undefined) return false;
  if (error.keyword !== 'oneOf') return !chosen.has(error.instancePath);
  return !errors.some(({ instancePath }) => instancePath.replace(/\/\d+$/, '/') === `${error.instancePath}/`);
}

function problemOf(context: Context): Problem {
  const secret = secretProblem(context);
  if (secret !== undefined) return secret;
  switch (context.error.keyword) {
    case 'additionalProperties':
      return unknownKey(context.schema, context.document, context.error);
    case 'propertyNames':
      return badName(context);
    default:
      return { span: context.span, pointer: context.pointer, ...valueProblem(context), ...continuedValue(context) };
  }
}

/** The place and words for a wrong value that has the next line as its end, because that line is indented more. */
function continuedValue({ document: { source }, span, raw }: Context): Partial<Problem> {
  const next = /^[^"'|>\s][^\n]*\n\s*/.exec(raw)?.[0].length;
  if (next === undefined) return {};
  const start = span.start + next;
  const end = Math.min(span.end, `${source.text}\n`.indexOf('\n', start));
  const { line } = lineAndColumn(source, span.start);
  const first = source.text.slice(source.lineStarts[line - 1]).search(/\S/) + 1;
  return {
    span: { start, end },
    detail: `This line is indented more than line ${line}, so it continues the value there.`,
    hint: `Begin it at column ${first} like line ${line}, or move it to its section.`,
  };
}

/** A problem at the position of its context. */
type ValueProblem = Omit<Problem, 'span' | 'pointer'>;

function valueProblem(context: Context): ValueProblem {
  switch (context.error.keyword) {
    case 'type':
      return typeProblem(context);
    case 'const':
    case 'enum':
    case 'oneOf':
      return notAllowed(context);
    case 'pattern':
      return badForm(context);
    default:
      return outOfRange(context);
  }
}

/** Maximum number of unknown keys that are checked in a section; only 100 problems are shown. */
const unknownKeysAtMost = 1_024;

/**
 * Copies a value and cuts every list and map to one entry more than its schema allows, so that an exceeded limit is
 * still detected. Without these cuts, validators take quadratic time to gather errors. Known keys are never cut.
 */
function bounded(schema: unknown, part: SchemaPart, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = (one: unknown, key: string): unknown => bounded(schema, partBelow(schema, part, key), one);
  if (Array.isArray(value)) {
    return value.slice(0, limitOf(part, 'maxItems')).map((item, index) => inner(item, String(index)));
  }
  const known = new Set(keysOf(part.node));
  const entries = Object.entries(value);
  const others = entries.filter(([key]) => !known.has(key)).slice(0, limitOf(part, 'maxProperties'));
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, one] of [...entries.filter(([key]) => known.has(key)), ...others]) copy[key] = inner(one, key);
  return copy;
}

function limitOf({ node }: SchemaPart, keyword: 'maxItems' | 'maxProperties'): number {
  const limit = node[keyword];
  if (typeof limit === 'number') return limit + 1;
  return node['additionalProperties'] === false ? unknownKeysAtMost : Number.POSITIVE_INFINITY;
}

const place =
  /^(\/(?:ssh|nodes\/[^/]+)\/password|\/secrets\/huggingface|\/placements\/[^/]+\/endpoint\/apiKey)(?:\/|$)/u;

/** The problem for a mistake in a password key. It names only the key and never shows the value. */
function secretProblem({ document, error }: Context): Problem | undefined {
  const pointer = place.exec(error.instancePath)?.[1];
  if (pointer === undefined) return undefined;
  const forms = pointer.endsWith('/apiKey')
    ? 'exactly one of env, file or command in its own form, or a list of such sources'
    : `exactly one of env, file${pointer.startsWith('/secrets/') ? ' or command' : ', command or prompt'} in its own form`;
  const detail = `This value is not a source. Write ${forms}.`;
  const isToken = pointer.startsWith('/secrets/');
  const hint = isToken
    ? { hint: 'Write `huggingface: { env: HF_TOKEN }`, and set that variable before the command.' }
    : {};
  return { code: 'secret/not-a-source', span: spanOf(document.map, { pointer, at: 'key' }), pointer, detail, ...hint };
}

/** A model identifier that was split at its comma, in a map in braces: `{ model: Mac16,9 }`. */
type SplitModel = NonNullable<ReturnType<typeof splitModelAt>>;

/** Finds the split identifier whose second half is this unknown key: the first half's pointer, and both as text. */
function splitModelAt({ map, source }: ReadDocument, error: SchemaError) {
  const half = String(error.params['additionalProperty']);
  const pointer = pointerTo(error.instancePath, 'model');
  const model = map.get(pointer);
  const second = map.get(pointerTo(error.instancePath, half));
  if (model === undefined || second?.key === undefined) return undefined;
  const isAlone = second.raw === '' || (second.raw === undefined && second.value.start === second.key.start);
  if (!isAlone) return undefined;
  const span = { start: model.value.start, end: second.key.end };
  const text = source.text.slice(span.start, Math.min(span.end, span.start + 64));
  return /^[A-Z][A-Za-z]*[0-9]{1,2},[1-9][0-9]?$/.test(text) ? { pointer, span, text } : undefined;
}

/** Finds the split identifiers in a validator's errors, by the pointer of their first half. */
function splitModels(document: ReadDocument, errors: readonly SchemaError[]): ReadonlyMap<string, SplitModel> {
  const wrong = new Set(errors.filter(({ keyword }) => keyword === 'pattern').map((error) => error.instancePath));
  const found = new Map<string, SplitModel>();
  for (const error of errors) {
    const split = splitModelAt(document, error);
    if (split !== undefined && wrong.has(split.pointer)) found.set(split.pointer, split);
  }
  return found;
}

/** True if an error is about the second half of a split identifier, which is already reported for the first half. */
const isSecondHalf = (document: ReadDocument, splits: ReadonlyMap<string, SplitModel>, error: SchemaError): boolean =>
  splits.has(splitModelAt(document, error)?.pointer ?? '');

/** Explains in a sentence why a host, user, name or file must not reach a command line; undefined if it is safe. */
function dangerIn(text: string): string | undefined {
  if (text.startsWith('-')) return 'It begins with a dash, so a program would read it as an option.';
  const control = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(text);
  if (control !== null) return `It contains the invisible character ${escapeText(control[0])}.`;
  const shell = /[;&|`$<>(){}[\]\\"'*?!#]/.exec(text);
  if (shell !== null) return `It contains ${shell[0]}, which a shell would interpret.`;
  if (/\.\.|\/|^~/.test(text) || text === '.') return 'It could be read as a path.';
  return undefined;
}

function missingKeys({ schema, document, error, part }: Context, keys: readonly string[]): Problem {
  const pointer = error.instancePath;
  const section = pointer === '' ? 'The file' : pointerText(pointer);
  const isOne = keys.length === 1;
  const names = keys.map((key) => `\`${key}\``);
  const lines = keys.map((key) => {
    const example = exampleOf(schema, part.node, key);
    return { text: `\`${key}:${example === undefined ? '' : ` ${example}`}\``, isExample: example !== undefined };
  });
  const add = lines.some(({ isExample }) => isExample) ? `Add ${isOne ? 'it' : 'them'}, such as ` : 'Add ';
  return {
    code: 'schema/missing-key',
    span: spanOf(document.map, { pointer, at: 'key' }),
    pointer,
    detail: `${section} has no ${listText(names, 'or')}.`,
    hint: `${add}${listText(lines.map(({ text }) => text))}.`,
    label: `${listText(keys)} ${isOne ? 'is' : 'are'} missing`,
  };
}

/** Definitions of names with slashes or arrows, which never become command-line arguments. */
const isPathLike: ReadonlySet<string> = new Set(['filePath', 'link', 'network']);

function badName({ schema, document, error, part }: Context): Problem {
  const name = String(error.params['propertyName']);
  const pointer = pointerTo(error.instancePath, name);
  const { node, definition } = resolved(schema, part.node['propertyNames']);
  const danger = isPathLike.has(definition ?? '') ? undefined : dangerIn(name);
  const lower = name.toLowerCase();
  const rule = descriptionOf(node);
  return {
    code: danger === undefined ? 'schema/bad-name' : 'schema/unsafe-text',
    span: spanOf(document.map, { pointer, at: 'key' }),
    pointer,
    detail: `${quoted(name)} is not a valid name here.${danger === undefined ? '' : ` ${danger}`}`,
    hint: lower !== name && /^[a-z0-9-]+$/.test(lower) ? `Write \`${lower}\`. ${rule}` : rule,
  };
}

const splitModel = ({ pointer, span, text }: SplitModel): Problem => ({
  code: 'schema/bad-form',
  span,
  pointer,
  detail: `Inside braces, a comma ends the value, so ${quoted(text)} becomes two entries.`,
  hint: `Put it in quotes: \`model: "${text}"\`.`,
});

const kindWords: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
};

/** The problem for a value of the wrong type, with the smallest correction that can be derived from the value. */
function typeProblem(context: Context): ValueProblem {
  const { error, value } = context;
  const wanted = String(error.params['type']);
  const isPlain =
    typeof value !== 'string' && (typeof value === 'object' || ['', JSON.stringify(value)].includes(context.raw));
  const shown = isPlain ? '' : `${shownValue(context)}, which is `;
  const detail = `Expected ${kindWords[wanted] ?? wanted}, found ${shown}${kindOf(value)}.`;
  const hint = hintFor(wanted, context);
  return { code: 'schema/wrong-type', detail, ...(hint === '' ? {} : { hint }) };
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return `the number ${value}`;
  return typeof value === 'boolean' ? `the boolean ${value}` : 'nothing';
}

function hintFor(wanted: string, context: Context): string {
  const { value, part, description } = context;
  const raw = escapeText(context.raw);
  if (value === null) return 'Add a value, or remove the key.';
  if (wanted === 'object') return hintForMap(context);
  if (wanted === 'string' && typeof value !== 'object') {
    return fitsAsText(part, context.raw) ? `Put it in quotes: "${raw}"` : description;
  }
  if (wanted === 'boolean' && typeof value === 'string') {
    if (/^(?:y|yes|on)$/i.test(value)) return `Write true: in YAML 1.2, ${raw} is text.`;
    if (/^(?:n|no|off)$/i.test(value)) return `Write false: in YAML 1.2, ${raw} is text.`;
  }
  if (wanted === 'integer' && typeof value === 'string' && /^[1-9][0-9]*$/.test(value))
    return `Write ${value} without quotes.`;
  return description;
}

function hintForMap({ pointer, raw, value, part, description }: Context): string {
  const glued = gluedAmong(raw, keysOf(part.node));
  if (glued !== undefined) return spaceHint(glued);
  if (pointer === '/nodes' && Array.isArray(value)) {
    return `Write nodes as a map of names, without dashes: \`${nodeLine(value[0])}\`.`;
  }
  return description;
}

/** Writes the first node in a list as a line of a map; an example if the list does not contain its name. */
function nodeLine(item: unknown): string {
  const name: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'name') : item;
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return 'studio-1: { host: studio-1.lan }';
  const host: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'host') : undefined;
  const isFit = typeof host === 'string' && /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(host);
  return `${name}: { host: ${isFit ? host : `${name}.lan`} }`;
}
const end = '([A-Za-z0-9][A-Za-z0-9-]{0,62}):([0-9]{1,2})';
const looseLink = new RegExp(`^${end} {0,9}([-<>=~\u2013\u2014\u2190\u2192\u2194\u21d4]{1,4}|to) {0,9}${end}$`);

/** Returns advice for correcting a link; undefined if the text does not look like a link. */
function linkAdvice(text: string): string | undefined {
  const match = looseLink.exec(text);
  if (match === null) return undefined;
  const [, first = '', from = '', arrow = '', second = '', to = ''] = match;
  const ends = `${first.toLowerCase()}:${from} <-> ${second.toLowerCase()}:${to}`;
  const isLower = !/[A-Z]/.test(first + second);
  const fromZero = [from, to].some((receptacle) => /^0+$/.test(receptacle));
  const advice = [
    ...(arrow === '<->' ? [] : ['Write `<->` between the two ends.']),
    ...(isLower ? [] : ['Names are lowercase.']),
    ...(fromZero ? ['Receptacles count from 1, as macOS prints them.'] : []),
  ];
  if (advice.length === 0) return undefined;
  return `${advice.join(' ')}${fromZero ? '' : ` Corrected: \`${ends}\`.`}`;
}

function notAllowed(context: Context): ValueProblem {
  const { error, description, pointer, value } = context;
  if (error.keyword === 'const') {
    const detail = `The file has format ${shownValue(context)}; this meshwright knows only ${String(error.params['allowedValue'])}.`;
    return { code: 'schema/unsupported-version', detail };
  }
  const shown = shownValue(context);
  const detail = shown === 'nothing' ? 'The value is missing.' : `${upperFirst(shown)} is not allowed here.`;
  if (error.keyword === 'oneOf') return { code: 'schema/not-allowed', detail, hint: description };
  const allowed = (error.params['allowedValues'] as readonly unknown[]).map(String);
  const renamed = newName(value, allowed);
  if (renamed !== undefined) {
    return {
      code: 'schema/not-allowed',
      detail: `${shown} is now called \`${renamed}\`.`,
      hint: `Write \`${renamed}\`.`,
    };
  }
  const near = typeof value === 'string' ? didYouMean(value, allowed) : undefined;
  const list = valueAdvice(pointer) ?? `Allowed: ${listText(allowed, 'or')}.`;
  return { code: 'schema/not-allowed', detail, hint: near === undefined ? list : `Did you mean \`${near}\`? ${list}` };
}

const reachesCommandLine = new Set(['name', 'user', 'host', 'identityFile']);

/** The problem for a text in the wrong form. Text that is unsafe on a command line has a separate code. */
function badForm({ part, pointer, description, value }: Context): ValueProblem {
  const text = String(value);
  const definition = part.definition ?? '';
  const danger = reachesCommandLine.has(definition) ? dangerIn(text) : undefined;
  const advice = adviceOn(text, pointer, definition);
  return {
    code: danger === undefined ? 'schema/bad-form' : 'schema/unsafe-text',
    detail: `${text === '' ? 'An empty text' : quoted(text)} is not valid here.${danger === undefined ? '' : ` ${danger}`}`,
    hint: advice ?? description,
  };
}

/** People write a path as a URL. */
function archiveAdvice(text: string): string | undefined {
  const path = /^file:(?:\/\/(?:localhost)?)?(\/[\w./@+ -]*)$/.exec(text)?.[1];
  return path === undefined ? undefined : `For an archive on this computer, write its path: \`${path}\`.`;
}

function adviceOn(text: string, pointer: string, definition: string): string | undefined {
  if (definition === 'host') return hostAdvice(text);
  if (isLink(pointer)) return linkAdvice(text);
  if (/^\/runtimes\/[^/]+\/source$/.test(pointer)) return runtimeSourceAdvice(text);
  if (/^\/(?:runtimes\/[^/]+\/archive|gateway\/node)$/.test(pointer)) return archiveAdvice(text);
  return /^\/models\/[^/]+\/source$/.test(pointer) ? sourceAdvice(text) : undefined;
}

const isLink = (pointer: string): boolean => pointer.startsWith('/thunderbolt/links/');

/** The singular and plural of the counted noun, by the end of the keyword. */
const counted: Readonly<Record<string, readonly [string, string]>> = {
  Properties: [' entry', ' entries'],
  Items: [' entry', ' entries'],
  Length: [' character', ' characters'],
};

function outOfRange({ error, description, value }: Context): ValueProblem {
  const limit = String(error.params['limit']);
  const noun = counted[error.keyword.slice('max'.length)]?.[limit === '1' ? 0 : 1] ?? '';
  const bound = `${error.keyword.startsWith('max') ? 'at most' : 'at least'} ${limit}${noun}`;
  const shown = typeof value === 'number' ? `, found ${value}` : '';
  const { i, j } = error.params;
  const twice =
    error.keyword === 'uniqueItems' ? `Entries ${Number(i) + 1} and ${Number(j) + 1} are the same.` : undefined;
  return {
    code: 'schema/out-of-range',
    detail: twice ?? `Expected ${bound}${shown}.`,
    ...(description === '' ? {} : { hint: description }),
  };
}

type Context = ReturnType<typeof contextOf>;

function contextOf(schema: unknown, document: ReadDocument, error: SchemaError) {
  // The pointer to the wrong value, or to the map with the wrong key.
  const pointer = error.instancePath;
  const part = schemaFor(schema, pointer);
  // A scalar's source text; empty for a list or a map.
  const raw = document.map.get(pointer)?.raw ?? '';
  const span = spanOf(document.map, { pointer });
  const value = valueAt(document.value, pointer);
  return { schema, document, error, part, pointer, span, raw, value, description: descriptionOf(part.node) };
}

/** The host pattern also matches `10.1`, which is not a name, and which programs read as different addresses. */
function fitsAsText({ node, definition }: SchemaPart, raw: string): boolean {
  const pattern = node['pattern'];
  if (definition === 'host' && canonicalAddress(raw) === undefined) return false;
  return typeof pattern !== 'string' || new RegExp(pattern, 'u').test(raw);
}

function shownValue({ raw, value }: Context): string {
  if (raw !== '') return quoted(raw);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'a map' : 'nothing';
}
