# A double of omlx-cli: the command `serve`. It accepts the options of this command and refuses others. A model's name is
# that of its folder below --model-dir, which must contain config.json.
# @see jundot/omlx: main() in omlx/cli.py, and the discovery that the help of `serve` describes
my %values = map { ("--$_" => 1) } qw(model-dir host port log-level max-concurrent-requests embedding-batch-size
    memory-guard memory-guard-gb paged-ssd-cache-dir paged-ssd-cache-max-size hot-cache-max-size initial-cache-blocks
    mcp-config hf-endpoint ms-endpoint http-proxy https-proxy no-proxy ca-bundle base-path api-key max-image-side-length);
my %flags = map { ("--$_" => 1) } qw(hot-cache-write-through no-cache hf-cache no-hf-cache dashboard-dev);
my ($verb, %option) = (shift @ARGV // '');
$verb eq 'serve' or refuse("argument command: invalid choice: '$verb'");
while (@ARGV) {
    my $name = shift @ARGV;
    $values{$name} || $flags{$name} or refuse("unrecognized arguments: $name");
    $option{$name} = $flags{$name} ? 1 : shift(@ARGV) // refuse("argument $name: expected one argument");
}
my $folder = $option{'--model-dir'} // refuse('this double has no default folder');
my $base = $option{'--base-path'} // refuse('this double has no default base path');
my %models = map { -f "$_/config.json" ? (m{([^/]+)$} => 1) : () } glob('"' . $folder . '"/*');
%models or refuse("no model in $folder");
open my $settings, '>', "$base/settings.json" or refuse("Failed to save settings: $!");
print {$settings} "{}\n";
close $settings;
$SIG{TERM} = sub { exit 0 };
my ($host, $port) = ($option{'--host'} // '127.0.0.1', $option{'--port'} // 8000);
print "Starting server at http://$host:$port\n";
serve(listener("$host:$port"), sub { $models{ $_[0] } ? 'Hello' : undef });

sub refuse { print STDERR "omlx: error: $_[0]\n"; exit 2 }
