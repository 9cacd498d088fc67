import { runProgram } from './run-program.ts';

const hashes = new Map<string, Promise<string>>();

/** The hash of a password as the shadow file of a Linux has it: SHA-512, made by the crypt(3) of this machine. */
export function passwordHash(password: string): Promise<string> {
  const known = hashes.get(password);
  if (known !== undefined) return known;
  const made = runProgram('perl', ['-e', 'print crypt($ARGV[0], q($6$meshwright$))', password]);
  hashes.set(password, made);
  return made;
}
