import { escapeText } from '../../diagnostics/escape.ts';

/** Why a host, a user, a name or a file must not reach a command line, as one sentence; undefined for harmless text. */
export function dangerIn(text: string): string | undefined {
  if (text.startsWith('-')) return 'It begins with a dash, so a program would read it as an option.';
  const control = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(text);
  if (control !== null) return `It contains ${escapeText(control[0])}, which nobody can see.`;
  const shell = /[;&|`$<>(){}[\]\\"'*?!#]/.exec(text);
  if (shell !== null) return `It contains ${shell[0]}, which a shell would act on.`;
  if (/\.\.|\/|^~/.test(text) || text === '.') return 'It could become a path.';
  return undefined;
}
