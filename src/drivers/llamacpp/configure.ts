import type { DesiredModel } from '../../model/desired.ts';
import type { TreeFile } from '../../model/node-script.ts';
import type { NodePath } from '../../model/probe.ts';
import type { Text } from '../../model/step.ts';
import { below, tool } from '../../node/paths/node-paths.ts';
import type { RankCommand, RankPlace } from '../contract/driver.ts';
import { sharesOf } from '../contract/memory.ts';
import { llamaPromptCacheMegabytes } from './memory.ts';
import type { LlamaRuntime } from './runtime.ts';

const loopback = '127.0.0.1';

/** More layers than any model has. llama.cpp leaves layers beyond this number on the leader's CPU. */
const everyLayer = 9_999;

/** The type of a drafter that is a complete model of its own. */
const drafterType = 'draft-simple';

/** The lowest level that logs memory allocation. Prompts and answers are logged from level 5 upwards. */
const verbosity = 4;

/** The leader runs the server, every other rank a worker that listens only on its cable to the leader. */
export const configure = (place: RankPlace<LlamaRuntime>): RankCommand =>
  place.rank === 0 ? serverCommand(place) : workerCommand(place);

function serverCommand(place: RankPlace<LlamaRuntime>): RankCommand {
  const { placement, runtime, endpointPort } = place;
  const words = [
    ['--alias', placement.model],
    ['--host', loopback],
    ['--port', String(endpointPort)],
    ...(placement.nodes.length === 1 ? [] : workerWords(place)),
    ['--n-gpu-layers', String(everyLayer)],
    ['--ctx-size', String(placement.contextTokens * placement.parallel)],
    ['--parallel', String(placement.parallel)],
    // `--fit` would change values from the file to make the model fit.
    ['--fit', 'off'],
    ['--cache-ram', String(llamaPromptCacheMegabytes)],
    ['--log-verbosity', String(verbosity)],
    ['--no-ui'],
    placement.args,
  ];
  const program = below(place.runtimeFolder, runtime.server);
  return {
    argv: [
      [program],
      ['--model'],
      modelWord(place.model, place.modelFolder),
      ...drafterWords(place),
      ...words.flat().map(word),
    ],
    env: environment(place),
    files: [],
    joinedPort: endpointPort,
    meetPort: 0,
  };
}

/**
 * The drafter and how to use it. Without `--spec-type`, llama-server loads a drafter and never asks it.
 * Its context is always the model's, and all of its layers run on the GPU.
 *
 * @see llama.cpp, issue 25345; seen with build 0.7.0
 */
function drafterWords({ drafter }: RankPlace<LlamaRuntime>): readonly Text[] {
  if (drafter === undefined) return [];
  const words = ['--gpu-layers-draft', String(everyLayer), '--spec-type', drafterType].map(word);
  return [['--model-draft'], modelWord(drafter.model, drafter.folder), ...words];
}

/** The workers in rank order. Shares are in llama.cpp's device order, in which the server's own GPU is last. */
function workerWords({ placement, between, port }: RankPlace<LlamaRuntime>): readonly (readonly string[])[] {
  const addresses = placement.nodes.flatMap((_, rank) =>
    rank === 0 ? [] : `${between[rank]?.[0] ?? loopback}:${port}`,
  );
  const shares = sharesOf(placement, placement.nodes.length);
  return [
    ['--rpc', addresses.join(',')],
    ['--split-mode', 'layer'],
    ['--tensor-split', [...shares.slice(1), ...shares.slice(0, 1)].join(',')],
  ];
}

function workerCommand(place: RankPlace<LlamaRuntime>): RankCommand {
  const { runtime, between, rank, port } = place;
  // Without a cable to the leader, nothing can reach this worker.
  const address = between[rank]?.[0] ?? loopback;
  const program: Text = [below(place.runtimeFolder, runtime.worker)];
  const command: RankCommand = {
    argv: [program, ...['--host', address, '--port', String(port)].map(word)],
    env: environment(place),
    files: [],
    joinedPort: port,
    meetPort: 0,
  };
  return runtime.cache === 'verified' ? withCache(command, place) : command;
}

/** The worker's command with a cache, which is verified before the start. */
function withCache(command: RankCommand, { model, filesFolder, nativeProgram }: RankPlace<LlamaRuntime>): RankCommand {
  const folder = below(filesFolder, cacheFolderName);
  const verify: readonly Text[] = [
    [tool.perl],
    [below(filesFolder, cacheProgramName)],
    [folder],
    // A model without a digest is never configured.
    [model.digest ?? ''],
  ];
  return {
    ...command,
    argv: [...verify, ...command.argv, ['--cache']],
    env: { ...command.env, LLAMA_CACHE: folder },
    files: [
      { kind: 'file', name: cacheProgramName, content: [cacheProgram] },
      { kind: 'folder', name: cacheFolderName, keeps: true },
      ...(nativeProgram === undefined
        ? []
        : [{ kind: 'file', name: packedProbeName, content: [nativeProgram], isOptional: true } as const]),
    ],
  };
}

const word = (text: string): Text => [text];

/** The model argument. A model without a file is refused earlier; if not, its folder makes llama.cpp fail. */
function modelWord({ files }: Pick<DesiredModel, 'files'>, folder: NodePath): Text {
  const file = modelFile(files);
  return [file.kind === 'file' ? below(folder, file.path) : folder];
}

