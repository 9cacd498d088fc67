/** One file of an archive. */
export interface ArchiveFile {
  /** Relative, at most 99 characters. */
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer;
}

const block = 512;

/** Octal digits, padded to the field's width, with a zero byte at the end. */
const octal = (number: number, width: number): string => `${number.toString(8).padStart(width - 1, '0')}\0`;

/** The header of one file in the form of POSIX.1-1988 (ustar), owned by root, with time 0. */
function header({ path, mode, content }: ArchiveFile): Buffer {
  const bytes = Buffer.alloc(block);
  const put = (text: string, at: number): void => {
    bytes.write(text, at, 'latin1');
  };
  put(path, 0);
  put(octal(mode, 8), 100);
  put(octal(0, 8) + octal(0, 8) + octal(content.length, 12) + octal(0, 12), 108);
  put(' '.repeat(8), 148);
  put('0', 156);
  put('ustar\x0000', 257);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}

const padding = (length: number): Buffer => Buffer.alloc((block - (length % block)) % block);

/** An uncompressed archive of these files. */
export const tar = (files: readonly ArchiveFile[]): Buffer =>
  Buffer.concat([
    ...files.flatMap((file) => [header(file), file.content, padding(file.content.length)]),
    Buffer.alloc(2 * block),
  ]);
