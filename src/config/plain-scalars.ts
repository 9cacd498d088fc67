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

/** Whether a plain number has a leading zero, which makes it octal for some readers only. */
export const hasLeadingZero = (source: string): boolean => /^[-+]?0[0-9_]+$/.test(source);
