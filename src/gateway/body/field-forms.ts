import { jsonObject, parsedJson } from '../../model/digest.ts';
import type { FieldForm } from '../../model/gateway.ts';

/** Of the checked fields, only a prompt can be longer than this. Only the first byte of a longer value is checked. */
const mostBytes = 1_048_576;

/** Describes a field's valid values for an error message; undefined if `value` is valid. @param value as JSON */
export function wrongForm(value: Buffer, form: FieldForm): string | undefined {
  if (form.kind === 'text') return isPrompt(value) ? undefined : 'a text that is not blank';
  const read = value.length > mostBytes ? undefined : parsedJson(value.toString('utf8'));
  const members = jsonObject(read);
  switch (form.kind) {
    case 'texts':
      return (Array.isArray(read) ? read : [read]).every(isText) ? undefined : 'a text or a list of texts';
    case 'number':
      return isNumber(read, form) ? undefined : numberWords(form);
    case 'token-biases': {
      const isBias = ([token, bias]: [string, unknown]) => isToken(token, form.below) && Number.isFinite(bias);
      if (members !== undefined && Object.entries(members).every(isBias)) return undefined;
      return `an object of numbers by token, and every token below ${form.below}`;
    }
    case 'object': {
      if (members === undefined) return 'an object';
      const refused = form.refused?.find((name) => Object.hasOwn(members, name));
      return refused && `an object without ${refused}`;
    }
  }
}

/** True if an object lacks a member that the runtime requires. */
export const lacksMember = (value: Buffer, form: FieldForm | undefined): boolean =>
  form?.kind === 'object' &&
  form.needed !== undefined &&
  !Object.hasOwn(jsonObject(parsedJson(value.toString('utf8'))) ?? {}, form.needed);

/** An unpaired surrogate is not a valid character. */
const isText = (value: unknown): boolean => typeof value === 'string' && !/\p{Surrogate}/u.test(value);

/** A prompt of only whitespace and invisible characters might not produce any tokens. */
function isPrompt(value: Buffer): boolean {
  if (value.length > mostBytes) return value[0] === 0x22;
  const read = parsedJson(value.toString('utf8'));
  return typeof read === 'string' && /[^\s\p{C}]/u.test(read);
}

const isNumber = (value: unknown, { least, most, isWhole }: Extract<FieldForm, { kind: 'number' }>): boolean =>
  typeof value === 'number' && value >= least && value <= most && (isWhole !== true || Number.isInteger(value));

const numberWords = ({ least, most, isWhole }: Extract<FieldForm, { kind: 'number' }>): string =>
  `a ${isWhole === true ? 'whole ' : ''}number from ${least} to ${most}`;

const isToken = (name: string, below: number): boolean => /^\d{1,9}$/.test(name) && Number(name) < below;
