import { checkOptions, shellQuote, type WrapperContext } from './wrapper.ts';

/** What of a command line names files, for a tool that takes options as getopt(3) has it. */
export interface FileOperands {
  /** Options as getopts wants them. */
  readonly letters: string;
  /** Options whose argument is a file. */
  readonly fileOptions?: string;
  /** Whether the first operand is no file but a pattern or a program, unless one of these options gives it. */
  readonly textUnless?: string;
  /** True for tools that would replace or remove a device: then not even /dev/null is taken. */
  readonly isChanging?: boolean;
  /** True for a tool that takes the current folder when it is given nothing. */
  readonly hasDefault?: boolean;
  /** sh between the check and the tool. */
  readonly extra?: string;
}

const lettersOf = (letters: string): string => [...letters].join(' | ');

/** Checks options by their letters and every file that is named by them or behind them. */
export function checkFiles({ letters, fileOptions = '', textUnless, isChanging, hasDefault }: FileOperands): string {
  const check = isChanging === true ? 'inside' : 'readable';
  const arms = [
    ...(fileOptions === '' ? [] : [`(${lettersOf(fileOptions)}) ${check} "$OPTARG" ;;`]),
    ...(textUnless === undefined || textUnless === '' ? [] : [`(${lettersOf(textUnless)}) k=0 ;;`]),
  ];
  const first = arms.map((arm) => `case $o in ${arm} esac`).join('; ');
  return `k=${textUnless === undefined ? 0 : 1}
${checkOptions(letters, first)}
${hasDefault === true ? '[ $# -ge "$OPTIND" ] || inside .\n' : ''}after $((OPTIND - 1 + k)) ${check} "$@"`;
}

/** Checks options and files, and hands the whole command line to the machine's tool. */
export const passFiles =
  (files: FileOperands) =>
  ({ host }: WrapperContext): string =>
    `${checkFiles(files)}\n${files.extra ?? ''}POSIXLY_CORRECT=1 exec ${shellQuote(host)} "$@"`;
