import { type Fetch, fetchFiles } from './fetch.ts';

export const copyFolder: Fetch<'node'> = (work, { folder, files }, { needs }) =>
  fetchFiles(work, files, { kind: 'folder', folder: { kind: 'node-path', path: folder } }, { needs });
