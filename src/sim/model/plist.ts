/** What a property list holds here. */
export type PlistValue = string | number | boolean | readonly PlistValue[] | PlistDict;

/** A dictionary of a property list, in the order of the file. */
export interface PlistDict {
  readonly [key: string]: PlistValue;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const isArray = (value: PlistValue): value is readonly PlistValue[] => Array.isArray(value);

/** Whether a value is a dictionary. */
export const isDict = (value: PlistValue): value is PlistDict => typeof value === 'object' && !isArray(value);

function element(value: PlistValue, indent: string): string {
  if (typeof value === 'string') return `${indent}<string>${escaped(value)}</string>\n`;
  if (typeof value === 'number') return `${indent}<integer>${value}</integer>\n`;
  if (typeof value === 'boolean') return `${indent}<${value}/>\n`;
  const tag = isArray(value) ? 'array' : 'dict';
  const inside = isArray(value)
    ? value.map((one) => element(one, `${indent}\t`)).join('')
    : Object.entries(value)
        .map(([key, one]) => `${indent}\t<key>${escaped(key)}</key>\n${element(one, `${indent}\t`)}`)
        .join('');
  return inside === '' ? `${indent}<${tag}/>\n` : `${indent}<${tag}>\n${inside}${indent}</${tag}>\n`;
}

/** A property list in Apple's XML form. */
export const plistText = (value: PlistValue): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n' +
  `<plist version="1.0">\n${element(value, '')}</plist>\n`;
