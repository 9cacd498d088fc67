import { signatures } from './classify.ts';
import { plainRecords } from './quiet-records.ts';

/** What the file of the program is called beside the other files of a rank. */
export const quietProgramName = 'quiet.pl';

/** What is kept of a line that tells of a failure: the words of its signature, and nothing of what stands between them. */
const failureForms = signatures.map(({ pattern }) => pattern.source.replaceAll('.*', '(.*)'));

/**
 * What exo is started through, in the perl of macOS: it becomes exo, and leaves a process behind which reads what exo and
 * its runners print, and hands on what is known to hold no word of a request. exo has no setting for that: at its usual
 * verbosity it prints commands, tasks and prompts, and `-q` prints more. So nothing passes unless it is known: records of
 * the list, and of other lines the words by which a failure is classified. What comes before exo has a node is handed on
 * as it is, since nobody can have asked anything: that is where argparse and Python say why it does not start.
 *
 * `quiet.pl HOME WORD...`: exo is the process that launchd started, so that signals and the exit status are its own. The
 * reader has a group of its own, takes no signal but KILL, and ends when nobody is left who could print. It also keeps the
 * home: exo's log and those of its runners lose their names once they are open, and what has a name is taken away at
 * the end. The event log has to stay as long as exo reads it: it opens that file by its name again and again.
 *
 * @see exo: shared/logging.py, utils/disk_event_log.py; loguru, `FileSink`: it opens its file again only to rotate it,
 * which exo lets it do once, at the first record
 */
export const quietProgram = `# Starts exo and keeps prompts and answers out of its log. Written by meshwright.
use strict;
use warnings;

# Whoever makes another home later has another folder than this one.
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
  # A request stands in records of no consequence; what runners print themselves comes in one as well.
  return undef if $level !~ /^(?:WARNING|ERROR|CRITICAL)$/ && $text !~ /^Runner std(?:out|err): /;
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
