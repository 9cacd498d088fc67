/** One file of a simulated node. The host writes it below the node's root, by a temporary name and a rename. */
export interface NodeFile {
  /** As a Mac knows it, such as `/usr/bin/sw_vers`; what only the simulator reads lies below `/.sim`. */
  readonly path: string;
  readonly text: string;
  readonly isExecutable: boolean;
}

/** A file that is only read. */
export const dataFile = (path: string, text: string): NodeFile => ({ path, text, isExecutable: false });

/** A file that is run. */
export const toolFile = (path: string, text: string): NodeFile => ({ path, text, isExecutable: true });
