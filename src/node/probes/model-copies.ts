import type { Probe } from '../../model/probe.ts';
import { below, nodePath, pathWord, place, tool } from '../paths/node-paths.ts';
import { sealName } from '../paths/own-paths.ts';
import { quote } from '../quote.ts';
import { recordProbe } from './probe.ts';

/** A model of the file that a node needs and may already have in a folder of other software. */
export interface SoughtModel {
  readonly name: string;
  /** The first 16 digits of its version; absent while unknown. If this version is published, nothing is searched. */
  readonly version?: string;
  /** `organization/name`; empty if the file does not name the repository. */
  readonly repository: string;
  /** SHA-256 of its GGUF files, which Ollama uses as file names. */
  readonly blobs: readonly string[];
  /** Folders that the file names. */
  readonly folders: readonly string[];
}

/** Deeper files are not listed; a model's folders are flatter. */
const mostFolders = 5;

/**
 * Lists the files in one folder once, followed by `|outside` if a link leads out of the folder `$3`. In the cache of
 * Hugging Face, a link may also lead into the folder of files that its repositories share. readlink and stat follow every
 * link. `e` lists files by name, for folders that also have files of other models.
 *
 * @see huggingface_hub#4498: since 1.32, large files are in the folder `blobs` next to the repositories
 */
const listFolder = `v() {
  [ -z "$d" ] || return 0
  d=0
  for x in ${[place.opt, place.dataVolume].map(pathWord).join(' ')} "$R/"; do
    [ -e "$x" ] || continue
    d=$(${pathWord(tool.stat)} -f %d "$x")
    break
  done
  printf 'volume %s\\n' "$d"
}
p() {
  while IFS= read -r x; do printf '|%s\\n' "$x"; done <copied
}
c() {
  [ -d "$2" ] || return 0
  case $C in (*"|$m $1 $2|"*) return ;; esac
  C="$C|$m $1 $2|"
  if [ ! -r "$2" ] || [ ! -x "$2" ]; then
    printf 'unreadable %s\\n' "\${2#"$R"}"
    return
  fi
  v
  f=$(cd -P "$3" && pwd -P)
  k=
  [ "$1" != hub ] || k=$(cd -P "$3/../blobs" 2>/dev/null && pwd -P)
  printf 'copy %s %s %s\\n' "$m" "$1" "\${2#"$R"}"
  (cd "$2" && exec ${pathWord(tool.find)} . -maxdepth ${mostFolders} ! -type d -exec ${pathWord(tool.stat)} -L -f '%d %z %N' '{}' +) >copied 2>/dev/null
  p
  (cd "$2" && exec ${pathWord(tool.find)} . -maxdepth ${mostFolders} ! -type d -exec ${pathWord(tool.readlink)} -f '{}' +) >copied 2>/dev/null
  while IFS= read -r x; do
    case $x in ("$f"/* | "\${k:-$f}"/*) ;; (*)
      printf '|outside\\n'
      break
    ;; esac
  done <copied
}
e() {
  q=$1 w=$2
  shift 2
  [ -e "$w/$1" ] || return 0
  v
  printf 'copy %s %s %s\\n' "$m" "$q" "\${w#"$R"}"
  (cd "$w" && exec ${pathWord(tool.stat)} -L -f '%d %z ./%N' "$@") >copied 2>/dev/null
  p
}`;

/**
 * Searches one user's home: the caches of Hugging Face (mlx-lm, llama.cpp), exo, LM Studio, Ollama and older versions of
 * llama.cpp. `t` reports, once per home, a folder that this account may not enter.
 *
 * @see huggingface_hub: "Understand caching"; exo: EXO_DEFAULT_MODELS_DIR; ollama: server/modelpath.go
 */
const searchHome = `t() {
  case $T in (*"|$1|"*) return ;; esac
  T="$T|$1|"
  for x in "$1" "$1/.cache" "$1/.cache/huggingface" "$1/.cache/huggingface/hub" "$1/.exo" "$1/.exo/models" \\
    "$1/.lmstudio" "$1/.lmstudio/models" "$1/.ollama" "$1/.ollama/models" "$1/.ollama/models/blobs"; do
    [ -d "$x" ] && [ ! -x "$x" ] || continue
    printf 'unreadable %s\\n' "\${x#"$R"}"
    return
  done
}
b() {
  for y in "$1/models--$n/snapshots"/*; do c hub "$y" "$1/models--$n"; done
}
h() {
  t "$1"
  y=$1/.ollama/models/blobs
  set -- "$1"
  for x in $g; do [ ! -f "$y/sha256-$x" ] || set -- "$@" "sha256-$x"; done
  z=$1
  shift
  [ $# -eq 0 ] || e ollama "$y" "$@"
  [ -n "$r" ] || return 0
  b "$z/.cache/huggingface/hub"
  y=$z/.exo/models/$n
  c exo "$y" "$y"
  for y in "$z/.lmstudio/models/$r" "$z/.cache/lm-studio/models/$r"; do c lmstudio "$y" "$y"; done
  y=$z/Library/Caches/llama.cpp
  set --
  for x in "$y/\${r%/*}_\${r#*/}_"*; do [ ! -f "$x" ] || set -- "$@" "\${x##*/}"; done
  [ $# -eq 0 ] || e llamacpp "$y" "$@"
}`;

/**
 * Searches one model, unless its version is published, in all homes and then in the folders that follow: each may be
 * the model's own folder, or contain it in one of the layouts.
 */
const searchModel = `s() {
  m=$1 r=$3 g=$4
  n=\${r%/*}--\${r#*/}
  if [ -n "$2" ] && [ -e ${pathWord(below(place.opt, 'models'))}"/$1/$2/${sealName}" ]; then return; fi
  shift 4
  for j in ${pathWord(place.users)}/*; do
    [ ! -d "$j" ] || h "$j"
  done
  case $HOME in (${pathWord(place.users)}/*) ;; (*) [ ! -d "$HOME" ] || h "$HOME" ;; esac
  for j; do
    if [ -n "$r" ]; then
      b "$j/hub"
      b "$j"
      for y in "$j/$n" "$j/$r"; do c named "$y" "$y"; done
    fi
    c named "$j" "$j"
  done
}`;

const sought = ({ name, version = '', repository, blobs, folders }: SoughtModel): string =>
  [
    's',
    ...[name, version, repository, blobs.join(' ')].map(quote),
    ...folders.map((one) => pathWord(nodePath(one as `/${string}`))),
  ].join(' ');

/**
 * Prints the folders in which these models may already be: `copy MODEL LAYOUT FOLDER` with `DEVICE SIZE PATH` for each
 * file, `volume DEVICE` for the volume of the published models, and `unreadable FOLDER`. If every version is published,
 * the script starts no tool. Runs in the observation's private folder and uses its `copied` file.
 */
const copiesScript = (models: readonly SoughtModel[]): string => `d='' T='' C=''
${listFolder}
${searchHome}
${searchModel}
${models.map(sought).join('\n')}
printf 'end\\n'`;

/** The folders that may have these models. */
export const modelCopiesOf = (models: readonly SoughtModel[]): Probe =>
  recordProbe('model-copies', copiesScript(models), 8_000);

/** The probe to which the fact refers. An observation sends it with the models that the node needs, or not at all. */
export const modelCopies = modelCopiesOf([]);
