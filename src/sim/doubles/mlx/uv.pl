#!/usr/bin/perl
# A double of uv that supports only what meshwright uses: a managed Python, a relocatable venv, and the installation of
# exactly the packages in a list with hashes. The double does not use the network. Its Python is the double that is
# appended to this program, and a package is valid if its hash is the SHA-256 of `name==version`, as in the lists that
# the simulator writes.
#
#   uv python install [--no-bin] VERSION
#   uv venv --relocatable [--no-project] --python VERSION|PROGRAM FOLDER
#   uv pip sync [--offline --no-index] [--find-links FOLDER] --require-hashes [--no-build] [--compile-bytecode]
#       --python PROGRAM LIST
#   uv pip compile --generate-hashes --no-build --no-header --no-annotate [--no-emit-package NAME] --python PROGRAM
#       --python-version VERSION --output-file LIST WANTED
#   uv build --wheel --no-sources --python PROGRAM --out-dir FOLDER SOURCE
#
# `compile` knows four mlx-lm releases with one version of each dependency, and also accepts mlx-lm wheels at file://
# URLs. `build` builds a wheel from a folder that contains `setup.py` and `mlx_lm/_version.py`.
#
# UV_PYTHON_INSTALL_MIRROR can name a folder with a Python archive: file://…/RELEASE/cpython-VERSION+RELEASE-….tar.gz.
# The double relies on the names of the wheels in a folder, but each wheel must match one of the hashes in the list. The
# environment must exclude the user's configuration (UV_NO_CONFIG), other Python installations (UV_MANAGED_PYTHON) and
# the cache (UV_NO_CACHE). `$R/.sim/uv` can contain one word: `offline` makes downloads fail, `slow` makes `compile`
# take five seconds, and a platform such as `macosx_15_0_arm64` selects the wheels for this Mac. If a list allows
# several wheels of the same version, the platform determines which wheel is used.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use File::Path qw(make_path);

my $patch = '12';
my @known = qw(mlx mlx-metal mlx-lm numpy transformers tokenizers huggingface-hub safetensors sentencepiece protobuf pyyaml
    jinja2 markupsafe regex tqdm requests filelock packaging);
my %known = map { $_ => 1 } @known;

