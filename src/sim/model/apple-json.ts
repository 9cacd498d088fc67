/** What an Apple tool prints as JSON. */
export type AppleJson = string | number | readonly AppleJson[] | { readonly [key: string]: AppleJson };

const inward = '  ';

/** JSON as `system_profiler -json` lays it out: keys sorted, ` : ` between key and value, two blanks per level. */
export function appleJson(value: AppleJson, indent = ''): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return String(value);
  const deeper = indent + inward;
  const isList = isArray(value);
  const parts = isList
    ? value.map((one) => deeper + appleJson(one, deeper))
    : Object.keys(value)
        .sort()
        .map((key) => `${deeper}${quoted(key)} : ${appleJson(value[key] ?? '', deeper)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

const isArray = (value: AppleJson): value is readonly AppleJson[] => Array.isArray(value);

/** Everything beyond ASCII escaped, as in the published captures. */
const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
