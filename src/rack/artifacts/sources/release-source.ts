import { given } from '../../../model/given.ts';
import { buildStep } from '../../build-step.ts';
import { jobAct, transferDeadlineMs } from '../trees/tree-steps.ts';
import type { Fetch } from './fetch.ts';

export const downloadArchive: Fetch<'release'> = ({ property, tree }, bytes, { account, needs }) => {
  const { format, sha256, sizeBytes } = bytes;
  const { from: url, plainHttp } = bytes.release;
  const args = { sha256, sizeBytes, url, ...given({ account, plainHttp }) };
  const act =
    format === undefined
      ? jobAct(tree, { name: 'fetch-source', args: { tree, ...args } })
      : jobAct(tree, { name: 'fetch-archive', args: { tree, archive: format, ...args } });
  return [
    buildStep({
      name: `${property.address}/${format === undefined ? 'fetch-source' : 'fetch'}`,
      class: 'job',
      act,
      towards: [property],
      needs,
      deadlineMs: transferDeadlineMs(sizeBytes),
    }),
  ];
};
