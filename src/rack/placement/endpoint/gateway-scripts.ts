import type { ScriptArgs } from '../../../model/node-script.ts';
import { doormanEndSeconds, serviceValues } from '../../../node/launchd-service.ts';
import { refusalValues } from '../../../node/owner-word.ts';
import {
  closedFile,
  closedFolder,
  countsFolder,
  doormanConfig,
  doormanFolder,
  doormanKeysFile,
  doormanLabel,
  doormanLog,
  doormanPlist,
  doormanStatusStart,
  doormanStatusUrl,
  doormenFolder,
} from '../../../node/paths/own-paths.ts';
import { fileSeal } from '../../../node/put-file.ts';
import { sh } from './scripts.generated.ts';

const ofService = (port: number) => serviceValues(doormanLabel(port), doormanEndSeconds);

export function removeDoorman({ port, closed, keyed }: ScriptArgs['remove-doorman']): string {
  const put = [
    doormanPlist(port),
    doormanConfig(port),
    ...keyed.map((placement) => doormanKeysFile(port, placement)),
    ...closed.map((placement) => closedFile(port, placement)),
  ];
  const traces = [doormanPlist(port), ...put.map(fileSeal), doormanFolder(port)];
  return sh.removeDoorman({ ...ofService(port), doormen: doormenFolder }, traces);
}

export const loadDoorman = ({ port, reload, isTaken, left, user }: ScriptArgs['load-doorman']): string =>
  sh.loadDoorman(
    {
      ...ofService(port),
      ...refusalValues,
      plist: doormanPlist(port),
      user,
      reload,
      closed: closedFolder(port),
      counts: countsFolder(port),
      log: doormanLog(port),
      port,
      status_url: isTaken ? '' : doormanStatusUrl(port),
      status_start: doormanStatusStart,
    },
    left.map((placement) => doormanKeysFile(port, placement)).flatMap((file) => [file, fileSeal(file)]),
  );

export const drainDoor = ({ port, placement, waitMs }: ScriptArgs['drain-door']): string =>
  sh.drainDoor({
    label: doormanLabel(port),
    inside_url: `http://127.0.0.1:${port}/doorman/inside/${placement}`,
    looks: Math.ceil(waitMs / 250),
  });

export function openDoor({ port, placement }: ScriptArgs['open-door']): string {
  const file = closedFile(port, placement);
  return sh.openDoor({}, [file, fileSeal(file)]);
}
