import type { DesiredModel } from '../../model/desired.ts';
import { digestOf, shortDigest } from '../../model/digest.ts';
import type { Text } from '../../model/step.ts';
import { below, programFolders, tool } from '../../node/paths/node-paths.ts';
import type { EnvValue, RankCommand, RankPlace } from '../contract/driver.ts';
import { signatures } from '../messages/exo.ts';
import type { ExoRuntime } from './runtime.ts';

/**
 * exo's log messages at its default verbosity that contain no part of a request, as regular expressions of whole
 * messages for perl and JavaScript. Any other message may contain a prompt or an answer: exo prints its commands, its
 * tasks and, in the release, every rendered prompt.
 *
 * @see exo: every `logger` call of src/exo at fd707de3 (1.0.71) and b5375f8c (main)
 */
export const plainRecords: readonly string[] = [
  '=+',
  'Starting EXO \\| pid=[0-9]+',
  'pid = [0-9]+',
  'EXO_(?:LIBP2P|ZENOH)_NAMESPACE: [A-Za-z0-9._-]+',
  'Continuous batching disabled \\(--no-batch\\)',
  'FAST_SYNCH forced (?:ON|OFF)',
  'Running in OFFLINE mode \\W+ no internet checks, local models only',
  'Starting (?:node [A-Za-z0-9-]{16,128}|Master|Worker|Election|API|initialization for rank [0-9]+|distributed init)',
  'Starting (?:prefill|decode)',
  'Stopping (?:Master|Worker)',
  'Node elected Master(?: - (?:promoting|maintaining) self)?',
  'Node [A-Za-z0-9-]{16,128} elected master(?: - demoting self)?',
  'Cancelling other campaign',
  'Waiting for other campaign to finish',
  'Election shutdown',
  'Resetting API State',
  'Unpausing API',
  '(?:Uns|S)ubscribed to [a-z_]+',
  'Nack attempt [0-9]+: Requesting Event Log from [0-9]+',
  'Manually removing node [A-Za-z0-9-]{16,128} due to inactivity',
  'Error in command processor',
  'Worker plan: [A-Za-z]+',
  'Instance [0-9a-f-]{36} exceeded [0-9]+ retries, requesting deletion',
  '(?:DownloadCoordinator: )?Model [A-Za-z0-9][A-Za-z0-9._/-]{0,127} found at (?:/(?:Application Support|[A-Za-z0-9._-]{1,64})){1,20}',
  'Fast synch flag: [01]',
  '(?:hello|bye) from the runner',
  'runner (?:created|connecting|connected|loading|loaded|warming up|ready|running|shutting down)',
  'runner initialized in [0-9.]+ seconds',
  "Checking runner's status",
  'Runner was found to be alive, (?:attempting to join|stopping) process',
  'Runner (?:terminated|exited) with (?:exit code |exitcode=|signal=)(?:None|-?[0-9]+)(?: \\([A-Z][a-z]+(?: [a-z]+)*: [0-9]+\\))?',
  'Runner communication closed unexpectedly',
  'Runner supervisor shutting down',
  "(?:Runner|Child) process didn't (?:shutdown succesfully|shut down successfully), terminating",
  "(?:Runner|Child) process didn't respond to SIGTERM, killing",
  'Runner process (?:succesfully terminated|successfully terminated: (?:None|-?[0-9]+))',
  'Group size: [0-9]+, group rank: [0-9]+',
  'Rank [0-9]+ mlx distributed initialization complete',
  'rank [0-9]+ MLX_JACCL_COORDINATOR: [0-9a-fA-F.:]+',
  'Time taken to (?:shard and )?load model: [0-9.]+s',
  'Generating warmup tokens',
  'warmed up by generating [0-9]+ tokens',
  'KV cache (?:added|updated \\(index [0-9]+\\)): [0-9]+ tokens',
  'EXO terminated due to unhandled exception',
  'EXO Shutdown complete',
];

const quietProgramName = 'quiet.pl';

/** Keeps only the words of the signature in a failure line, and nothing between them. */
const failureForms = signatures.map(({ pattern }) => pattern.source.replaceAll('.*', '(.*)'));

