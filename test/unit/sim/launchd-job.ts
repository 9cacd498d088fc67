type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

function element(value: Value): string {
  if (typeof value === 'boolean') return `<${value}/>`;
  if (typeof value === 'string') return `<string>${escaped(value)}</string>`;
  if (typeof value === 'number') return `<integer>${value}</integer>`;
  if (isList(value)) return `<array>${value.map(element).join('')}</array>`;
  const entries = Object.entries(value).map(([key, one]) => `<key>${key}</key>${element(one)}`);
  return `<dict>${entries.join('')}</dict>`;
}

/** The property list of a job named `dev.test`, formatted as if written by hand. */
export const jobPlist = (keys: { readonly [key: string]: Value }): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">${element({ Label: 'dev.test', ...keys })}</plist>\n`;
