/** How YAML 1.1 would read a plain text that YAML 1.2 keeps as text, if at all: what the reader would make of it. */
export function otherReading(source: string): 'a boolean' | 'a number' | 'a date' | 'nothing' | undefined {
  if (/^(?:y|n|yes|no|true|false|on|off)$/i.test(source)) return 'a boolean';
  if (/^(?:~|null|)$/i.test(source)) return 'nothing';
  if (/^\d{4}-\d\d?-\d\d?(?:$|[Tt \t])/.test(source)) return 'a date';
  return isOldNumber(source) ? 'a number' : undefined;
}

/** Binary, octal, hexadecimal, decimal with underscores, floating point, and base 60 (12:30). */
function isOldNumber(source: string): boolean {
  const unsigned = source.replace(/^[-+]/, '');
  return (
    /^0b[01_]+$/.test(unsigned) ||
    /^0[xo][0-9a-f_]+$/i.test(unsigned) ||
    /^\d[\d_]*(?:\.[\d_]*)?(?:e[-+]?\d+)?$/i.test(unsigned) ||
    /^\.\d[\d_]*(?:e[-+]?\d+)?$/i.test(unsigned) ||
    /^\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?$/.test(unsigned) ||
    /^\.(?:inf|nan)$/i.test(unsigned)
  );
}

/**
 * How YAML 1.1 reads a plain text that is a number in YAML 1.2, where the two differ: a leading zero is octal there, an
 * octal of 1.2 a text, and so is an exponent without a point and a sign.
 */
export function otherNumber(source: string): 'another number' | 'a text' | undefined {
  if (/^[-+]?0[0-9_]+$/.test(source)) return 'another number';
  const isText = /^0o[0-7]+$/.test(source) || /^[-+]?\d+(?:e[-+]?\d+|\.\d*e\d+)$/i.test(source);
  return isText ? 'a text' : undefined;
}
