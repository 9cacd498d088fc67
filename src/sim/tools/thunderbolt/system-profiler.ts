import { appleJson } from '../../model/apple-json.ts';
import { capture, type Source, unconfirmed } from '../source.ts';
import { lines, type Row, type TableTool } from '../tool.ts';
import { hardwareOverview } from './system-profiler-hardware.ts';
import { thunderboltBuses } from './system-profiler-thunderbolt.ts';

const hardware = capture('sp-hardware-json.m2-air.json', 'OpenTelemetry Java contrib test data');
const thunderbolt = capture('sp-thunderbolt-json.m3ultra.pairA-studio.json', 'github.com/jundot/omlx');

/** The data type before or after `-json`: the order of the two has no meaning. */
const bothOrders = (dataType: string, source: Source, stdout: string): readonly Row[] => [
  { args: [dataType, '-json'], source, stdout },
  { args: ['-json', dataType], source, stdout },
];

/** `system_profiler` with the data types of hardware and Thunderbolt, as JSON. */
export const systemProfiler: TableTool = {
  kind: 'table',
  path: '/usr/sbin/system_profiler',
  rows: (view) => [
    ...bothOrders(
      'SPHardwareDataType',
      hardware,
      `${appleJson({ SPHardwareDataType: [hardwareOverview(view.mac)] })}\n`,
    ),
    ...bothOrders(
      'SPThunderboltDataType',
      thunderbolt,
      `${appleJson({ SPThunderboltDataType: thunderboltBuses(view) })}\n`,
    ),
  ],
  usage: {
    text: lines(
      'Usage: system_profiler [-listDataTypes]',
      '       system_profiler [-xml | -json] [-timeout n] [-detailLevel n] [dataType1 ... dataTypeN]',
    ),
    exitCode: 1,
    source: unconfirmed("system_profiler's usage text and exit code 1"),
  },
};
