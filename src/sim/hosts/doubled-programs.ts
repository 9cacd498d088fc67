import { doubleText } from '../doubles/double-files.ts';
import { nodeDoubleFiles } from '../doubles/node-archive.ts';

/** Where doubles lie in the root of a node of the portable host. */
const doublesFolder = '/.sim/doubles';

/** Lists the programs of a node that were unpacked and replaced by their doubles, one name per line. */
export const doubledPath = '/.sim/doubled';

/** A file of a double, beside which its other files lie. */
interface DoubleFile {
  /** As the program is called in its archive. */
  readonly name: string;
  readonly text: string;
}

/** The programs of an archive that no simulated Mac can run, and that would reach the network of this computer if it could. */
const doubledPrograms = ['node', 'llama-server', 'ggml-rpc-server'] as const;

/** Files for the root of a node: the doubles that take the place of unpacked programs. */
export function doubleFiles(): readonly {
  readonly path: string;
  readonly text: string;
  readonly isExecutable: true;
}[] {
  const text = doubleText('llamacpp/llama.pl');
  const files: readonly DoubleFile[] = [
    ...nodeDoubleFiles('node').map(({ path, content }) => ({ name: path, text: content })),
    { name: 'llama-server', text },
    { name: 'ggml-rpc-server', text },
  ];
  return files.map((file) => ({ path: `${doublesFolder}/${file.name}`, text: file.text, isExecutable: true }));
}

/**
 * sh for a tool that has unpacked an archive into folder `$c`: programs for a processor, of macOS or of Linux, become
 * their doubles before anything of ours seals or starts them. Scripts stay, so that an archive of a double does.
 *
 * @see mach-o/loader.h, mach-o/fat.h, elf.h for the first four bytes
 */
export const putDoubles = `[ ! -d "$R${doublesFolder}" ] || command -p find "$c" -type f \\( ${doubledPrograms.map((name) => `-name ${name}`).join(' -o ')} \\) | while IFS= read -r f; do
  case $(command -p od -An -tx1 -N4 "$f" | command -p tr -d ' ') in (cffaedfe | cafebabe | 7f454c46) ;; (*) continue ;; esac
  n=\${f##*/}
  command -p cp "$R${doublesFolder}/$n" "$f.new" && command -p chmod 755 "$f.new" && command -p mv -f "$f.new" "$f"
  [ ! -e "$R${doublesFolder}/$n.network.cjs" ] || command -p cp "$R${doublesFolder}/$n.network.cjs" "$f.network.cjs"
  printf '%s\\n' "$n" >>"$R${doubledPath}"
done
`;
