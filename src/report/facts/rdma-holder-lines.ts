import type { RdmaHolders, RdmaObject, RdmaProcess } from '../../model/facts/rdma.ts';

const stateWords: Readonly<Record<RdmaProcess['state'], string>> = {
  runs: '',
  uninterruptible: ', in uninterruptible wait',
  gone: ', no longer there',
};

const countOf = (objects: readonly RdmaObject[], kind: RdmaObject['kind']): number =>
  objects.filter((one) => one.kind === kind).length;

function deviceLine({ device, powerState, objects }: RdmaHolders['devices'][number]): string {
  const inactive = objects.filter(({ isActive }) => !isActive).length;
  const more = [
    ...(inactive === 0 ? [] : [`${inactive} inactive`]),
    ...(powerState === undefined ? [] : [`power state ${powerState}`]),
  ];
  return [`${device} PD ${countOf(objects, 'domain')}, QP ${countOf(objects, 'queue-pair')}`, ...more].join(', ');
}

function processLine({ pid, program, state, devices }: RdmaProcess): string {
  const what = devices.length === 0 ? 'runs' : `has ${devices.join(', ')} open`;
  return `${program} (pid ${pid}) ${what}${stateWords[state]}`;
}

/** One line for each device that has objects, then one for each process. */
export const rdmaHolderLines = ({ devices, processes }: RdmaHolders): readonly string[] => [
  ...devices.filter(({ objects }) => objects.length > 0).map(deviceLine),
  ...processes.map(processLine),
];
