#!/usr/bin/perl
# A double of CMake that has only the features that meshwright uses for llama.cpp. The double reads option and target
# names from the CMakeLists.txt files in the source. The programs that it builds only look like Mac programs: each
# consists of the Mach-O header of an executable and a digest of the source. When a simulated tar unpacks these
# programs, it replaces them with doubles.
#
#   cmake -S SOURCE -B FOLDER -G "Unix Makefiles" -DNAME=VALUE ...
#   cmake --build FOLDER --target help
#   cmake --build FOLDER --parallel NUMBER --target NAME [NAME ...]
#
# A source file that contains a line `#error TEXT` does not compile. If `$R/.sim/cmake` contains the word `slow`, a
# build takes five seconds. The output matches that of CMake 4 with Apple clang. @see cmake(1); mach-o/loader.h
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use File::Find qw(find);
use File::Path qw(make_path);

my ($root) = $0 =~ m{^(.*)/opt/homebrew/bin/cmake$} or refuse('this double is not in its place');
my $make = "$root/Library/Developer/CommandLineTools/usr/bin/make";
my $isBuild = ($ARGV[0] // '') eq '--build';
$isBuild ? build(@ARGV[1 .. $#ARGV]) : configure(@ARGV);
exit 0;

sub refuse {
    my ($text) = @_;
    print STDERR "CMake Error: $text\n";
    exit 1;
}

sub content {
    my ($path) = @_;
    open my $file, '<:raw', $path or return '';
    return join '', <$file>;
}

sub files {
    my ($folder) = @_;
    my @paths;
    find({ no_chdir => 1, wanted => sub { push @paths, $_ if -f $_ } }, $folder);
    return sort @paths;
}

sub configure {
    my (%value, %option);
    while (@_) {
        my $word = shift;
        if ($word =~ /^-D([A-Z][A-Z0-9_]*)=(.*)$/) { $option{$1} = $2 }
        elsif ($word =~ /^-[SBG]$/ && @_) { $value{$word} = shift }
        else { refuse("Unknown argument $word") }
    }
    my ($source, $folder) = map { $value{$_} // refuse("$_ is missing") } qw(-S -B);
    ($value{-G} // '') eq 'Unix Makefiles' or refuse('this double knows only Unix Makefiles');
    my $lists = content("$source/CMakeLists.txt")
        or refuse("The source directory\n\n    $source\n\n  does not appear to contain CMakeLists.txt.");
    -x $make or refuse('CMake was unable to find a build program corresponding to "Unix Makefiles".  CMAKE_MAKE_PROGRAM is not set.');
    print "-- The C compiler identification is AppleClang 17.0.0.17000603\n";
    my %known = map { $_ => 1 } $lists =~ /^option\(([A-Z][A-Z0-9_]*)/mg;
    my @unused = grep { !$known{$_} && !/^(?:CMAKE_|LLAMA_BUILD_COMMIT$)/ } sort keys %option;
    ($option{BUILD_SHARED_LIBS} // '') eq 'OFF' or refuse('this double builds only static libraries');
    ($option{CMAKE_BUILD_TYPE} // '') eq 'Release' or refuse('this double builds only releases');
    make_path($folder);
    open my $cache, '>', "$folder/CMakeCache.txt" or refuse("$folder: $!");
    print {$cache} "CMAKE_HOME_DIRECTORY:INTERNAL=$source\n", map { "$_:UNINITIALIZED=$option{$_}\n" } sort keys %option;
    close $cache or refuse("$folder: $!");
    print "CMake Warning:\n  Manually-specified variables were not used by the project:\n\n", map { "    $_\n" } @unused if @unused;
    print "-- Configuring done (0.1s)\n-- Build files have been written to: $folder\n";
}

sub build {
    my ($folder, %value, @targets);
    $folder = shift;
    while (@_) {
        my $word = shift;
        if ($word eq '--target') { @targets = splice @_ }
        elsif ($word eq '--parallel' && @_ && $_[0] =~ /^[1-9][0-9]*$/) { $value{$word} = shift }
        else { refuse("Unknown argument $word") }
    }
    my %cache = content("$folder/CMakeCache.txt") =~ /^([A-Z_0-9]+):[A-Z]+=(.*)$/mg;
    my $source = $cache{CMAKE_HOME_DIRECTORY} // refuse("could not load cache");
    my @files = files($source);
    my %known = map { $_ => 1 } map { content($_) =~ /^set\(TARGET ([a-z-]+)\)/mg } grep { m{/CMakeLists\.txt$} } @files;
    if ("@targets" eq 'help') {
        print "The following are some of the valid targets for this Makefile:\n", map { "... $_\n" } 'all', 'clean', sort keys %known;
        return;
    }
    @targets && $value{'--parallel'} or refuse('--parallel or --target is missing');
    for my $target (@targets) {
        next if $known{$target};
        print STDERR "make: *** No rule to make target `$target'.  Stop.\n";
        exit 2;
    }
    my $isSlow = content("$root/.sim/cmake") =~ /^slow/;
    my @code = grep { /\.cpp$/ } @files;
    $| = 1;
    for my $percent (20, 40, 60, 80, 100) {
        sleep 1 if $isSlow;
        my $path = shift @code or next;
        my $name = substr $path, length("$source/");
        printf "[%3d%%] Building CXX object %s.o\n", $percent, $name;
        my ($line, $error) = (0);
        for (split /\n/, content($path)) { $line++; $error //= "$path:$line:2: error: $1" if /^#error (.+)$/ }
        next if !defined $error;
        print STDERR "$error\n1 error generated.\nmake[2]: *** [$name.o] Error 1\nmake: *** [all] Error 2\n";
        exit 2;
    }
    make_path("$folder/bin");
    my $digest = sha256_hex(join "\n", map { sha256_hex(content($_)) } @files);
    # The header contains MH_MAGIC_64, then CPU_TYPE_ARM64 or CPU_TYPE_X86_64, and then MH_EXECUTE.
    my $type = ($cache{CMAKE_OSX_ARCHITECTURES} // 'arm64') eq 'arm64' ? 0x0100000c : 0x01000007;
    for my $target (@targets) {
        open my $program, '>:raw', "$folder/bin/$target" or refuse("$folder/bin/$target: $!");
        print {$program} pack('V4', 0xfeedfacf, $type, 0, 2), "\n$target $digest\n";
        close $program or refuse("$folder/bin/$target: $!");
        chmod 0755, "$folder/bin/$target";
        print "[100%] Built target $target\n";
    }
}
