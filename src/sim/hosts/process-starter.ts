import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import type { Exit } from '../../model/probe.ts';
import { hostTool } from './base-tools/all-base-tools.ts';

interface ProgramStart {
  readonly program: string;
  /** Arguments, starting with the program's name. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** FIFOs for its standard input, output and error. */
  readonly stdio: readonly [string, string, string];
}

/** A running program in its own session and process group. */
export interface StartedProgram {
  readonly pid: number;
  readonly ended: Promise<Exit>;
}

interface Pending {
  readonly started: (pid: number) => void;
  readonly failed: (error: Error) => void;
  readonly ended: (exit: Exit) => void;
}

const nameOf = (table: Readonly<Record<string, number>>, number: number): string =>
  Object.entries(table).find(([, one]) => one === number)?.[0] ?? String(number);

function frame(id: number, { program, words, environment, folder, stdio }: ProgramStart): Buffer {
  const fields = [id, folder, ...stdio, program, words.length, ...words, ...Object.entries(environment).flat()];
  if (fields.some((field) => String(field).includes('\0'))) throw new Error('spawn EINVAL: a NUL in an argument');
  const payload = Buffer.from(fields.map((field) => `${field}\0`).join(''));
  return Buffer.concat([Buffer.from(`${payload.length}\n`), payload]);
}

function hear(pending: Map<number, Pending>, line: string): void {
  const [what, id, first = '', second = ''] = line.split(' ');
  const one = pending.get(Number(id));
  if (what === 'started') one?.started(Number(first));
  if (what === 'failed') one?.failed(new Error(`spawn ${nameOf(constants.errno, Number(first))}`));
  if (what === 'ended') {
    const number = Number(second);
    const signal = nameOf(constants.signals, number).replace(/^SIG/, '');
    one?.ended(first === 'code' ? { kind: 'exited', code: number } : { kind: 'signalled', signal });
  }
  if (what !== 'started') pending.delete(Number(id));
}

const goneText = 'the starter of simulated processes has exited';

/** The child process exits with this process and does not keep the simulator alive. */
export function createProcessStarter() {
  const child = spawn(hostTool('perl') ?? 'perl', ['-e', starterProgram], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    cwd: '/',
  });
  const { stdin, stdout } = child;
  for (const one of [child, stdin, stdout]) one.on('error', () => undefined);
  for (const one of [stdin, stdout]) if (one instanceof Socket) one.unref();
  const ended = once(child, 'close').catch(() => undefined);
  child.unref();
  const pending = new Map<number, Pending>();
  let count = 0;
  let isGone = false;
  createInterface({ input: stdout }).on('line', (line) => hear(pending, line));
  void ended.then(() => {
    isGone = true;
    for (const one of pending.values()) {
      one.failed(new Error(goneText));
      one.ended({ kind: 'signalled', signal: 'KILL' });
    }
  });
  return {
    /** @throws Error such as `spawn E2BIG` */
    start: (start: ProgramStart): Promise<StartedProgram> =>
      new Promise((resolve, reject) => {
        if (isGone) throw new Error(goneText);
        const bytes = frame(count + 1, start);
        count += 1;
        let end: (exit: Exit) => void = () => undefined;
        const whenEnded = new Promise<Exit>((resolveEnd) => {
          end = resolveEnd;
        });
        pending.set(count, { started: (pid) => resolve({ pid, ended: whenEnded }), failed: reject, ended: end });
        stdin.write(bytes);
      }),
    /** Stops the starter; programs that it has started continue. */
    close: async (): Promise<void> => {
      // Otherwise a process without other work would exit before its child.
      child.ref();
      stdin.end();
      await ended;
    },
  };
}

export type ProcessStarter = ReturnType<typeof createProcessStarter>;

/**
 * Starts the commands of a simulated fleet, in plain perl. Forking copies the parent's page tables. For a big simulator
 * (a test has hundreds of megabytes), that costs ten times as much as the command itself, but for this small process it
 * is cheap. The program reads frames from standard input. A frame is a line with the number of bytes, then
 * NUL-terminated fields: id, folder, the paths of three FIFOs, program, number of arguments, arguments (starting with
 * the name), and pairs of variable and value. It answers with the lines `started ID PID`, `failed ID ERRNO`, `ended ID
 * code N` and `ended ID signal N`, and exits when its input ends.
 */
const starterProgram = `
use strict;
use warnings;
no warnings 'exec';
use Fcntl;
use POSIX ();
binmode STDIN;
my %started;
pipe(my $woken, my $waker) or die;
fcntl($_, F_SETFL, O_NONBLOCK) for $woken, $waker;
$SIG{CHLD} = sub { syswrite $waker, '.' };
sub say_line { syswrite STDOUT, "@_\\n" }
sub become {
  my ($folder, $stdio, $program, $words, $environment) = @_;
  $SIG{CHLD} = 'DEFAULT';
  POSIX::setsid();
  for my $fd (0 .. 2) {
    my $opened = POSIX::open($stdio->[$fd], $fd == 0 ? O_RDONLY : O_WRONLY) // return;
    if ($opened != $fd) { POSIX::dup2($opened, $fd) // return; POSIX::close($opened) }
  }
  chdir $folder or return;
  %ENV = @$environment;
  exec { $program } @$words;
}
sub start {
  my ($id, $folder, $in, $out, $err, $program, $count, @rest) = @_;
  my @words = splice @rest, 0, $count;
  pipe(my $trouble, my $teller) or return say_line('failed', $id, $! + 0);
  my $pid = fork;
  return say_line('failed', $id, $! + 0) unless defined $pid;
  if ($pid == 0) {
    become($folder, [$in, $out, $err], $program, \\@words, \\@rest);
    syswrite $teller, $! + 0;
    POSIX::_exit(127);
  }
  close $teller;
  my $errno = '';
  while (1) {
    my $read = sysread $trouble, $errno, 16;
    last if defined $read;
  }
  if ($errno ne '') { waitpid $pid, 0; return say_line('failed', $id, $errno) }
  $started{$pid} = $id;
  say_line('started', $id, $pid);
}
sub reap {
  while ((my $pid = waitpid(-1, POSIX::WNOHANG())) > 0) {
    my $id = delete $started{$pid} // next;
    say_line('ended', $id, $? & 127 ? ('signal', $? & 127) : ('code', $? >> 8));
  }
}
my $input = '';
while (1) {
  my $ready = '';
  vec($ready, $_, 1) = 1 for 0, fileno $woken;
  next if select($ready, undef, undef, undef) < 0;
  if (vec($ready, fileno $woken, 1)) { sysread $woken, my $bytes, 4096; reap() }
  next unless vec($ready, 0, 1);
  my $read = sysread STDIN, $input, 65536, length $input;
  next unless defined $read;
  exit 0 if $read == 0;
  while ($input =~ /^([0-9]+)\\n/ and length $input >= $+[0] + $1) {
    my ($from, $size) = ($+[0], $1);
    my @fields = split /\\0/, substr($input, $from, $size), -1;
    pop @fields;
    $input = substr $input, $from + $size;
    start(@fields);
  }
}
`;
