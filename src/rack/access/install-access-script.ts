import { below, pathWord, place, rootLine, shellCommand, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';
import { sudoRule } from '../../node/sudo-answer.ts';
import { keyMark } from '../../node/withdraw.ts';
import { sh } from './scripts.generated.ts';

/** The access to install on a node, so that the controller can log in and become root. */
export interface AccessRequest {
  /** Type and base64 of the key; absent if the node already accepts one. */
  readonly key?: string;
  /** The account that logs in and gets the sudo rule. */
  readonly user: string;
}

export type Installed = 'added' | 'kept';

/** The node's answer: the parts that are in place, and why visudo or another tool refused the rule. */
export interface AccessAnswer {
  readonly key?: Installed;
  readonly rule?: Installed;
  readonly refusal?: string;
}

export const ruleText = (rootPrefix: string, user: string): string => `${rootLine(rootPrefix)}
export LC_ALL=C
umask 077
${sh.addSudoRule({
  folder: place.sudoersFolder,
  file: place.sudoersDropIn,
  new: below(place.sudoersFolder, '.meshwright.new'),
  rule: `\n${sudoRule(user)}`,
})}`;

/**
 * The command line of the exec request that installs the access. Its standard input is the password and a line end.
 * Only sudo reads this input and then finds its end, so it tries a wrong password only once. The root script is an
 * argument: on standard input, a Mac that asks for no password would run the password as a command.
 */
export function installAccessCommand(rootPrefix: string, { key, user }: AccessRequest): string {
  const [sudo, shell] = [tool.sudo, tool.sh].map(pathWord);
  const own = key === undefined ? '' : `{\n${sh.addKey({ key, mark: keyMark })}\n} </dev/null\n`;
  return shellCommand(`${rootLine(rootPrefix)}
export LC_ALL=C
umask 077
${own}exec ${sudo} -S -p '' -k ${shell} -c ${quote(ruleText(rootPrefix, user))}`);
}

const installed = (word: string | undefined): Installed | undefined =>
  word === 'added' || word === 'kept' ? word : undefined;

/** Reads the output of {@link installAccessCommand}; unknown words are ignored. */
export function readAccessAnswer(stdout: string): AccessAnswer {
  const said = (name: string): string | undefined =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(`@${name} `))
      ?.slice(name.length + 2);
  const [key, rule, refusal] = [installed(said('key')), installed(said('rule')), said('refused')];
  return { ...(key && { key }), ...(rule && { rule }), ...(refusal !== undefined && { refusal }) };
}
