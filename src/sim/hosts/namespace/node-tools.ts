import { type NodeFile, toolFile } from '../../model/node-files.ts';
import { programsPath } from '../../programs-path.ts';
import { baseTools, hostTool } from '../base-tools/all-base-tools.ts';
import { wrapperText } from '../base-tools/wrapper.ts';

/** Real here, so not wrapped. */
const realTools = ['/usr/bin/sudo', '/usr/sbin/visudo'];

const wrapped = baseTools.filter(({ path }) => !realTools.includes(path));

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Programs of this machine that the tools of a node call. */
export const programNames: readonly string[] = [
  ...new Set(wrapped.map(({ host, path }) => host ?? nameOf(path)).filter((name) => name !== 'none')),
];

/**
 * The tools of a node below those that are rendered. They are those of the portable host; what only a place without
 * namespaces has to be told (users, processes, addresses) is true here.
 */
export function nodeTools(user: string): readonly NodeFile[] {
  return wrapped.flatMap((tool) => {
    const name = tool.host === 'none' ? 'sh' : (tool.host ?? nameOf(tool.path));
    if (hostTool(name) === undefined) return [];
    const host = tool.host === 'none' ? '' : `${programsPath}/${name}`;
    const text = wrapperText(tool, { host, isBsd: false, user, programs: programsPath });
    // The folders of PATH hold wrappers alone.
    return [toolFile(tool.path, text.replaceAll('command -p ', `${programsPath}/`))];
  });
}

/** What rendered tools call of the tools around them. */
const called = /\/(?:usr\/)?bin\/(awk|cat|cmp)(?= )/g;

const renderedTools = new WeakMap<NodeFile, NodeFile>();

/**
 * A rendered tool that calls the programs below by themselves: a wrapper judges what a client types, and would be two
 * more processes for every answer.
 */
export function callingPrograms(file: NodeFile): NodeFile {
  if (!file.isExecutable) return file;
  const known = renderedTools.get(file);
  if (known !== undefined) return known;
  const made = { ...file, text: file.text.replaceAll(called, `${programsPath}/$1`) };
  renderedTools.set(file, made);
  return made;
}
