import type { Span } from './document/line-index.ts';
import { pointerTo } from './document/pointer.ts';
import type { ReadDocument } from './document/read-document.ts';
import type { SchemaError } from './schema/schema-error.ts';

/** A model identifier that a map in braces split at its comma: `{ model: Mac16,9 }`. */
export interface SplitModel {
  /** The pointer of the first half. */
  readonly pointer: string;
  /** Both halves with the comma. */
  readonly span: Span;
  readonly text: string;
}

/** The identifier of which this unknown key is the second half, if it is one. */
function splitModelAt({ map, source }: ReadDocument, error: SchemaError): SplitModel | undefined {
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

/** The split identifiers among the findings of a validator, by the pointer of their first half. */
export function splitModels(document: ReadDocument, errors: readonly SchemaError[]): ReadonlyMap<string, SplitModel> {
  const wrong = new Set(errors.filter(({ keyword }) => keyword === 'pattern').map((error) => error.instancePath));
  const found = new Map<string, SplitModel>();
  for (const error of errors) {
    const split = splitModelAt(document, error);
    if (split !== undefined && wrong.has(split.pointer)) found.set(split.pointer, split);
  }
  return found;
}

/** Whether an error is about the second half of a split identifier, which the first half explains. */
export const isSecondHalf = (
  document: ReadDocument,
  splits: ReadonlyMap<string, SplitModel>,
  error: SchemaError,
): boolean => splits.has(splitModelAt(document, error)?.pointer ?? '');
