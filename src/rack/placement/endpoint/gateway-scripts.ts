import { ownHeader } from '../../../model/gateway.ts';
import type { ScriptArgs } from '../../../model/node-script.ts';
import { gatewayEndSeconds, serviceValues } from '../../../node/launchd-service.ts';
import { refusalValues } from '../../../node/owner-word.ts';
import {
  closedFile,
  closedFolder,
  countsFolder,
  gatewayConfig,
  gatewayFolder,
  gatewayKeysFile,
  gatewayLabel,
  gatewayLog,
  gatewayPlist,
  gatewaySecret,
  gatewayStatusStart,
  gatewayStatusUrl,
  gatewaysFolder,
  replicasFile,
} from '../../../node/paths/own-paths.ts';
import { fileSeal } from '../../../node/put-file.ts';
import { sh } from './scripts.generated.ts';

const ofService = (port: number) => serviceValues(gatewayLabel(port), gatewayEndSeconds);

export function clearGateway({ port, closed, keyed }: ScriptArgs['remove-doorman']): string {
  const put = [
    gatewayPlist(port),
    gatewayConfig(port),
    ...keyed.flatMap((placement) => [gatewayKeysFile(port, placement), replicasFile(port, placement)]),
    ...closed.map((placement) => closedFile(port, placement)),
  ];
  const traces = [gatewayPlist(port), ...put.map(fileSeal), gatewayFolder(port)];
  return sh.removeDoorman({ ...ofService(port), doormen: gatewaysFolder }, traces);
}

export const loadGateway = ({ port, reload, isTaken, left, user }: ScriptArgs['load-doorman']): string =>
  sh.loadDoorman(
    {
      ...ofService(port),
      ...refusalValues,
      plist: gatewayPlist(port),
      user,
      reload,
      closed: closedFolder(port),
      counts: countsFolder(port),
      log: gatewayLog(port),
      own: gatewaySecret(port),
      own_header: ownHeader,
      port,
      status_url: isTaken ? '' : gatewayStatusUrl(port),
      status_start: gatewayStatusStart,
    },
    left
      .flatMap((placement) => [gatewayKeysFile(port, placement), replicasFile(port, placement)])
      .flatMap((file) => [file, fileSeal(file)]),
  );

export const drainGateway = ({ port, placement, waitMs }: ScriptArgs['drain-door']): string =>
  sh.drainDoor({
    label: gatewayLabel(port),
    own: gatewaySecret(port),
    inside_url: `http://127.0.0.1:${port}/doorman/inside/${placement}`,
    looks: Math.ceil(waitMs / 250),
  });

export function openGateway({ port, placement }: ScriptArgs['open-door']): string {
  const file = closedFile(port, placement);
  return sh.openDoor({}, [file, fileSeal(file)]);
}