for my $name (qw(UV_NO_CONFIG UV_MANAGED_PYTHON UV_NO_CACHE)) {
    ($ENV{$name} // '') eq '1' or refuse(2, "$name is not 1");
}
my $pythons = $ENV{UV_PYTHON_INSTALL_DIR} // refuse(2, 'UV_PYTHON_INSTALL_DIR is not set');
$pythons =~ m{^/} or refuse(2, 'UV_PYTHON_INSTALL_DIR is not absolute');
my ($verb, @rest) = @ARGV;
$verb //= '';
if ($verb eq 'python') { install(@rest) }
elsif ($verb eq 'venv') { venv(@rest) }
elsif ($verb eq 'pip' && ($rest[0] // '') eq 'compile') { compile(@rest) }
elsif ($verb eq 'pip') { sync(@rest) }
elsif ($verb eq 'build') { build(@rest) }
elsif ($verb eq '--version') { print "uv 0.11.7 (double)\n" }
else { refuse(2, "unrecognized subcommand '$verb'") }
exit 0;

sub refuse {
    my ($code, $text) = @_;
    print STDERR "error: $text\n";
    exit $code;
}

# Returns the options by name, each with its value or 1, followed by the remaining arguments.
sub read_words {
    my ($takes, @words) = @_;
    my (%option, @plain);
    while (@words) {
        my $word = shift @words;
        if ($word !~ /^-/) { push @plain, $word; next }
        defined $takes->{$word} or refuse(2, "unexpected argument '$word' found");
        $option{$word} = $takes->{$word} eq 'value' ? shift(@words) // refuse(2, "a value is required for '$word'") : 1;
    }
    return (\%option, @plain);
}

sub version_of {
    my ($version) = @_;
    ($version // '') =~ /^3\.(?:9|1[0-4])(?:\.[0-9]{1,2})?$/ or refuse(2, 'No download found for request: ' . ($version // ''));
    my ($minor, $micro) = $version =~ /^(3\.[0-9]+)(?:\.([0-9]+))?$/;
    return ($minor, "$minor." . ($micro // $patch));
}

# Returns the word in `$R/.sim/uv`; empty if the file does not exist.
sub mac_word {
    my ($root) = ($pythons) =~ m{^(.*?)/opt/meshwright/};
    open my $file, '<', ($root // '') . '/.sim/uv' or return '';
    return <$file> // '';
}

# Returns the platform of the wheels for this Mac. Fails if downloads are set to fail.
sub fetched {
    my $usual = 'macosx_26_0_arm64';
    my $word = mac_word();
    refuse(1, 'Failed to fetch: dns error: failed to lookup address information') if $word =~ /^offline/;
    return $word =~ /^(macosx_[0-9]+_[0-9]+_arm64)$/ ? $1 : $usual;
}

# Writes the compiled libraries that the mlx packages contain. @see mlx/setup.py for the files of mlx-metal
sub libraries {
    my ($site, $minor, $name, $text) = @_;
    my $tag = $minor =~ s/\.//r;
    my @paths = $name eq 'mlx' ? ("core.cpython-$tag-darwin.so")
        : $name eq 'mlx_metal' ? map { "lib/$_" } qw(libmlx.dylib libjaccl.dylib mlx.metallib) : ();
    for my $path (map { "$site/mlx/$_" } @paths) {
        make_path($path =~ s{/[^/]+$}{}r);
        open my $file, '>', $path or refuse(2, "$path: $!");
        print {$file} "$path " =~ s{.*/}{}r, $text, "\n";
    }
}

sub install {
    my ($install, @words) = @_;
    ($install // '') eq 'install' or refuse(2, 'unrecognized subcommand');
    my ($option, $version, @more) = read_words({ '--no-bin' => 'flag', '--no-progress' => 'flag' }, @words);
    $option->{'--no-bin'} or refuse(2, 'without --no-bin, uv writes into ~/.local/bin');
    @more and refuse(2, 'only one version is supported');
    my ($minor, $whole) = version_of($version);
    my $folder = "$pythons/cpython-$whole-macos-aarch64-none";
    return if -x "$folder/bin/python$minor";
    if (my ($mirror) = ($ENV{UV_PYTHON_INSTALL_MIRROR} // '') =~ m{^file://(/.*)$}) {
        # This double knows only one release of each Python version, and looks only for that release.
        my $file = "$mirror/20251120/cpython-$whole+20251120-aarch64-apple-darwin-install_only_stripped.tar.gz";
        -f $file or refuse(1, "Failed to download file://$file: No such file or directory (os error 2)");
    } else {
        fetched();
    }
    make_path("$folder/bin", "$folder/lib/python$minor");
    my $program = "$folder/bin/python$minor";
    open my $file, '>', "$program.new" or refuse(2, "$program: $!");
    print {$file} join('', <DATA>);
    close $file or refuse(2, "$program: $!");
    chmod 0755, "$program.new";
    rename "$program.new", $program or refuse(2, "$program: $!");
    # Like uv, creates a symbolic link from a minor version to its newest patch release, with an absolute path.
    symlink $folder, "$pythons/cpython-$minor-macos-aarch64-none";
    print STDERR "Installed Python $whole\n";
}

sub venv {
    my %takes = ('--relocatable' => 'flag', '--no-project' => 'flag', '--python' => 'value');
    my ($option, $folder, @more) = read_words(\%takes, @_);
    defined $folder && !@more or refuse(2, 'one folder');
    my $wanted = $option->{'--python'} // '';
    my ($minor, $whole) = $wanted =~ m{^\Q$pythons\E/cpython-((?:[0-9]+\.){2}[0-9]+)-macos-aarch64-none/bin/python(3\.[0-9]+)$}
        ? ($2, $1) : version_of($wanted);
    my $home = "$pythons/cpython-$whole-macos-aarch64-none/bin";
    -x "$home/python$minor" or refuse(2, "No interpreter found for Python $minor in managed installations");
    -e $folder and refuse(2, "A virtual environment already exists at $folder");
    make_path("$folder/bin", "$folder/lib/python$minor/site-packages");
    symlink "$home/python$minor", "$folder/bin/python" or refuse(2, "$folder/bin/python: $!");
    open my $file, '>', "$folder/pyvenv.cfg" or refuse(2, "$folder: $!");
    my $relocatable = $option->{'--relocatable'} ? "relocatable = true\n" : '';
    print {$file} "home = $home\nimplementation = CPython\nuv = 0.11.7\nversion_info = $whole\n$relocatable";
}

# Returns the lines of a list, with continuation lines joined and comments removed.
sub requirements {
    my ($path) = @_;
    open my $file, '<', $path or refuse(2, "File not found: `$path`");
    my $text = join '', <$file>;
    $text =~ s/\\\r?\n/ /g;
    return grep { /\S/ } map { s/(?:^|\s)#.*//r } split /\n/, $text;
}

sub sync {
    my ($sync, @words) = @_;
    ($sync // '') eq 'sync' or refuse(2, 'unrecognized subcommand');
    my %flags = map { $_ => 'flag' } qw(--require-hashes --no-build --compile-bytecode --no-progress --offline --no-index);
    my ($option, $list, @more) = read_words({ %flags, '--python' => 'value', '--find-links' => 'value' }, @words);
    defined $list && !@more or refuse(2, 'one list');
    $option->{'--require-hashes'} or refuse(2, 'without --require-hashes, packages are not verified');
    my $program = $option->{'--python'} // refuse(2, '--python is missing');
    my ($folder) = $program =~ m{^(.*)/bin/python$} or refuse(2, "$program is not in a venv");
    -e "$folder/pyvenv.cfg" && -x $program or refuse(2, "No virtual environment found at $folder");
    my ($site) = glob "\"$folder\"/lib/python3.*/site-packages";
    my @packages;
    for my $line (requirements($list)) {
        my ($name, $version, $rest) = $line =~ /^\s*([A-Za-z0-9._-]+)==([A-Za-z0-9.+!]+)(?:\s*;[^-]*)?((?:\s+--hash=sha256:[0-9a-f]{64})*)\s*$/
            or refuse(2, "Couldn't parse requirement in `$list`: $line");
        my @hashes = $rest =~ /sha256:([0-9a-f]{64})/g
            or refuse(1, "In `--require-hashes` mode, all requirements must have a hash, but none were provided for: $name==$version");
        $known{lc $name} or refuse(1, "Because $name was not found in the package registry and you require $name==$version");
        my $links = $option->{'--find-links'};
        my $right = $option->{'--no-index'} ? wheel_digest($links // '', $name, $version) : sha256_hex(lc($name) . "==$version");
        # If both the folder and the index have a file for a package, uv prefers the file whose hash is in the list.
        my $isIndexed = grep { $_ eq $right } @hashes;
        $right = wheel_digest($links, $name, $version) if !$isIndexed && defined $links && defined wheel_file($links, $name, $version);
        (grep { $_ eq $right } @hashes) or refuse(1, "Failed to download `$name==$version`: Hash mismatch for `$name==$version`");
        push @packages, [lc($name) =~ s/-/_/gr, $version];
    }
    @packages or refuse(2, 'No requirements');
    my $platform = $option->{'--no-index'} ? 'macosx_26_0_arm64' : fetched();
    my ($python) = $site =~ m{/python(3\.[0-9]+)/};
    for my $one (@packages) {
        my ($name, $version) = @$one;
        my $info = "$site/$name-$version.dist-info";
        make_path($info, "$site/$name");
        open my $file, '>', "$info/METADATA" or refuse(2, "$info: $!");
        print {$file} "Metadata-Version: 2.4\nName: $name\nVersion: $version\n";
        my $wheel = $name eq 'mlx_metal' ? $platform : 'any';
        libraries($site, $python, $name, "$version $wheel");
        # Like every installer, writes a RECORD file that differs between Macs.
        open my $record, '>', "$info/RECORD" or refuse(2, "$info: $!");
        print {$record} "$info/METADATA,,\n";
    }
    print STDERR 'Installed ', scalar(@packages), " packages\n";
}

# Returns the versions that the resolver chooses. @see mlx-lm/setup.py at each release's tag for the dependencies
sub resolved {
    my ($wanted) = @_;
    my %mlx_of = ('0.31.0' => '0.31.0', '0.31.2' => '0.31.1', '0.31.3' => '0.31.2', '0.32.0' => '0.32.2');
    my %others = (jinja2 => '3.1.6', markupsafe => '3.0.3', numpy => '2.3.4', protobuf => '6.33.0', pyyaml => '6.0.3',
        sentencepiece => '0.2.1', transformers => '5.7.0');
    if (my ($wheel) = $wanted =~ m{^mlx-lm @ file://(/\S+\.whl)$}) {
        -f $wheel or refuse(2, "Distribution not found at: file://$wheel");
        my ($version) = $wheel =~ m{/mlx_lm-([0-9A-Za-z.+]+)-py3-none-any\.whl$}
            or refuse(1, "The wheel filename is invalid: $wheel");
        return (%others, 'mlx-lm' => $version, mlx => '0.32.2', 'mlx-metal' => '0.32.2');
    }
    my ($name, $version) = $wanted =~ /^([a-z-]+)==([0-9A-Za-z.]+)$/ or refuse(2, "Couldn't parse requirement: $wanted");
    my $mlx = $name eq 'mlx-lm' ? $mlx_of{$version} : undef;
    if (!defined $mlx) {
        # uv wraps this message over several lines, and does not begin the message with `error:`.
        print STDERR "  x No solution found when resolving dependencies:\n  `-> Because there is no version of $wanted and you",
            " require\n      $wanted, we can conclude that your requirements are\n      unsatisfiable.\n";
        exit 1;
    }
    return (%others, 'mlx-lm' => $version, mlx => $mlx, 'mlx-metal' => $mlx);
}

sub compile {
    my ($compile, @words) = @_;
    my %flags = map { $_ => 'flag' } qw(--generate-hashes --no-build --no-header --no-annotate);
    my %values = map { $_ => 'value' } qw(--python --python-version --output-file --no-emit-package);
    my ($option, $wanted, @more) = read_words({ %flags, %values }, @words);
    defined $wanted && !@more or refuse(2, 'one list of requirements');
    $option->{$_} or refuse(2, "$_ is missing") for qw(--generate-hashes --no-build --no-header --output-file);
    version_of($option->{'--python-version'});
    my $program = $option->{'--python'} // refuse(2, '--python is missing');
    -x $program or refuse(2, "No interpreter found at path `$program`");
    fetched();
    my ($name, @others) = requirements($wanted);
    defined $name && !@others or refuse(2, 'this double resolves a single requirement');
    my %version_of = resolved($name);
    sleep 5 if mac_word() =~ /^slow/;
    my $text = '';
    for my $one (sort keys %version_of) {
        next if $one eq ($option->{'--no-emit-package'} // '');
        # A release has several wheels, but only the first hash belongs to a wheel for macOS.
        my @hashes = map { sha256_hex($_) } ("$one==$version_of{$one}", "$one==$version_of{$one} for Linux");
        $text .= "$one==$version_of{$one} \\\n    --hash=sha256:$hashes[0] \\\n    --hash=sha256:$hashes[1]\n";
    }
    open my $list, '>', $option->{'--output-file'} or refuse(2, "$option->{'--output-file'}: $!");
    print {$list} $text;
    close $list or refuse(2, "$option->{'--output-file'}: $!");
    # Like uv, the double also prints the list.
    print $text;
}

# Returns the name of a package's wheel in a folder; undefined if the folder has no such wheel.
sub wheel_file {
    my ($folder, $name, $version) = @_;
    my $start = lc($name) =~ s/-/_/gr;
    opendir my $all, $folder or refuse(2, "Failed to read `--find-links` directory: $folder");
    my ($file) = sort grep { /^\Q$start-$version\E-.*\.whl$/i } readdir $all;
    return $file;
}

# Returns the digest of a package's wheel in a folder.
sub wheel_digest {
    my ($folder, $name, $version) = @_;
    my $file = wheel_file($folder, $name, $version);
    defined $file or refuse(1, "Because $name was not found in the provided package locations and you require $name==$version");
    open my $wheel, '<:raw', "$folder/$file" or refuse(2, "$folder/$file: $!");
    return sha256_hex(join '', <$wheel>);
}

sub content {
    my ($path) = @_;
    open my $file, '<:raw', $path or return undef;
    return join '', <$file>;
}

# Builds a wheel from a source folder. The contents of the wheel depend only on the source files.
# @see uv build; PEP 427 for the name; mlx-lm/setup.py, which reads mlx_lm/_version.py
sub build {
    my %takes = ('--wheel' => 'flag', '--no-sources' => 'flag', '--python' => 'value', '--out-dir' => 'value');
    my ($option, $source, @more) = read_words(\%takes, @_);
    defined $source && !@more or refuse(2, 'one source');
    $option->{'--wheel'} or refuse(2, 'this double builds only wheels');
    my $folder = $option->{'--out-dir'} // refuse(2, '--out-dir is missing');
    my $program = $option->{'--python'} // refuse(2, '--python is missing');
    -x $program or refuse(2, "No interpreter found at path `$program`");
    -d $source or refuse(2, "Source `$source` does not exist");
    print STDERR "Building wheel...\n";
    # A build also downloads its build requirements from the package index.
    fetched();
    defined content("$source/setup.py") or failed_build($source,
        "$source does not appear to be a Python project, as neither `pyproject.toml` nor `setup.py` are present in the directory");
    my ($version) = (content("$source/mlx_lm/_version.py") // '') =~ /^__version__ = "([0-9A-Za-z.+]+)"/m
        or failed_build($source, "The build backend returned an error");
    make_path($folder);
    my $name = "mlx_lm-$version-py3-none-any.whl";
    open my $wheel, '>:raw', "$folder/$name" or refuse(2, "$folder/$name: $!");
    for my $path ('setup.py', sort map { s{^\Q$source\E/}{}r } glob "\"$source\"/mlx_lm/*.py") {
        print {$wheel} "$path ", sha256_hex(content("$source/$path")), "\n";
    }
    close $wheel or refuse(2, "$folder/$name: $!");
    print STDERR "Successfully built $folder/$name\n";
}

sub failed_build {
    my ($source, $text) = @_;
    print STDERR "  x Failed to build `$source`\n  `-> $text\n";
    exit 2;
}