/**
 * A program for macOS's perl that starts exo. It becomes exo and leaves a reader process behind, which filters the
 * output of exo and its runners. exo has no setting for this: it prints commands, tasks and prompts by default, and
 * `-q` prints more. So only known output passes: the listed records and, from other lines, the words that identify a
 * failure. Before exo has a node, all output passes: there can be no request yet, and argparse and Python explain
 * failed starts there.
 *
 * `quiet.pl HOME ARGUMENT...`: exo is the process that launchd started, so signals and exit status are its own. The
 * reader has its own group, ignores all signals but KILL, and exits when no writer is left. It also cleans the home
 * folder. It unlinks exo's log and the runners' logs once they are open, and deletes the remaining files at the end.
 * The event log is kept while exo runs, because exo opens it by name again and again.
 *
 * @see exo: shared/logging.py, utils/disk_event_log.py; loguru, `FileSink`: reopens its file only to rotate it, which
 * exo allows once, at the first record
 */
export const quietProgram = `# Starts exo and keeps prompts and answers out of its log. Written by meshwright.
use strict;
use warnings;

# A home that is created later is a different folder.
my $is_home = opendir my $home, shift @ARGV;
pipe my $said, my $out or die "meshwright: pipe: $!\\n";
my $reader = fork;
die "meshwright: fork: $!\\n" unless defined $reader;
if ($reader) {
  close $said;
  open STDOUT, '>&', $out or die "meshwright: $!\\n";
  open STDERR, '>&', $out or die "meshwright: $!\\n";
  no warnings 'exec';
  exec { $ARGV[0] } @ARGV or die "meshwright: $ARGV[0]: $!\\n";
}
close $out;
$| = 1;
$SIG{$_} = 'IGNORE' for qw(HUP INT QUIT TERM PIPE);
setpgrp;
$is_home &&= chdir $home;

my $plain = join '|', split /\\n/, <<'END';
${plainRecords.join('\n')}
END
my @failures = split /\\n/, <<'END';
${failureForms.join('\n')}
END

sub failure_in {
  my ($text) = @_;
  for my $form (@failures) {
    next unless $text =~ /$form/;
    my ($from, $words) = ($-[0], substr $text, $-[0], $+[0] - $-[0]);
    substr $words, $-[1] - $from, $+[1] - $-[1], ' ... ' if defined $1;
    return $words;
  }
  return undef;
}

my $is_open = 1;

sub kept_of {
  my ($line) = @_;
  my ($head, $level, $text) =
    $line =~ /^(\\[ [0-9][0-9:. -]*(?:[AP]M)? \\| ([A-Z]+) *(?:\\| [\\w.<>]+:[\\w<>]+:[0-9]+ )?\\] )(.*)$/;
  return $is_open ? $line : failure_in($line) unless defined $head;
  my $is_plain = $text =~ /^(?:$plain)$/;
  $is_open = 0 if !$is_plain || $text =~ /^Starting node /;
  return $line if $is_plain;
  # A request stands in records of no consequence; what runners print themselves comes in one as well, and what the
  # network layer reports about connections.
  return undef if $level !~ /^(?:WARNING|ERROR|CRITICAL)$/ && $text !~ /^(?:Runner std(?:out|err)|RUST): /;
  my $words = failure_in($text);
  my ($runner) = $text =~ /^(Runner [0-9a-f-]{36} crashed with critical exception) /;
  return $head . ($words // "$runner (in words that are not kept)") if defined $words || defined $runner;
  return undef;
}

sub names_in {
  my ($folder) = @_;
  opendir my $names, $folder or return;
  return map { "$folder/$_" } grep { !/^\\.\\.?$/ } readdir $names;
}

my $logs = '.exo/exo_log';

# loguru has opened its file for good once the empty one of before was packed.
sub unname {
  return unless $is_home;
  my @logs = names_in($logs);
  unlink "$logs/exo.log" if grep { /\\.zst$/ } @logs and !grep { m{/exo\\.[^/]+\\.log$} } @logs;
  unlink names_in("$logs/runner_log");
}

while (defined(my $line = <$said>)) {
  unname();
  $line =~ s/\\e\\[[0-9;]*m//g;
  $line =~ s/[\\r\\n]+$//;
  my $kept = kept_of($line);
  print "$kept\\n" if defined $kept;
}
if ($is_home) {
  unlink names_in($_) for "$logs/runner_log", $logs, map { $_, names_in($_) } '.exo/event_log';
}
`;