/** With `transport: tcp`, workers must not try RDMA. */
const environment = ({ placement }: RankPlace<LlamaRuntime>): RankCommand['env'] => ({
  ...placement.env,
  ...(placement.transport === 'tcp' ? { GGML_RPC_NO_RDMA: '1' } : {}),
});

/** The file for llama-server, or the reason why there is none. */
type ModelFile =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly paths: readonly string[] };

const isWeights = (path: string): boolean => path.endsWith('.gguf') && !/(^|\/)mmproj[^/]*$/i.test(path);
const laterPart = /-(?!00001)\d{5}-of-\d{5}\.gguf$/;

/** Finds the GGUF among a model's files, or the first of several parts; llama.cpp finds the others next to it. */
export function modelFile(files: readonly Pick<TreeFile, 'path'>[]): ModelFile {
  const paths = files.map(({ path }) => path).filter((path) => isWeights(path) && !laterPart.test(path));
  const [path, ...others] = paths;
  if (path === undefined) return { kind: 'none' };
  return others.length === 0 ? { kind: 'file', path } : { kind: 'several', paths };
}

const cacheProgramName = 'verify-cache.pl';

const cacheFolderName = 'cache';

/** The native probe as Base64, next to {@link cacheProgram}. */
const packedProbeName = 'meshwright-probe.base64';

/**
 * A program for macOS's perl that starts a worker with a cache. It compares every cached tensor with its name, the
 * FNV-1a of its bytes, deletes and reports changed tensors, and becomes the worker. Without this check, a worker would
 * silently load a changed tensor and give wrong answers.
 *
 * `verify-cache.pl FOLDER MODEL ARGUMENT...`: tensors of a model with a different digest are deleted unread. Eight
 * processes share the work, because this hash must read byte by byte. They report every 256 MiB, because a start may
 * take as long as its log grows.
 *
 * The native probe is much faster than perl. It only ever confirms that a tensor is right; whatever else it prints, perl
 * decides. It is unpacked where the rank's account may write, and removed before the worker runs.
 *
 * @see http://www.isthe.com/chongo/tech/comp/fnv/ for the start value and the multiplier of the hash
 * @see `rpc_server::set_tensor` and `get_cached_file` in ggml/src/ggml-rpc/ggml-rpc.cpp: the cache is LLAMA_CACHE/rpc
 */
export const cacheProgram = `# Verifies the cached tensors of a llama.cpp worker, then becomes it. Written by meshwright.
use strict;
use warnings;
$| = 1;

my ($folder, $model) = splice @ARGV, 0, 2;
my $cache = "$folder/rpc";

sub hash_of {
  my ($path) = @_;
  open my $file, '<:raw', $path or return 'unreadable';
  my ($hash, $seen) = (0, 0);
  {
    use integer;
    $hash = (3421674724 << 32 | 2216829733);
    while (read $file, my $bytes, 65536) {
      $hash = ($hash ^ $_) * (256 << 32 | 435) for unpack 'C*', $bytes;
      print "meshwright: verifying cached tensor $_[1]\\n" unless ++$seen % 4096;
    }
  }
  return sprintf '%016x', $hash;
}

sub tensors {
  opendir my $names, $cache or return;
  return sort grep { $_ ne '.' && $_ ne '..' } readdir $names;
}

my $packed = $0 =~ s{[^/]*\\z}{}r . '${packedProbeName}';
my $probe = "$folder/probe";

sub unpack_probe {
  open my $file, '<', $packed or return 0;
  require MIME::Base64;
  my $bytes = MIME::Base64::decode_base64(do { local $/; <$file> });
  unlink $probe;
  open my $out, '>:raw', $probe or return 0;
  return print({$out} $bytes) && close($out) && chmod 0700, $probe;
}

my $has_probe = eval { unpack_probe() };

sub is_confirmed {
  my ($path, $name) = @_;
  no warnings 'exec';
  return 0 unless $has_probe && open my $out, '-|', $probe, 'fnv', $path;
  my $printed = do { local $/; <$out> } // '';
  return close($out) && $printed eq "$name  $path\\n";
}

my $mark = "$folder/model";
my $was = '';
if (open my $file, '<', $mark) { $was = <$file> // '' }
if ($was ne $model) {
  unlink "$cache/$_" for tensors();
  open my $file, '>', $mark or die "meshwright: $mark: $!\\n";
  print $file $model;
  close $file or die "meshwright: $mark: $!\\n";
}

my @names = tensors();
my $share = 8;
for my $number (0 .. $share - 1) {
  my $child = fork;
  die "meshwright: fork: $!\\n" unless defined $child;
  next if $child;
  for my $index (grep { $_ % $share == $number } 0 .. $#names) {
    my $name = $names[$index];
    if (is_confirmed("$cache/$name", $name) || hash_of("$cache/$name", $name) eq $name) {
      print "meshwright: cached tensor $name is what its name says\\n";
      next;
    }
    print "meshwright: cached tensor $name was not what its name says\\n";
    unlink "$cache/$name" or exit 1;
  }
  exit 0;
}
my $failed = 0;
while (wait != -1) { $failed = 1 if $? }
die "meshwright: the cached tensors could not be verified\\n" if $failed;
unlink $probe;
exec { $ARGV[0] } @ARGV or die "meshwright: $ARGV[0]: $!\\n";
`;
