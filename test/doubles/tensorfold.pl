# A double of tensorfold: the command `serve` with a model in a folder. It accepts the options for MLX and refuses others,
# and never downloads. The model has the name in --name.
# @see ashhart/TensorFold: README.md at 07e47fd5, and build_parser() in src/tensorfold/cli_args.py at 0b3f3bbb
my %values = map { ("--$_" => 1) } qw(host port name alias context max-tokens temperature top-p top-k min-p
    reasoning-effort thinking-budget drafter drafter-bits mtp-drafts lane-kernels prompt-cache-gib checkpoint-slots
    tail-checkpoint-tokens spill-gib snapshot-dir max-snapshots parallel decode-share prefill-pass pass-cache-gib
    mlx-cache-gib backend);
my %flags = map { ("--$_" => 1) } qw(thinking no-thinking no-drafts no-update-check);
my ($verb, $model, %option) = (shift @ARGV // '', shift @ARGV // '');
$verb eq 'serve' or refuse("argument command: invalid choice: '$verb'");
while (@ARGV) {
    my $name = shift @ARGV;
    $values{$name} || $flags{$name} or refuse("unrecognized arguments: $name");
    $option{$name} = $flags{$name} ? 1 : shift(@ARGV) // refuse("argument $name: expected one argument");
}
($option{$_} // '1') =~ /^\d+$/ or refuse("argument $_: invalid int value") for qw(--port --context);
($option{'--parallel'} // 'auto') =~ /^(?:auto|\d+)$/ or refuse('--parallel takes a number or auto');
-f "$model/config.json" or refuse("$model is neither a directory nor a Hugging Face repo id (owner/name)");
$option{'--no-update-check'} or refuse('this double asks no one for a newer release');
$SIG{TERM} = sub { exit 0 };
my ($host, $port) = ($option{'--host'} // '127.0.0.1', $option{'--port'} // 8080);
my $name = $option{'--name'} // ($model =~ m{([^/]+)$})[0];
print "[tensorfold] serving $name at http://$host:$port/v1\n";
serve(listener("$host:$port"), sub { $_[0] eq $name ? 'Hello' : undef });

sub refuse { print STDERR "tensorfold: $_[0]\n"; exit 2 }
