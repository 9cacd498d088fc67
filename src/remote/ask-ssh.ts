import { execFile } from 'node:child_process';
import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import { nodeSubject } from '../model/subject.ts';
import { parseSshConfig, type SshConfig } from './config/ssh-config.ts';
import { quoteNodeText } from './connect-failure.ts';
import { errorCodes } from './error-text.ts';

/** What `ssh -G` is asked about; what is absent is left to the user's ssh_config. */
export interface SshQuestion {
  readonly label: string;
  /** Judged by `isHost` before. */
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
}

/** How the system's ssh is run. */
export interface SshCommand {
  /** Path, or a name to be found in PATH. */
  readonly command: string;
  /** Replaces the user's and the machine's ssh_config (`-F`). */
  readonly configFile?: string;
  /** Environment of meshwright; only the few variables that ssh needs are passed on. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

const deadlineMs = 10_000;
const maxBytes = 256 * 1024;
const passedOn = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'SSH_AUTH_SOCK'];

function argsFor(question: SshQuestion, configFile: string | undefined): readonly string[] {
  return [
    '-G',
    ...(configFile === undefined ? [] : ['-F', configFile]),
    ...(question.user === undefined ? [] : ['-l', question.user]),
    ...(question.port === undefined ? [] : ['-p', String(question.port)]),
    '--',
    question.host,
  ];
}

function minimalEnv(variables: SshCommand['variables']): Record<string, string> {
  const env: Record<string, string> = { LC_ALL: 'C' };
  for (const name of passedOn) if (variables[name] !== undefined) env[name] = variables[name];
  return env;
}

/**
 * Asks the system's ssh how it would reach an address, so that every `Host` and `Match` block counts as it always
 * does; undefined when there is no ssh on this machine.
 * @throws FleetError `ssh/config-unreadable`
 */
export async function askSsh(question: SshQuestion, ssh: SshCommand): Promise<SshConfig | undefined> {
  const args = argsFor(question, ssh.configFile);
  const options = {
    env: minimalEnv(ssh.variables),
    timeout: deadlineMs,
    maxBuffer: maxBytes,
    killSignal: 'SIGKILL',
  } as const;
  const answer = await new Promise<{ error: Error | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(ssh.command, args, options, (error, stdout, stderr) => resolve({ error, stdout, stderr }));
    child.stdin?.end();
  });
  if (errorCodes(answer.error).includes('ENOENT')) return undefined;
  const config = answer.error === null ? parseSshConfig(answer.stdout) : undefined;
  if (config !== undefined) return config;
  const said =
    quoteNodeText(answer.stderr.trim()) || answer.error?.message.trim() || 'an answer without host name, port or user';
  throw new FleetError([
    diagnose('ssh/config-unreadable', {
      detail: `ssh ${args.join(' ')}: ${said}`,
      subject: nodeSubject(question.label),
    }),
  ]);
}
