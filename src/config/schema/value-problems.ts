import { didYouMean, listText } from '../../desired/did-you-mean.ts';
import { quoted } from '../document/quoted.ts';
import { dangerIn } from '../document/unsafe-text.ts';
import { linkAdvice } from '../link-advice.ts';
import type { Problem } from '../problem.ts';
import type { SplitModel } from '../split-model.ts';
import { type Context, capital, placed, shownValue } from './schema-context.ts';

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

/** The problem of a model identifier that a map in braces split at its comma. */
export const splitModel = ({ pointer, span, text }: SplitModel): Problem => ({
  code: 'schema/bad-form',
  span,
  pointer,
  detail: `Inside braces the comma ends the value, so ${quoted(text)} is two entries.`,
  hint: `Put it in quotes: \`model: "${text}"\`.`,
});

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
