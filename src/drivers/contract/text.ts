import type { Text } from '../../model/step.ts';

/** Neighbouring texts as one, without empty ones, so that equal words are equal values. */
export function joinText(parts: Text): Text {
  const joined: Text[number][] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else if (part !== '') joined.push(part);
  }
  return joined;
}
