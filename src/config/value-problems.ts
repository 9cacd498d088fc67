import { didYouMean, listText } from '../desired/did-you-mean.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { dangerIn } from './key-problems.ts';
import { type Problem, quoted } from './problem.ts';
import { type Context, capital, type PlacedValue, placed, type SchemaError, shownValue } from './schema-context.ts';
import { gluedKey, spaceHint } from './syntax-problems.ts';

const kindWords: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
};

/** The problem of a value of the wrong kind, with the smallest correction that can be told from what stands there. */
export function typeProblem(place: PlacedValue, error: SchemaError, shown: string): Problem {
  const wanted = String(error.params['type']);
  const is = kindOf(place.value);
  const belongs = `${kindWords[wanted] ?? wanted} belongs here`;
  const what = typeof place.value === 'object' ? `${capital(is)} stands here` : `${capital(shown)} is ${is}`;
  const detail = `${what}; ${belongs}.`;
  const hint = hintFor(wanted, place);
  return {
    code: 'schema/wrong-type',
    span: place.span,
    pointer: place.pointer,
    detail,
    ...(hint === '' ? {} : { hint }),
  };
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return `the number ${value}`;
  return typeof value === 'boolean' ? `the boolean ${value}` : 'nothing';
}

function hintFor(wanted: string, place: PlacedValue): string {
  const { value } = place;
  const raw = escapeText(place.raw);
  if (value === null) return 'Fill it in, or remove the key.';
  if (wanted === 'object') return hintForMap(place);
  if (wanted === 'string' && typeof value !== 'object') {
    return place.isFitAsText ? `Put it in quotes: "${raw}"` : place.description;
  }
  if (wanted === 'boolean' && typeof value === 'string') {
    if (/^(?:y|yes|on)$/i.test(value)) return `Write true: to YAML 1.2, ${raw} is a text.`;
    if (/^(?:n|no|off)$/i.test(value)) return `Write false: to YAML 1.2, ${raw} is a text.`;
  }
  if (wanted === 'integer' && typeof value === 'string' && /^[1-9][0-9]*$/.test(value))
    return `Write ${value} without quotes.`;
  return place.description;
}

function hintForMap({ pointer, raw, value, keys, description }: PlacedValue): string {
  const glued = gluedKey(raw);
  if (glued !== undefined && keys.includes(glued.key)) return spaceHint(glued);
  if (pointer === '/nodes' && Array.isArray(value)) {
    return `Write them as a map, by name and without dashes: \`${nodeLine(value[0])}\`.`;
  }
  return description;
}

/** The first node of a list as a line of a map; an example where the list does not say its name. */
function nodeLine(item: unknown): string {
  const name: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'name') : item;
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return 'studio-1: { host: studio-1.lan }';
  const host: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'host') : undefined;
  const isFit = typeof host === 'string' && /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(host);
  return `${name}: { host: ${isFit ? host : `${name}.lan`} }`;
}
const end = '([A-Za-z0-9][A-Za-z0-9-]{0,62}):([0-9]{1,2})';
const looseLink = new RegExp(`^${end} {0,9}([-<>=~\u2013\u2014\u2190\u2192\u2194\u21d4]{1,4}|to) {0,9}${end}$`);

/** How a link should be written, told from what is wrong with it; undefined when it is no link at all. */
function linkAdvice(text: string): string | undefined {
  const match = looseLink.exec(text);
  if (match === null) return undefined;
  const [, first = '', from = '', arrow = '', second = '', to = ''] = match;
  const ends = `${first.toLowerCase()}:${from} <-> ${second.toLowerCase()}:${to}`;
  const isLower = !/[A-Z]/.test(first + second);
  const fromZero = [from, to].some((receptacle) => /^0+$/.test(receptacle));
  const advice = [
    ...(arrow === '<->' ? [] : ['Write `<->` between the two ends.']),
    ...(isLower ? [] : ['Names are lower-case.']),
    ...(fromZero ? ['Receptacles count from 1, as macOS prints them.'] : []),
  ];
  if (advice.length === 0) return undefined;
  return `${advice.join(' ')}${fromZero ? '' : ` Here: \`${ends}\`.`}`;
}

/** The problem of a value that is not one of a few. */
export function notAllowed(context: Context): Problem {
  const { pointer, span, description, value } = placed(context);
  const { error } = context;
  if (error.keyword === 'const') {
    const detail = `This is ${shownValue(context)}; this meshwright knows format ${String(error.params['allowedValue'])}.`;
    return { code: 'schema/unsupported-version', span, pointer, detail };
  }
  const shown = shownValue(context);
  const detail = shown === 'nothing' ? 'Nothing stands here.' : `${capital(shown)} is not allowed here.`;
  if (error.keyword === 'oneOf') return { code: 'schema/not-allowed', span, pointer, detail, hint: description };
  const allowed = (error.params['allowedValues'] as readonly unknown[]).map(String);
  const near = typeof value === 'string' ? didYouMean(value, allowed) : undefined;
  const list = `Allowed: ${listText(allowed, 'or')}.`;
  return {
    code: 'schema/not-allowed',
    span,
    pointer,
    detail,
    hint: near === undefined ? list : `Did you mean \`${near}\`? ${list}`,
  };
}

/** Definitions whose text reaches a command line. */
const reachesCommandLine = new Set(['name', 'user', 'host', 'identityFile']);

/** The problem of a text without the needed form; one that could act on a command line is told as such. */
export function badForm(context: Context): Problem {
  const { pointer, span, description, value } = placed(context);
  const text = String(value);
  const definition = context.part.definition ?? '';
  const danger = reachesCommandLine.has(definition) ? dangerIn(text) : undefined;
  const advice = definition === 'host' ? hostAdvice(text) : isLink(pointer) ? linkAdvice(text) : undefined;
  return {
    code: danger === undefined ? 'schema/bad-form' : 'schema/unsafe-text',
    span,
    pointer,
    detail: `${text === '' ? 'An empty text' : quoted(text)} cannot stand here.${danger === undefined ? '' : ` ${danger}`}`,
    hint: advice ?? description,
  };
}

const isLink = (pointer: string): boolean => pointer.startsWith('/thunderbolt/links/');

function hostAdvice(text: string): string | undefined {
  const user = /^([A-Za-z_][A-Za-z0-9_.-]*)@(.+)$/.exec(text);
  if (user !== null) return `Write \`user: ${user[1]}\` and \`host: ${user[2]}\`.`;
  const port = /^\[?([A-Za-z0-9.-]+)\]?:([0-9]{1,5})$/.exec(text);
  return port === null ? undefined : `Write \`host: ${port[1]}\` and \`port: ${port[2]}\`.`;
}

const singular: Readonly<Record<string, string>> = { entries: 'entry', characters: 'character' };

/** The problem of a number, a length or a count outside its bounds. */
export function outOfRange(context: Context): Problem {
  const { pointer, span, description, value } = placed(context);
  const { keyword, params } = context.error;
  const limit = String(params['limit']);
  const counted = { Properties: 'entries', Items: 'entries', Length: 'characters' };
  const unit = Object.entries(counted).find(([end]) => keyword.endsWith(end))?.[1];
  const noun = unit !== undefined && limit === '1' ? singular[unit] : unit;
  const bound = `${keyword.startsWith('max') ? 'At most' : 'At least'} ${limit}${noun === undefined ? '' : ` ${noun}`}`;
  const shown = typeof value === 'number' ? `, and this is ${value}` : '';
  return {
    code: 'schema/out-of-range',
    span,
    pointer,
    detail: `${bound} can stand here${shown}.`,
    ...(description === '' ? {} : { hint: description }),
  };
}