type Place = RankPlace<ExoRuntime>;

const homeName = 'home';

/**
 * exo sets its runners' `MLX_METAL_FAST_SYNCH` from this variable. Unless it is false, the value is 1, which may hang
 * the GPU (mlx issue 3142). @see exo: worker/runner/bootstrap.py
 */
export const fastSynch = 'EXO_FAST_SYNCH';

/** The folder where exo looks for a model: its repository with `--` for `/`. @see exo: download/download_utils.py */
const modelFolderName = ({ repository = '' }: DesiredModel): string => repository.replaceAll('/', '--');

/**
 * The command line, environment and files of one exo. All ranks of one start form a separate mesh: their namespace and
 * ports are unique, so exos of other placements, racks and earlier starts cannot join. The home folder is empty at each
 * start, because an old event log keeps nodes from catching up (issue 1824).
 *
 * @see exo: main.py, shared/constants.py at fd707de3 (1.0.71) and b5375f8c (main)
 */
export function configure(place: Place): RankCommand {
  const { placement, runtime, model, rank, endpointPort, port, filesFolder } = place;
  const first: readonly Text[] = rank === 0 ? [['--force-master']] : [];
  const dialect = runtime.dialect === 'main' ? mainDialect(place) : releaseDialect(place);
  return {
    argv: [
      [tool.perl],
      [below(filesFolder, quietProgramName)],
      [below(filesFolder, homeName)],
      [below(place.runtimeFolder, runtime.program)],
      ...first,
      ['--api-port'],
      [String(endpointPort)],
      ...dialect.words.map((word): Text => [word]),
      ...placement.args.map((word): Text => [word]),
    ],
    // By default, loguru adds the values of variables to tracebacks, which can include prompts.
    env: { [fastSynch]: 'false', LOGURU_DIAGNOSE: 'false', ...placement.env, ...environment(place), ...dialect.env },
    files: [
      { kind: 'file', name: quietProgramName, content: [quietProgram] },
      { kind: 'folder', name: homeName, keeps: false },
      { kind: 'link', name: modelFolderName(model), to: place.modelFolder },
    ],
    // A follower's API is no sign of joining. The port for its peers is new in each start.
    joinedPort: rank === 0 ? endpointPort : port,
    meetPort: 0,
  };
}

/** exo runs networksetup, system_profiler, ifconfig, sysctl and rdma_ctl by name. */
const path: Text = programFolders.flatMap((folder, index) => (index === 0 ? [folder] : [':', folder]));

const environment = ({ placement, filesFolder }: Place): Readonly<Record<string, EnvValue>> => ({
  EXO_HOME: '.exo',
  EXO_MAX_CONCURRENT_REQUESTS: String(placement.parallel),
  EXO_MODELS_READ_ONLY_DIRS: filesFolder,
  EXO_OFFLINE: 'true',
  HOME: below(filesFolder, homeName),
  PATH: path,
});

/** Unique to this start of this placement. */
const namespace = ({ placement, addresses, generation }: Place): string => {
  const rack = shortDigest(digestOf({ nodes: placement.nodes, addresses }));
  return `meshwright-${placement.name}-${rack}-${generation}`;
};

interface Dialect {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** zenoh over TCP with discovery over UDP; peers are not named. */
const mainDialect = (place: Place): Dialect => ({
  words: ['--namespace', namespace(place), '--zenoh-port', `${place.port}`, '--discovery-port', `${place.port}`],
  env: {},
});

/** libp2p. Peers are also named, because mDNS sometimes finds none (issues 952, 1788 and 1792). */
function releaseDialect(place: Place): Dialect {
  const { between, rank, port } = place;
  const peers = between.flatMap((row, peer) => (peer === rank ? [] : (row[rank] ?? [])));
  const named = peers.length === 0 ? [] : ['--bootstrap-peers', peers.map((ip) => `/ip4/${ip}/tcp/${port}`).join(',')];
  return { words: ['--libp2p-port', `${port}`, ...named], env: { EXO_LIBP2P_NAMESPACE: namespace(place) } };
}
